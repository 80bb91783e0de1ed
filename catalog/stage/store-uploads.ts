import { SkeinError } from '#shared/error.ts';
import { uploadFile, uploadFolder } from '#shared/stage/stage-folders.ts';
import { clientUploads } from '#shared/storage/client-uploads.ts';
import { isInBucket } from '#shared/storage/location.ts';
import type { ClientUploads, UploadTarget } from '#shared/storage/object/client-uploads.ts';
import type { CatalogContext } from '../context.ts';
import { keepLostUpload, keepStoreUpload, storeUploadsOf, type ExpiredUpload } from '../store/postgres/upload-store.ts';

/** Uploads in parts that clients send to the store itself. The catalog begins them, and ends those that nobody has completed. */

type Parts = Pick<CatalogContext, 'store' | 'storages'>;

type Upload = Pick<ExpiredUpload, 'id' | 'location' | 'path'>;

async function uploadsAt(
  storages: Parts['storages'],
  { id, location, path }: Upload,
): Promise<{ uploads: ClientUploads; target: UploadTarget }> {
  const credential = await storages.credential(location);
  if (credential.kind === 'file') throw new SkeinError('NOT_SUPPORTED', `not a location in a bucket: ${location}`);
  const target = { location: `${location}/${path}`, coming: uploadFile(location, id) };
  return { uploads: clientUploads(credential), target };
}

/**
 * Begins an upload at the store, and keeps its id there: the upload has a row already, so that it is found when this process dies in between.
 * @param upload `location` is the stage's @returns the store's id @throws STORAGE_ERROR
 */
export async function beginAtStore({ store: { db }, storages }: Parts, upload: Upload): Promise<string> {
  const { uploads, target } = await uploadsAt(storages, upload);
  const { id: storeUploadId, mayHaveLost } = await uploads.begin(target, upload.id);
  if (mayHaveLost) await keepLostUpload(db, upload.id);
  await keepStoreUpload(db, upload.id, storeUploadId);
  return storeUploadId;
}

/** Ends what an upload has left at the store. @throws STORAGE_ERROR */
export async function abortAtStore({ store: { db }, storages }: Parts, upload: ExpiredUpload): Promise<void> {
  const { id, location, path, stageId, storeUploadId, inParts, expiresAt } = upload;
  if (!isInBucket(location)) return;
  const { uploads, target } = await uploadsAt(storages, upload);
  if (storeUploadId !== null) return uploads.abort(target, storeUploadId);
  // The parts that came through the coordinator are objects, which may have been uploads of its own.
  await (await storages.open(location)).abortUploads(uploadFolder(location, id), id);
  if (!inParts) return;
  // Nobody has kept the id (`keepLostUpload`, or a process that died): it is an upload of its object, older than this one's end, that nobody knows.
  await uploads.abortUnknown(target, await storeUploadsOf(db, stageId, path), expiresAt.getTime());
}
