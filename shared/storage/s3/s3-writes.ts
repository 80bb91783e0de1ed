import { createHash, randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { SkeinError } from '#shared/error.ts';
import { FileNotFound, type Checksums } from '#shared/storage/storage.ts';
import { isMissing, type S3Client } from './s3-client.ts';
import { S3Error, s3Error, storageError } from './s3-error.ts';
import { s3Place, type S3Place } from './s3-object.ts';
import { ownHeaders } from './own-headers.ts';
import { headObject, type ObjectFacts } from './s3-ranges.ts';
import { readXml, textAt } from './read-xml.ts';
import { escapeUri } from './signed-request.ts';

/** Writes of objects: each is whole or not there, and none replaces another but by `copyObject`. */

/** Bytes of a part; what has fewer is written in one request. */
const PART_BYTES = 16 * 2 ** 20;
/** Parts of one object that are on their way. */
const PARTS_AT_ONCE = 3;
/** Most parts of an object, as S3 allows. */
const PARTS_MAX = 10_000;
/** Largest object that one request copies, and the parts of a larger one. */
const COPY_BYTES_MAX = 5 * 2 ** 30;
const COPY_PART_BYTES = 2 ** 30;

const EXISTS = 412;

/** Creates an object. @throws STORAGE_ERROR when it exists */
export async function putObject(
  client: S3Client,
  location: string,
  body: Uint8Array,
  checksums: Checksums = { crc: crc32(body), segments: null },
): Promise<void> {
  const writeId = randomUUID();
  try {
    const digest = Buffer.alloc(4);
    digest.writeUInt32BE(checksums.crc);
    const headers = {
      'if-none-match': '*',
      'x-amz-checksum-crc32': digest.toString('base64'),
      ...ownHeaders(writeId, checksums),
    };
    const answer = await client.send({ ...s3Place(location), method: 'PUT', headers, body }, [EXISTS]);
    if (answer.status === EXISTS) await requireOwn(client, location, { writeId, sent: answer.sent });
  } catch (error) {
    throw storageError(location, error);
  }
}

/** An object that exists may be what an earlier time of sending the request has made, whose answer was lost. */
async function requireOwn(
  client: S3Client,
  location: string,
  { writeId, sent }: { readonly writeId: string; readonly sent: number },
): Promise<void> {
  if (sent > 1 && (await headObject(client, location))?.writeId === writeId) return;
  throw new SkeinError('STORAGE_ERROR', `cannot write ${location}: it exists`);
}

/**
 * Creates an object of bytes that come one after the other. @param checksums of them, when they are known before
 * @returns its size @throws also what the bytes throw
 */
export async function putStream(
  client: S3Client,
  location: string,
  { chunks, checksums }: { readonly chunks: AsyncIterable<Uint8Array>; readonly checksums: Checksums | undefined },
): Promise<number> {
  const parts = partsOf(chunks);
  const first = await parts.next();
  if (first.done === true) {
    await putObject(client, location, new Uint8Array());
    return 0;
  }
  if (first.value.length < PART_BYTES) {
    await putObject(client, location, first.value, checksums);
    return first.value.length;
  }
  const upload = await MultipartUpload.begin(client, location, checksums);
  try {
    let sizeBytes = first.value.length;
    await upload.add(first.value);
    for await (const part of parts) {
      sizeBytes += part.length;
      await upload.add(part);
    }
    await upload.complete();
    return sizeBytes;
  } catch (error) {
    await upload.abort();
    throw error;
  }
}

/** The bytes in parts of one size, the last one smaller. */
async function* partsOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void> {
  let part: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length;) {
      const piece = chunk.subarray(at, at + PART_BYTES - bytes);
      part.push(piece);
      bytes += piece.length;
      at += piece.length;
      if (bytes < PART_BYTES) continue;
      yield Buffer.concat(part);
      part = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield Buffer.concat(part);
}

/** An object that is written in parts. Until it is complete it is not there. */
class MultipartUpload {
  readonly #client: S3Client;
  readonly #location: string;
  readonly #place: S3Place;
  readonly #uploadId: string;
  readonly #writeId: string;
  readonly #etags: string[] = [];
  readonly #running = new Set<Promise<void>>();
  #parts = 0;
  #failure: unknown;

  private constructor(
    client: S3Client,
    location: string,
    ids: { readonly uploadId: string; readonly writeId: string },
  ) {
    this.#client = client;
    this.#location = location;
    this.#place = s3Place(location);
    this.#uploadId = ids.uploadId;
    this.#writeId = ids.writeId;
  }

  static async begin(
    client: S3Client,
    location: string,
    checksums: Checksums | null | undefined,
  ): Promise<MultipartUpload> {
    const writeId = randomUUID();
    try {
      const headers = ownHeaders(writeId, checksums);
      const { body } = await client.send({ ...s3Place(location), method: 'POST', query: { uploads: '' }, headers });
      const uploadId = textAt(readXml(body), 'InitiateMultipartUploadResult', 'UploadId');
      if (uploadId === undefined) throw new Error('the store began no upload');
      return new MultipartUpload(client, location, { uploadId, writeId });
    } catch (error) {
      throw storageError(location, error);
    }
  }

  /** Sends a part; waits until few enough are on their way. @throws STORAGE_ERROR of an earlier part, too */
  async add(body: Uint8Array): Promise<void> {
    await this.#start(
      (query) => this.#client.send({ ...this.#place, method: 'PUT', query, body }),
      ({ headers }) => headers.etag ?? '',
    );
  }

  /** A part that the store copies. */
  async copy(source: string, range: string): Promise<void> {
    const headers = { 'x-amz-copy-source': source, 'x-amz-copy-source-range': range };
    await this.#start(
      (query) => this.#client.send({ ...this.#place, method: 'PUT', query, headers }),
      (answer) => {
        const etag = textAt(readXml(answer.body), 'CopyPartResult', 'ETag');
        if (etag === undefined) throw s3Error(answer);
        return etag;
      },
    );
  }

  async #start<T>(
    send: (query: Readonly<Record<string, string>>) => Promise<T>,
    etagOf: (answer: T) => string,
  ): Promise<void> {
    const number = ++this.#parts;
    if (number > PARTS_MAX) throw new SkeinError('STORAGE_ERROR', `${this.#location} would have too many parts`);
    const query = { partNumber: String(number), uploadId: this.#uploadId };
    const take = async (): Promise<void> => {
      try {
        this.#etags[number - 1] = etagOf(await send(query));
      } catch (error) {
        this.#failure ??= error;
      }
    };
    const running = take().finally(() => this.#running.delete(running));
    this.#running.add(running);
    if (this.#running.size >= PARTS_AT_ONCE) await Promise.race(this.#running);
    this.#check();
  }

  #check(): void {
    if (this.#failure !== undefined) throw storageError(this.#location, this.#failure);
  }

  /** @param mayReplace another object may have the name */
  async complete(mayReplace = false): Promise<void> {
    await Promise.all(this.#running);
    this.#check();
    const parts = this.#etags.map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    const headers = { 'content-type': 'application/xml', ...(mayReplace ? {} : { 'if-none-match': '*' }) };
    const query = { uploadId: this.#uploadId };
    try {
      const answer = await this.#client.send({ ...this.#place, method: 'POST', query, headers, body }, [EXISTS, 404]);
      if (answer.status === EXISTS || answer.status === 404) {
        const written = { writeId: this.#writeId, sent: answer.sent };
        if (answer.status === 404 && answer.sent === 1) throw s3Error(answer);
        return await requireOwn(this.#client, this.#location, written);
      }
      // The store answers before it is done, and tells of a failure in the body.
      if (textAt(readXml(answer.body), 'Error', 'Code') !== undefined) throw s3Error(answer);
    } catch (error) {
      throw storageError(this.#location, error);
    }
  }

  /** Ends the upload; never throws: the journal finds what stays. */
  async abort(): Promise<void> {
    await Promise.all(this.#running);
    await this.#client
      .detached()
      .send({ ...this.#place, method: 'DELETE', query: { uploadId: this.#uploadId } }, [404])
      .catch(() => undefined);
  }
}

/** Copies an object within the store, over another one. @throws FileNotFound, STORAGE_ERROR */
export async function copyObject(client: S3Client, from: string, to: string): Promise<void> {
  const facts = await headObject(client, from);
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
    throw isMissing(error) || (error instanceof S3Error && error.status === 412)
      ? new FileNotFound(from)
      : storageError(to, error);
  }
}

async function copyInParts(
  client: S3Client,
  to: string,
  { source, sizeBytes, checksums }: Pick<ObjectFacts, 'sizeBytes' | 'checksums'> & { readonly source: string },
): Promise<void> {
  const upload = await MultipartUpload.begin(client, to, checksums);
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
