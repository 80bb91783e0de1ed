import type { GcsCredential } from '#shared/storage/credential.ts';
import { readXml, textAt } from '#shared/storage/object/read-xml.ts';
import { sendRequest, withQuery, type StoreAnswer, type StoreMethod } from '#shared/storage/object/send-request.ts';
import { StoreClient, type StoreProtocol } from '#shared/storage/object/store-client.ts';
import { StoreError } from '#shared/storage/object/store-error.ts';
import type { StorageUse } from '#shared/storage/storage-use.ts';

export type GcsRequest = {
  readonly method: StoreMethod;
  /** Escaped. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Largest body of an answer; default: that of a list or an error. */
  readonly answerBytesMax?: number;
  /** The answer is bytes of an object. */
  readonly isRead?: boolean;
};

const GOOGLE = 'https://storage.googleapis.com';

/** The address of a store; without an endpoint Google's. */
export const gcsAddress = (endpoint: string | null): string => endpoint ?? GOOGLE;

const GCS: StoreProtocol<GcsRequest, GcsCredential> = {
  send: ({ token, endpoint }, { method, path, query = {}, headers, body, answerBytesMax }, { bytesMax, signal }) =>
    sendRequest({
      url: new URL(gcsAddress(endpoint)),
      method,
      path: withQuery(path, query),
      headers: {
        host: new URL(gcsAddress(endpoint)).host,
        authorization: `Bearer ${token}`,
        ...headers,
        ...(body === undefined ? bodyless(method) : { 'content-length': String(body.length) }),
      },
      body,
      bytesMax: answerBytesMax ?? bytesMax,
      signal,
    }),
  errorOf: gcsError,
  repeatedCodes: new Set(['rateLimitExceeded', 'backendError', 'internalError', 'SlowDown', 'BadDigest']),
  isRead: ({ isRead = false }) => isRead,
};

const bodyless = (method: StoreMethod): Readonly<Record<string, string>> =>
  method === 'POST' || method === 'PUT' ? { 'content-length': '0' } : {};

/** Sends requests to a bucket of Google Cloud Storage. */
export class GcsClient extends StoreClient<GcsRequest, GcsCredential> {
  constructor(credential: GcsCredential, use: StorageUse = {}) {
    super(GCS, credential, use);
  }
}

/** The error of an answer of the JSON API, or of the XML API. */
export function gcsError({ status, body }: Pick<StoreAnswer, 'status' | 'body'>): StoreError {
  return new StoreError(status, codeIn(body.toString('utf8', 0, 65_536)) ?? '');
}

function codeIn(text: string): string | undefined {
  try {
    if (text.startsWith('<')) return textAt(readXml(Buffer.from(text)), 'Error', 'Code');
    const { error } = JSON.parse(text) as { error?: { errors?: readonly { reason?: unknown }[] } };
    const reason = error?.errors?.[0]?.reason;
    return typeof reason === 'string' ? reason : undefined;
  } catch {
    // A proxy's page is neither.
    return undefined;
  }
}
