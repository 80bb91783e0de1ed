import { createHash, randomUUID } from 'node:crypto';
import { FileNotFound, type Checksums } from '#shared/storage/storage.ts';
import type { ObjectFacts, PartUpload } from '#shared/storage/object/object-store.ts';
import { PartsOnTheWay, requireOwn } from '#shared/storage/object/object-writes.ts';
import { ownHeaders } from '#shared/storage/object/own-headers.ts';
import { readXml, textAt } from '#shared/storage/object/read-xml.ts';
import { escapeUri } from '#shared/storage/object/send-request.ts';
import { isMissing, StoreError, storageError } from '#shared/storage/object/store-error.ts';
import type { S3Client } from './s3-client.ts';
import { s3Error } from './s3-error.ts';
import { s3Place, type S3Place } from './s3-object.ts';
import { headObject, S3_OWN } from './s3-reads.ts';

/** Writes of objects of S3: none replaces another but by `copyObject`. */

/** Most parts of an object, as S3 allows. */
const PARTS_MAX = 10_000;
/** Largest object that one request copies, and the parts of a larger one. */
const COPY_BYTES_MAX = 5 * 2 ** 30;
const COPY_PART_BYTES = 2 ** 30;

const EXISTS = 412;

/** Creates an object. @throws STORAGE_ERROR when it exists */
export async function putWhole(
  client: S3Client,
  location: string,
  { body, checksums }: { readonly body: Uint8Array; readonly checksums: Checksums },
): Promise<void> {
  const writeId = randomUUID();
  const digest = Buffer.alloc(4);
  digest.writeUInt32BE(checksums.crc);
  const headers = {
    'if-none-match': '*',
    'x-amz-checksum-crc32': digest.toString('base64'),
    ...ownHeaders(S3_OWN, writeId, checksums),
  };
  const answer = await client.send({ ...s3Place(location), method: 'PUT', headers, body }, [EXISTS]);
  if (answer.status === EXISTS) await requireOwn(headsOf(client), location, { writeId, sent: answer.sent });
}

const headsOf = (client: S3Client): Parameters<typeof requireOwn>[0] => ({
  head: (location) => headObject(client, location),
});

export async function beginUpload(
  client: S3Client,
  location: string,
  checksums: Checksums | null | undefined,
): Promise<MultipartUpload> {
  const writeId = randomUUID();
  const headers = ownHeaders(S3_OWN, writeId, checksums);
  const { body, sent } = await client.send({ ...s3Place(location), method: 'POST', query: { uploads: '' }, headers });
  if (sent > 1) client.lostUpload();
  const uploadId = textAt(readXml(body), 'InitiateMultipartUploadResult', 'UploadId');
  if (uploadId === undefined) throw new Error('the store began no upload');
  return new MultipartUpload(client, location, { uploadId, writeId });
}

/** An object that is written in parts. Until it is complete it is not there. */
class MultipartUpload implements PartUpload {
  readonly #client: S3Client;
  readonly #location: string;
  readonly #place: S3Place;
  readonly #uploadId: string;
  readonly #writeId: string;
  readonly #parts: PartsOnTheWay;

  constructor(client: S3Client, location: string, ids: { readonly uploadId: string; readonly writeId: string }) {
    this.#client = client;
    this.#location = location;
    this.#place = s3Place(location);
    this.#uploadId = ids.uploadId;
    this.#writeId = ids.writeId;
    this.#parts = new PartsOnTheWay(location, PARTS_MAX);
  }

  async add(body: Uint8Array): Promise<void> {
    await this.#parts.start(async (number) => {
      const { headers } = await this.#client.send({ ...this.#place, method: 'PUT', query: this.#part(number), body });
      return headers.etag ?? '';
    });
  }

  /** A part that the store copies. */
  async copy(source: string, range: string): Promise<void> {
    const headers = { 'x-amz-copy-source': source, 'x-amz-copy-source-range': range };
    await this.#parts.start(async (number) => {
      const query = this.#part(number);
      const answer = await this.#client.send({ ...this.#place, method: 'PUT', query, headers });
      const etag = textAt(readXml(answer.body), 'CopyPartResult', 'ETag');
      if (etag === undefined) throw s3Error(answer);
      return etag;
    });
  }

  #part(number: number): Readonly<Record<string, string>> {
    return { partNumber: String(number), uploadId: this.#uploadId };
  }

  /** @param mayReplace another object may have the name */
  async complete(mayReplace = false): Promise<void> {
    const etags = await this.#parts.all();
    const parts = etags.map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    const headers = { 'content-type': 'application/xml', ...(mayReplace ? {} : { 'if-none-match': '*' }) };
    const query = { uploadId: this.#uploadId };
    try {
      const answer = await this.#client.send({ ...this.#place, method: 'POST', query, headers, body }, [EXISTS, 404]);
      if (answer.status === EXISTS || answer.status === 404) {
        const written = { writeId: this.#writeId, sent: answer.sent };
        if (answer.status === 404 && answer.sent === 1) throw s3Error(answer);
        return await requireOwn(headsOf(this.#client), this.#location, written);
      }
      // The store answers before it is done, and tells of a failure in the body.
      if (textAt(readXml(answer.body), 'Error', 'Code') !== undefined) throw s3Error(answer);
    } catch (error) {
      throw storageError(this.#location, error);
    }
  }

  async abort(): Promise<void> {
    await this.#parts.settled();
    await this.#client
      .detached()
      .send({ ...this.#place, method: 'DELETE', query: { uploadId: this.#uploadId } }, [404])
      .catch(() => undefined);
  }
}

/** Copies an object within the store, over another one. @throws FileNotFound, STORAGE_ERROR */
export async function copyObject(client: S3Client, from: string, to: string): Promise<void> {
  const facts = await headObject(client, from).catch((error: unknown) => {
    throw storageError(from, error);
  });
  if (facts === undefined) throw new FileNotFound(from);
  const { bucket, key } = s3Place(from);
  const source = `/${bucket}/${key.split('/').map(escapeUri).join('/')}`;
  const { sizeBytes, etag, checksums } = facts;
  try {
    if (sizeBytes <= COPY_BYTES_MAX) {
      const headers = { 'x-amz-copy-source': source, 'x-amz-copy-source-if-match': `"${etag}"` };
      const answer = await client.send({ ...s3Place(to), method: 'PUT', headers });
      if (textAt(readXml(answer.body), 'CopyObjectResult', 'ETag') === undefined) throw s3Error(answer);
      return;
    }
    await copyInParts(client, to, { source, sizeBytes, checksums });
  } catch (error) {
    throw isMissing(error) || (error instanceof StoreError && error.status === 412)
      ? new FileNotFound(from)
      : storageError(to, error);
  }
}

async function copyInParts(
  client: S3Client,
  to: string,
  { source, sizeBytes, checksums }: Pick<ObjectFacts, 'sizeBytes' | 'checksums'> & { readonly source: string },
): Promise<void> {
  const upload = await beginUpload(client, to, checksums);
  try {
    for (let at = 0; at < sizeBytes; at += COPY_PART_BYTES) {
      await upload.copy(source, `bytes=${at}-${Math.min(at + COPY_PART_BYTES, sizeBytes) - 1}`);
    }
    await upload.complete(true);
  } catch (error) {
    await upload.abort();
    throw error;
  }
}

/** The header by which a store checks the body of a request for many deletions. */
export const contentMd5 = (body: Uint8Array): string => createHash('md5').update(body).digest('base64');
