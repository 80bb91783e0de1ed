import { listOpenUploads, type OpenUpload } from '#shared/storage/object/xml-uploads.ts';
import type { S3Client } from './s3-client.ts';
import { storageError } from '#shared/storage/object/store-error.ts';
import { s3Place } from './s3-object.ts';

const ABORTS_AT_ONCE = 4;

/** Ends the uploads below a folder whose keys hold a text. @returns their number @throws STORAGE_ERROR */
export async function abortUploads(client: S3Client, folder: string, text: string): Promise<number> {
  const { bucket, key } = s3Place(folder);
  const below = key === '' ? '' : `${key}/`;
  const isMeant = (upload: OpenUpload): boolean => upload.key.startsWith(below) && upload.key.includes(text);
  try {
    const found = (await openUploads(client, bucket, below)).filter(isMeant);
    // MinIO lists the uploads of one key, or of the whole bucket.
    const all = found.length > 0 || below === '' ? found : (await openUploads(client, bucket, '')).filter(isMeant);
    for (let at = 0; at < all.length; at += ABORTS_AT_ONCE) {
      await Promise.all(
        all
          .slice(at, at + ABORTS_AT_ONCE)
          .map((one) =>
            client.send({ bucket, key: one.key, method: 'DELETE', query: { uploadId: one.uploadId } }, [404]),
          ),
      );
    }
    return all.length;
  } catch (error) {
    throw storageError(folder, error);
  }
}

/** The uploads of keys that begin with a text. */
export const openUploads = (client: S3Client, bucket: string, prefix: string): Promise<readonly OpenUpload[]> =>
  listOpenUploads((query) => client.send({ bucket, key: '', method: 'GET', query }), prefix);
