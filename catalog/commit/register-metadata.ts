import { SkeinError } from '#shared/error.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import { normalizeLocation } from '#shared/storage/location.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { FileReader } from '#shared/storage/storage.ts';
import { work } from '#shared/thread/work.ts';
import type { CatalogContext } from '../context.ts';
import { readMetadataFile } from '../storage/read-metadata-file.ts';
import { checkLocations, ownFolders, requireBelowRoot } from '../storage/table-location.ts';
import { DOCUMENT_BYTES_HERE } from '../metadata/document-task.ts';
import { COMMIT_THREAD } from './commit-thread.ts';
import { parseTableDocument } from '../metadata/parse-table-document.ts';
import { tableFacts } from '../metadata/relation-facts.ts';
import type { Written } from './run-steps.ts';
import { expiryOf, printMetadata } from './swap-metadata.ts';

export type RegisterInput = {
  readonly file: string;
  readonly roots: readonly string[];
  /** Maximum size of the document, in bytes. */
  readonly bytesMax: number;
  /** Maximum size of the file in bytes, both packed and unpacked. */
  readonly fileBytesMax: number;
};

/** A table as an existing metadata file describes it. */
export type Registered = Pick<Written, 'text' | 'facts' | 'expiresAt' | 'location' | 'folders'>;

/** @throws INVALID_REQUEST; TABLE_DATA_TOO_COMPLEX when the file is larger than it may be; TABLE_METADATA_MISSING */
export async function registerMetadata(storage: FileReader, input: RegisterInput): Promise<Registered> {
  const { file, roots, bytesMax, fileBytesMax } = input;
  requireBelowRoot(file, roots);
  const metadata = parseTableDocument(await readMetadataFile(storage, file, fileBytesMax));
  checkLocations(metadata, undefined, roots);
  return {
    text: printMetadata(metadata, bytesMax),
    facts: tableFacts(metadata),
    expiresAt: expiryOf(metadata, Date.now()),
    location: normalizeLocation(metadata.location),
    folders: ownFolders(metadata),
  };
}

const APART = work<RegisterInput & { readonly credential: StorageCredential }, Registered>(
  COMMIT_THREAD,
  'registerMetadata',
);

/**
 * Reads a metadata file below the roots of a catalog; a large one in a thread.
 * @throws INVALID_REQUEST, TABLE_METADATA_MISSING
 */
export async function readRegistered(
  { config, readers, storages }: Pick<CatalogContext, 'config' | 'readers' | 'storages'>,
  file: string,
  { roots, owner }: { readonly roots: readonly string[]; readonly owner: string },
): Promise<Registered> {
  const bytesMax = config['catalog.metadata_bytes_max'];
  const input = { file, roots, bytesMax };
  requireBelowRoot(file, roots);
  const credential = await storages.credential(file);
  try {
    return await registerMetadata(openStorage(file, credential), {
      ...input,
      fileBytesMax: Math.min(bytesMax, DOCUMENT_BYTES_HERE),
    });
  } catch (error) {
    if (!isTooComplex(error)) throw error;
  }
  try {
    return await readers.run(APART, { ...input, credential, fileBytesMax: bytesMax }, { owner, what: file });
  } catch (error) {
    // For the client this is a bad request, not a fault of stored data.
    throw isTooComplex(error) ? new SkeinError('INVALID_REQUEST', error.message) : error;
  }
}

const isTooComplex = (error: unknown): error is SkeinError =>
  error instanceof SkeinError && error.code === 'TABLE_DATA_TOO_COMPLEX';
