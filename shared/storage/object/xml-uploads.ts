import { SkeinError } from '#shared/error.ts';
import type { BegunUpload, ClientUploads, StoredPart, UploadTarget } from './client-uploads.ts';
import { unquoted } from './object-store.ts';
import { ownHeaders } from './own-headers.ts';
import { elements, readXml, textAt } from './read-xml.ts';
import type { ClientAnswer } from './store-client.ts';
import { storageError, type StoreError } from './store-error.ts';

/** Uploads in parts, in the words of S3, which Google's store speaks, too. */

type UploadRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly query: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
};

/** An upload of parts that was begun and not ended. */
export type OpenUpload = { readonly key: string; readonly uploadId: string; readonly begunMs: number };

/** The requests of a store for an object. */
export type XmlStore = {
  /** @param accepted statuses beyond 2xx that are answers, too @throws StoreError */
  send(location: string, request: UploadRequest, accepted?: readonly number[]): Promise<ClientAnswer>;
  errorOf(answer: ClientAnswer): StoreError;
  /** How headers of our own begin. */
  readonly ownPrefix: string;
  /** The id of the write that has made the object. */
  writeIdOf(location: string): Promise<string | undefined>;
  /** The uploads of this object alone. */
  openUploads(location: string): Promise<readonly OpenUpload[]>;
};

/** A part was replaced meanwhile, or one that is not the last is too small for the store. */
const REFUSED_PARTS: ReadonlySet<string> = new Set(['InvalidPart', 'InvalidPartOrder', 'EntityTooSmall']);

/** Pages of a list of parts: of 10,000, where a store gives ten a page. */
const PAGES_MAX = 1_000;

export function xmlUploads(store: XmlStore): ClientUploads {
  const at = async <T>({ location }: UploadTarget, work: (location: string) => Promise<T>): Promise<T> => {
    try {
      return await work(location);
    } catch (error) {
      throw storageError(location, error);
    }
  };
  const abort = async (location: string, uploadId: string): Promise<void> => {
    await store.send(location, { method: 'DELETE', query: { uploadId } }, [404]);
  };
  return {
    begin: (target, writeId) => at(target, (location) => begin(store, location, writeId)),
    parts: (target, uploadId) => at(target, (location) => listParts(store, location, uploadId)),
    complete: (target, uploadId, parts) => at(target, (location) => complete(store, location, { uploadId, parts })),
    isWritten: (target, writeId) => at(target, async (location) => (await store.writeIdOf(location)) === writeId),
    abort: (target, uploadId) => at(target, (location) => abort(location, uploadId)),
    abortUnknown: (target, known, beforeMs) =>
      at(target, async (location) => {
        for (const { uploadId, begunMs } of await store.openUploads(location)) {
          if (!known.has(uploadId) && begunMs < beforeMs) await abort(location, uploadId);
        }
      }),
  };
}

async function begin(store: XmlStore, location: string, writeId: string): Promise<BegunUpload> {
  const headers = { ...ownHeaders(store.ownPrefix, writeId, null), 'content-type': 'application/octet-stream' };
  const { body, sent } = await store.send(location, { method: 'POST', query: { uploads: '' }, headers });
  const uploadId = textAt(readXml(body), 'InitiateMultipartUploadResult', 'UploadId');
  if (uploadId === undefined) throw new Error('the store began no upload');
  return { id: uploadId, mayHaveLost: sent > 1 };
}

async function listParts(
  store: XmlStore,
  location: string,
  uploadId: string,
): Promise<readonly StoredPart[] | undefined> {
  const parts: StoredPart[] = [];
  let after = '0';
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const query = { uploadId, 'part-number-marker': after };
    const answer = await store.send(location, { method: 'GET', query }, [404]);
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
  store: XmlStore,
  location: string,
  { uploadId, parts }: { readonly uploadId: string; readonly parts: readonly StoredPart[] },
): Promise<boolean> {
  const list = parts.map(({ number, etag }) => `<Part><PartNumber>${number}</PartNumber><ETag>"${etag}"</ETag></Part>`);
  const body = Buffer.from(`<CompleteMultipartUpload>${list.join('')}</CompleteMultipartUpload>`);
  const headers = { 'content-type': 'application/xml' };
  const answer = await store.send(location, { method: 'POST', query: { uploadId }, headers, body }, [400, 404]);
  if (answer.status === 404) return false;
  // The store answers before it is done, and tells of a failure in the body.
  if (answer.status === 200 && textAt(readXml(answer.body), 'Error', 'Code') === undefined) return true;
  const error = store.errorOf(answer);
  throw REFUSED_PARTS.has(error.code)
    ? new SkeinError('INVALID_REQUEST', `the store refuses the parts: ${error.code}`, { cause: error })
    : error;
}

/** Pages of uploads of a whole bucket that are looked through. */
const LIST_PAGES_MAX = 20;

/** The uploads of keys that begin with a text. @param list asks for a page */
export async function listOpenUploads(
  list: (query: Readonly<Record<string, string>>) => Promise<Pick<ClientAnswer, 'body'>>,
  prefix: string,
): Promise<readonly OpenUpload[]> {
  const found: OpenUpload[] = [];
  let marker: Readonly<Record<string, string>> = {};
  for (let pages = 0; pages < LIST_PAGES_MAX; pages++) {
    const { body } = await list({ uploads: '', 'encoding-type': 'url', prefix, ...marker });
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
