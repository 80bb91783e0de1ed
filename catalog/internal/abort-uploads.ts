import type { AbortUploadsReply } from '#proto/generated/skein/catalog/v1/AbortUploadsReply.ts';
import type { AbortUploadsRequest } from '#proto/generated/skein/catalog/v1/AbortUploadsRequest.ts';
import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../context.ts';

/** A text that stands in the names of one write's files and no other's is about as long as a UUID. */
const TEXT_LENGTH_MIN = 32;

/**
 * Ends uploads that a worker or a coordinator has left in folders of buckets. Finding them takes a right to the whole bucket's uploads, which
 * no key of a table has. @throws INVALID_REQUEST, NOT_SUPPORTED, STORAGE_ERROR
 */
export async function abortUploads(
  { storages }: CatalogContext,
  { folders, text }: AbortUploadsRequest,
): Promise<AbortUploadsReply> {
  if (text.length < TEXT_LENGTH_MIN) throw new SkeinError('INVALID_REQUEST', 'the uploads of one write are named');
  let aborted = 0;
  for (const folder of folders) aborted += await (await storages.open(folder)).abortUploads(folder, text);
  return { aborted };
}
