import { SkeinError } from '#shared/error.ts';
import { clientUploads, type ClientUploads } from '#shared/storage/s3/client-uploads.ts';
import { storeKind } from '#shared/storage/location.ts';
import type { CatalogContext } from '../context.ts';
import { keepStoreUpload, storeUploadsOf, type ExpiredUpload } from '../store/postgres/upload-store.ts';

/** Uploads in parts that clients send to the store itself. The catalog begins them, and ends those that nobody has completed. */

type Parts = Pick<CatalogContext, 'store' | 'storages'>;

const uploadsAt = async (storages: Parts['storages'], location: string): Promise<ClientUploads> => {
  const credential = await storages.credential(location);
  if (credential.kind === 's3') return clientUploads(credential);
  throw new SkeinError('NOT_SUPPORTED', `not a location in a bucket: ${location}`);
};

/**
 * Begins an upload at the store, and keeps its id there: the upload has a row already, so that it is found when this process dies in between.
 * @returns the store's id @throws STORAGE_ERROR
 */
export async function beginAtStore(
  { store: { db }, storages }: Parts,
  { id, location }: { readonly id: string; readonly location: string },
): Promise<string> {
  const storeUploadId = await (await uploadsAt(storages, location)).begin(location, id);
  await keepStoreUpload(db, id, storeUploadId);
  return storeUploadId;
}

/** Ends what an upload has left at the store. @throws STORAGE_ERROR */
export async function abortAtStore({ store: { db }, storages }: Parts, upload: ExpiredUpload): Promise<void> {
  const { location, path, stageId, storeUploadId, inParts, expiresAt } = upload;
  // Parts of uploads go to no other store than S3 itself.
  if (!inParts || storeKind(location) !== 's3') return;
  const at = `${location}/${path}`;
  const uploads = await uploadsAt(storages, at);
  if (storeUploadId !== null) return uploads.abort(at, storeUploadId);
  // A process that died before it had kept the id: the upload is one of its object, older than this one's end, that nobody knows.
  await uploads.abortUnknown(at, await storeUploadsOf(db, stageId, path), expiresAt.getTime());
}
