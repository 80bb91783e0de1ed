import { elements, readXml, textAt } from '#shared/storage/object/read-xml.ts';
import type { S3Client } from './s3-client.ts';
import { storageError } from '#shared/storage/object/store-error.ts';
import { s3Place } from './s3-object.ts';

/** An upload of parts that was begun and not ended. */
type OpenUpload = { readonly key: string; readonly uploadId: string; readonly begunMs: number };

/** Pages of uploads of a whole bucket that are looked through. */
const PAGES_MAX = 20;
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
export async function openUploads(client: S3Client, bucket: string, prefix: string): Promise<readonly OpenUpload[]> {
  const found: OpenUpload[] = [];
  let marker: Readonly<Record<string, string>> = {};
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const query = { uploads: '', 'encoding-type': 'url', prefix, ...marker };
    const { body } = await client.send({ bucket, key: '', method: 'GET', query });
    const [page] = elements(readXml(body), 'ListMultipartUploadsResult');
    if (page === undefined) throw new Error('the store’s list of uploads cannot be read');
    const isEncoded = textAt(page, 'EncodingType') === 'url';
    for (const upload of elements(page, 'Upload')) {
      const key = textAt(upload, 'Key') ?? '';
      found.push({
        key: isEncoded ? decodeURIComponent(key.replaceAll('+', '%20')) : key,
        uploadId: textAt(upload, 'UploadId') ?? '',
        begunMs: Date.parse(textAt(upload, 'Initiated') ?? '') || 0,
      });
    }
    if (textAt(page, 'IsTruncated') !== 'true') break;
    const next = textAt(page, 'NextKeyMarker') ?? '';
    marker = {
      'key-marker': isEncoded ? decodeURIComponent(next.replaceAll('+', '%20')) : next,
      'upload-id-marker': textAt(page, 'NextUploadIdMarker') ?? '',
    };
  }
  return found;
}
