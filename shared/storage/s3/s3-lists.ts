import { FilesStayed, type StayedFile } from '#shared/storage/files-stayed.ts';
import type { ListedFile } from '#shared/storage/storage.ts';
import { elements, readXml, textAt, type XmlNode } from '#shared/storage/object/read-xml.ts';
import type { S3Client } from './s3-client.ts';
import { unquoted } from '#shared/storage/object/object-store.ts';
import { storageError } from '#shared/storage/object/store-error.ts';
import { s3Error } from './s3-error.ts';
import { s3Location, s3Place } from './s3-object.ts';
import { contentMd5 } from './s3-writes.ts';

/** Lists of objects, and deletions of many at once. */

/** Objects that one request deletes, as S3 allows. */
const REMOVES_AT_ONCE = 1_000;
/** Requests for deletions that run at once. */
const REQUESTS_AT_ONCE = 2;

/** The objects below a folder, page by page, in the order of their keys. @throws STORAGE_ERROR */
export async function* listObjects(
  client: S3Client,
  folder: string,
  pageSize?: number,
): AsyncGenerator<readonly ListedFile[]> {
  const { bucket, key } = s3Place(folder);
  // Without the slash a policy for `key/*` refuses the list, and `key2` would be found, too.
  const prefix = key === '' ? '' : `${key}/`;
  let token: string | undefined;
  do {
    const query = {
      'list-type': '2',
      'encoding-type': 'url',
      prefix,
      ...(pageSize === undefined ? {} : { 'max-keys': String(pageSize) }),
      ...(token === undefined ? {} : { 'continuation-token': token }),
    };
    let page: XmlNode | undefined;
    try {
      const answer = await client.send({ bucket, key: '', method: 'GET', query });
      [page] = elements(readXml(answer.body), 'ListBucketResult');
      if (page === undefined || answer.isCut) throw new Error('the store’s list cannot be read');
    } catch (error) {
      throw storageError(folder, error);
    }
    const isEncoded = textAt(page, 'EncodingType') === 'url';
    const files = elements(page, 'Contents').map((entry) => listed(entry, bucket, isEncoded));
    // Some programs make objects that stand for folders.
    yield files.filter(({ location }) => !location.endsWith('/'));
    token = textAt(page, 'IsTruncated') === 'true' ? textAt(page, 'NextContinuationToken') : undefined;
  } while (token !== undefined);
}

function listed(entry: XmlNode, bucket: string, isEncoded: boolean): ListedFile {
  const key = textAt(entry, 'Key') ?? '';
  return {
    location: s3Location({ bucket, key: isEncoded ? decodeURIComponent(key.replaceAll('+', '%20')) : key }),
    sizeBytes: Number(textAt(entry, 'Size') ?? 0),
    modifiedMs: Date.parse(textAt(entry, 'LastModified') ?? '') || 0,
    etag: unquoted(textAt(entry, 'ETag') ?? ''),
  };
}

/** Deletes objects, as many as possible. @throws FilesStayed */
export async function removeObjects(client: S3Client, locations: readonly string[]): Promise<void> {
  const batches: (readonly string[])[] = [];
  for (const ofBucket of Map.groupBy(locations, (location) => s3Place(location).bucket).values()) {
    for (let at = 0; at < ofBucket.length; at += REMOVES_AT_ONCE)
      batches.push(ofBucket.slice(at, at + REMOVES_AT_ONCE));
  }
  const stayed: StayedFile[] = [];
  for (let at = 0; at < batches.length; at += REQUESTS_AT_ONCE) {
    const results = await Promise.all(
      batches.slice(at, at + REQUESTS_AT_ONCE).map((batch) => removeBatch(client, batch)),
    );
    stayed.push(...results.flat());
  }
  if (stayed.length > 0) throw new FilesStayed(stayed);
}

async function removeBatch(client: S3Client, locations: readonly string[]): Promise<readonly StayedFile[]> {
  // XML cannot spell these characters.
  const [odd = [], plain = []] = [true, false].map((isOdd) =>
    locations.filter((one) => hasControl(s3Place(one).key) === isOdd),
  );
  const stayed: StayedFile[] = [];
  for (const location of odd) {
    await client.send({ ...s3Place(location), method: 'DELETE' }, [404]).catch((error: unknown) => {
      stayed.push({ location, why: storageError(location, error).message });
    });
  }
  return [...stayed, ...(await removePlain(client, plain))];
}

/** One request for the objects of a bucket. @returns those that stayed */
async function removePlain(client: S3Client, locations: readonly string[]): Promise<readonly StayedFile[]> {
  const [first] = locations;
  if (first === undefined) return [];
  const { bucket } = s3Place(first);
  try {
    const keys = locations.map((location) => `<Object><Key>${escapeXml(s3Place(location).key)}</Key></Object>`);
    const body = Buffer.from(`<Delete><Quiet>true</Quiet>${keys.join('')}</Delete>`);
    const headers = { 'content-type': 'application/xml', 'content-md5': contentMd5(body) };
    const answer = await client.send({ bucket, key: '', method: 'POST', query: { delete: '' }, headers, body });
    const [result] = elements(readXml(answer.body), 'DeleteResult');
    // The store answers before it is done, and may tell of a failure in the body.
    if (result === undefined) throw s3Error({ ...answer, status: 500 });
    return elements(result, 'Error').map((error) => ({
      location: s3Location({ bucket, key: textAt(error, 'Key') ?? '' }),
      why: textAt(error, 'Code') ?? 'refused',
    }));
  } catch (error) {
    const why = storageError(first, error).message;
    return locations.map((location) => ({ location, why }));
  }
}

// eslint-disable-next-line no-control-regex -- XML 1.0 has no control characters
const hasControl = (key: string): boolean => /[\u0000-\u001f\ufffe\uffff]/.test(key);

const XML_ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
const escapeXml = (text: string): string => text.replaceAll(/[&<>"']/g, (char) => XML_ESCAPES[char] ?? char);
