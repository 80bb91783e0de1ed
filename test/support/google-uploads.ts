import { createHash, randomUUID } from 'node:crypto';

/** Uploads in parts of Google's XML API, which fake-gcs-server does not have. */

type Upload = {
  readonly bucket: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly begun: string;
  readonly parts: Map<number, { readonly etag: string; readonly body: Buffer }>;
};
type UploadRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: Buffer;
};
export type UploadAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

/** Bytes of a part but the last, at least. */
const PART_BYTES_MIN = 5 * 2 ** 20;

const xml = (name: string, body: string): UploadAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/xml' },
  body: `<?xml version="1.0" encoding="UTF-8"?><${name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${body}</${name}>`,
});
const refusal = (status: number, code: string): UploadAnswer => ({
  status,
  body: `<Error><Code>${code}</Code></Error>`,
});
const escaped = (text: string): string => text.replaceAll(/[<>&]/g, (char) => `&#${char.charCodeAt(0)};`);

export class XmlUploads {
  readonly #uploads = new Map<string, Upload>();

  /** Uploads that were not ended. */
  get open(): number {
    return this.#uploads.size;
  }

  /** @param put makes an object @returns undefined for a request that is of no upload */
  async answer(
    { method, url, headers, body }: UploadRequest,
    put: (object: Omit<Upload, 'parts' | 'begun'>, body: Buffer) => Promise<void>,
  ): Promise<UploadAnswer | undefined> {
    const [, bucket = '', ...names] = url.pathname.split('/').map(decodeURIComponent);
    const key = names.join('/');
    const query = url.searchParams;
    if (bucket === 'upload' || bucket === 'storage') return undefined;
    if (query.has('uploads'))
      return method === 'POST' ? this.#begin({ bucket, key, headers }) : this.#list(bucket, query.get('prefix') ?? '');
    const id = query.get('uploadId');
    if (id === null) return undefined;
    const upload = this.#uploads.get(id);
    if (upload === undefined || upload.bucket !== bucket || upload.key !== key) return refusal(404, 'NoSuchUpload');
    if (method === 'PUT') {
      const etag = createHash('md5').update(body).digest('hex');
      upload.parts.set(Number(query.get('partNumber')), { etag, body });
      return { status: 200, headers: { etag: `"${etag}"` } };
    }
    if (method === 'GET') return listOf(upload);
    if (method === 'POST') {
      const wanted = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>"?([0-9a-f]+)"?<\/ETag>/g)];
      const parts = wanted.map(([, number, etag]) => ({ part: upload.parts.get(Number(number)), etag }));
      if (parts.some(({ part, etag }) => part?.etag !== etag)) return refusal(400, 'InvalidPart');
      const bodies = parts.flatMap(({ part }) => part?.body ?? []);
      if (bodies.slice(0, -1).some(({ length }) => length < PART_BYTES_MIN)) return refusal(400, 'EntityTooSmall');
      await put(upload, Buffer.concat(bodies));
    }
    this.#uploads.delete(id);
    return method === 'POST' ? xml('CompleteMultipartUploadResult', `<Key>${escaped(key)}</Key>`) : { status: 204 };
  }

  #begin({ bucket, key, headers }: { bucket: string; key: string; headers: UploadRequest['headers'] }): UploadAnswer {
    const id = randomUUID();
    const own = Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith('x-goog-meta-') || name === 'content-type' ? [[name, String(value)] as const] : [],
    );
    this.#uploads.set(id, {
      bucket,
      key,
      headers: Object.fromEntries(own),
      begun: new Date().toISOString(),
      parts: new Map(),
    });
    return xml('InitiateMultipartUploadResult', `<UploadId>${id}</UploadId>`);
  }

  #list(bucket: string, prefix: string): UploadAnswer {
    const found = [...this.#uploads].filter(([, one]) => one.bucket === bucket && one.key.startsWith(prefix));
    const texts = found.map(
      ([id, one]) =>
        `<Upload><Key>${escaped(one.key)}</Key><UploadId>${id}</UploadId><Initiated>${one.begun}</Initiated></Upload>`,
    );
    return xml('ListMultipartUploadsResult', `<IsTruncated>false</IsTruncated>${texts.join('')}`);
  }
}

function listOf({ parts }: Upload): UploadAnswer {
  const texts = [...parts].map(
    ([number, { etag, body }]) =>
      `<Part><PartNumber>${number}</PartNumber><ETag>"${etag}"</ETag><Size>${body.length}</Size></Part>`,
  );
  return xml('ListPartsResult', `<IsTruncated>false</IsTruncated>${texts.join('')}`);
}
