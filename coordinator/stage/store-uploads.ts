import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { uploadFile } from '#shared/stage/stage-folders.ts';
import { clientUploads } from '#shared/storage/client-uploads.ts';
import type { ClientUploads, StoredPart, UploadTarget } from '#shared/storage/object/client-uploads.ts';
import type { StageUpload } from '../catalog-client/stage-catalog.ts';
import { checkUploadParts, partName, type SentPart } from './upload-parts.ts';

/** Uploads whose parts clients send to the store itself. */

function atStore({ id, stage, path, storeUploadId }: StageUpload): {
  readonly uploads: ClientUploads;
  readonly target: UploadTarget;
  readonly storeUploadId: string;
} {
  const { credential, location } = stage;
  if (credential === null || credential.kind === 'file') throw new Error('an upload at a store has a key of it');
  return {
    uploads: clientUploads(credential),
    target: { location: `${location}/${path}`, coming: uploadFile(location, id) },
    storeUploadId: must(storeUploadId, 'the store has begun it'),
  };
}

/**
 * Makes the parts the file, in the place of an earlier one. It may be sent again.
 * @throws UPLOAD_NOT_FOUND, STORAGE_ERROR; INVALID_REQUEST as `checkParts`
 */
export async function completeAtStore(upload: StageUpload, parts: readonly SentPart[]): Promise<void> {
  const { uploads, target, storeUploadId } = atStore(upload);
  const stored = await uploads.parts(target, storeUploadId);
  if (stored !== undefined) {
    const sent = new Map(parts.map(({ number, etag }) => [number, etag]));
    // A store that tells no ETag holds the part that was sent last.
    const nameOf = ({ number, etag }: StoredPart): string => partName(number, etag ?? sent.get(number) ?? '');
    const byName = new Map(stored.map((part) => [nameOf(part), part]));
    const sizes = new Map([...byName].map(([name, { sizeBytes }]) => [name, sizeBytes]));
    const meant = checkUploadParts(upload, parts, sizes).flatMap((name) => byName.get(name) ?? []);
    if (await uploads.complete(target, storeUploadId, meant)) return;
  }
  // It was completed, and the answer was lost.
  if (await uploads.isWritten(target, upload.id)) return;
  throw new SkeinError('UPLOAD_NOT_FOUND', `no upload ${upload.id} is open: it was completed, aborted, or has expired`);
}

/** Ends an upload at the store. @throws STORAGE_ERROR */
export async function abortAtStore(upload: StageUpload): Promise<void> {
  const { uploads, target, storeUploadId } = atStore(upload);
  await uploads.abort(target, storeUploadId);
}
