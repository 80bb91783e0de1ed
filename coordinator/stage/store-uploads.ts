import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { clientUploads, type ClientUploads } from '#shared/storage/s3/client-uploads.ts';
import type { StageUpload } from '../catalog-client/stage-catalog.ts';
import { checkUploadParts, partName, type SentPart } from './upload-parts.ts';

/** Uploads whose parts clients send to the store itself. */

function atStore({ stage, path, storeUploadId }: StageUpload): {
  readonly uploads: ClientUploads;
  readonly location: string;
  readonly storeUploadId: string;
} {
  const { credential, location } = stage;
  if (credential?.kind !== 's3') throw new Error('an upload at a store has a key of it');
  return {
    uploads: clientUploads(credential),
    location: `${location}/${path}`,
    storeUploadId: must(storeUploadId, 'the store has begun it'),
  };
}

/**
 * Makes the parts the file, in the place of an earlier one. It may be sent again.
 * @throws UPLOAD_NOT_FOUND, STORAGE_ERROR; INVALID_REQUEST as `checkParts`
 */
export async function completeAtStore(upload: StageUpload, parts: readonly SentPart[]): Promise<void> {
  const { uploads, location, storeUploadId } = atStore(upload);
  const stored = await uploads.parts(location, storeUploadId);
  if (stored !== undefined) {
    checkUploadParts(upload, parts, new Map(stored.map((part) => [partName(part.number, part.etag), part.sizeBytes])));
    if (await uploads.complete(location, storeUploadId, parts)) return;
  }
  // It was completed, and the answer was lost.
  if (await uploads.isWritten(location, upload.id)) return;
  throw new SkeinError('UPLOAD_NOT_FOUND', `no upload ${upload.id} is open: it was completed, aborted, or has expired`);
}

/** Ends an upload at the store. @throws STORAGE_ERROR */
export async function abortAtStore(upload: StageUpload): Promise<void> {
  const { uploads, location, storeUploadId } = atStore(upload);
  await uploads.abort(location, storeUploadId);
}
