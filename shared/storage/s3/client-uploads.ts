import { SkeinError } from '#shared/error.ts';
import type { S3Credential } from '#shared/storage/credential.ts';
import type { StorageUse } from '#shared/storage/storage-use.ts';
import { elements, readXml, textAt } from '#shared/storage/object/read-xml.ts';
import { S3Client } from './s3-client.ts';
import { unquoted } from '#shared/storage/object/object-store.ts';
import { ownHeaders } from '#shared/storage/object/own-headers.ts';
import { storageError } from '#shared/storage/object/store-error.ts';
import { s3Error } from './s3-error.ts';
import { s3Place } from './s3-object.ts';
import { headObject, S3_OWN } from './s3-reads.ts';
import { openUploads } from './s3-uploads.ts';

/**
 * Uploads whose parts somebody else sends to the store by signed addresses. The object is not there until the upload is completed, and then it
 * replaces another one of its name at once.
 */

/** A part that the store has. */
type StoredPart = { readonly number: number; readonly etag: string; readonly sizeBytes: number };
type SentPart = Pick<StoredPart, 'number' | 'etag'>;

/** A part was replaced meanwhile, or one that is not the last is too small for the store. */
const REFUSED_PARTS: ReadonlySet<string> = new Set(['InvalidPart', 'InvalidPartOrder', 'EntityTooSmall']);

/** Pages of a list of parts: of 10,000, where a store gives ten a page. */
const PAGES_MAX = 1_000;

export type ClientUploads = {
  /** Begins an upload. @param writeId the object will have it @returns the store's id of the upload @throws STORAGE_ERROR */
  begin(location: string, writeId: string): Promise<string>;
  /** The parts that have come, by their numbers; undefined when the upload has ended. @throws STORAGE_ERROR */
  parts(location: string, uploadId: string): Promise<readonly StoredPart[] | undefined>;
  /** Makes the parts the object. @returns false when the upload has ended @throws STORAGE_ERROR, INVALID_REQUEST */
  complete(location: string, uploadId: string, parts: readonly SentPart[]): Promise<boolean>;
  /** Whether the object was written by this upload. @throws STORAGE_ERROR */
  isWritten(location: string, writeId: string): Promise<boolean>;
  /** Ends an upload; one that has ended is no error. @throws STORAGE_ERROR */
  abort(location: string, uploadId: string): Promise<void>;
  /** Ends the uploads of one object that were begun before a time, but for the known ones. @throws STORAGE_ERROR */
  abortUnknown(location: string, known: ReadonlySet<string>, beforeMs: number): Promise<void>;
};

export function clientUploads(credential: S3Credential, use?: StorageUse): ClientUploads {
  const client = new S3Client(credential, use);
  const at = async <T>(location: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw storageError(location, error);
    }
  };
  const abort = async (location: string, uploadId: string): Promise<void> => {
    await client.send({ ...s3Place(location), method: 'DELETE', query: { uploadId } }, [404]);
  };
  return {
    begin: (location, writeId) => at(location, () => begin(client, location, writeId)),
    parts: (location, uploadId) => at(location, () => listParts(client, location, uploadId)),
    complete: (location, uploadId, parts) => at(location, () => complete(client, location, { uploadId, parts })),
    isWritten: (location, writeId) =>
      at(location, async () => (await headObject(client, location))?.writeId === writeId),
    abort: (location, uploadId) => at(location, () => abort(location, uploadId)),
    abortUnknown: (location, known, beforeMs) =>
      at(location, async () => {
        const { bucket, key } = s3Place(location);
        for (const one of await openUploads(client, bucket, key)) {
          if (one.key === key && !known.has(one.uploadId) && one.begunMs < beforeMs)
            await abort(location, one.uploadId);
        }
      }),
  };
}

async function begin(client: S3Client, location: string, writeId: string): Promise<string> {
  const headers = { ...ownHeaders(S3_OWN, writeId, null), 'content-type': 'application/octet-stream' };
  const { body } = await client.send({ ...s3Place(location), method: 'POST', query: { uploads: '' }, headers });
  const uploadId = textAt(readXml(body), 'InitiateMultipartUploadResult', 'UploadId');
  if (uploadId === undefined) throw new Error('the store began no upload');
  return uploadId;
}

async function listParts(
  client: S3Client,
  location: string,
  uploadId: string,
): Promise<readonly StoredPart[] | undefined> {
  const parts: StoredPart[] = [];
  let after = '0';
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const query = { uploadId, 'part-number-marker': after };
    const answer = await client.send({ ...s3Place(location), method: 'GET', query }, [404]);
    if (answer.status === 404) return undefined;
    const [page] = elements(readXml(answer.body), 'ListPartsResult');
    if (page === undefined) throw new Error('the store’s list of parts cannot be read');
    for (const part of elements(page, 'Part')) {
      parts.push({
        number: Number(textAt(part, 'PartNumber')),
        etag: unquoted(textAt(part, 'ETag') ?? ''),
        sizeBytes: Number(textAt(part, 'Size')),
      });
    }
    if (textAt(page, 'IsTruncated') !== 'true') return parts;
    after = textAt(page, 'NextPartNumberMarker') ?? String(parts.at(-1)?.number ?? 0);
  }
  throw new Error('the store’s list of parts has no end');
}

async function complete(
  client: S3Client,
  location: string,
  { uploadId, parts }: { readonly uploadId: string; readonly parts: readonly SentPart[] },
): Promise<boolean> {
  const list = parts.map(({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>"${etag}"</ETag></Part>`);
  const body = Buffer.from(`<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`);
  const headers = { 'content-type': 'application/xml' };
  const request = { ...s3Place(location), method: 'POST', query: { uploadId }, headers, body } as const;
  const answer = await client.send(request, [400, 404]);
  if (answer.status === 404) return false;
  // The store answers before it is done, and tells of a failure in the body.
  if (answer.status === 200 && textAt(readXml(answer.body), 'Error', 'Code') === undefined) return true;
  const error = s3Error(answer);
  throw REFUSED_PARTS.has(error.code)
    ? new SkeinError('INVALID_REQUEST', `the store refuses the parts: ${error.code}`, { cause: error })
    : error;
}
