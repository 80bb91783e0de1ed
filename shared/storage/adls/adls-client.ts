import type { AdlsCredential } from '#shared/storage/credential.ts';
import { clockNote } from '#shared/storage/object/clock-note.ts';
import { readXml, textAt } from '#shared/storage/object/read-xml.ts';
import { sendRequest, withQuery, type StoreAnswer, type StoreMethod } from '#shared/storage/object/send-request.ts';
import { StoreClient, type StoreProtocol } from '#shared/storage/object/store-client.ts';
import { StoreError } from '#shared/storage/object/store-error.ts';
import type { StorageUse } from '#shared/storage/storage-use.ts';
import { accountAddress, blobPath, type AdlsPlace } from './adls-place.ts';

/** A request for an object, or for its container when the key is empty. */
export type AdlsRequest = {
  readonly method: StoreMethod;
  readonly place: AdlsPlace;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Largest body of an answer; default: that of a list or an error. */
  readonly answerBytesMax?: number;
  /** The answer is bytes of an object. */
  readonly isRead?: boolean;
};

/** The version of Azure's storage service in which requests and signatures are written. */
export const SERVICE_VERSION = '2022-11-02';

const ADLS: StoreProtocol<AdlsRequest, AdlsCredential> = {
  send: (credential, { method, place, query = {}, headers, body, answerBytesMax }, { bytesMax, signal }) => {
    const { address, path } = accountAddress(place, credential.endpoint);
    const url = new URL(address);
    return sendRequest({
      url,
      method,
      path: `${withQuery(path + blobPath(place), query)}${Object.keys(query).length === 0 ? '?' : '&'}${credential.sas}`,
      headers: {
        host: url.host,
        'x-ms-version': SERVICE_VERSION,
        ...headers,
        ...(body === undefined ? bodyless(method) : { 'content-length': String(body.length) }),
      },
      body,
      bytesMax: answerBytesMax ?? bytesMax,
      signal,
    });
  },
  errorOf: adlsError,
  repeatedCodes: new Set(['OperationTimedOut', 'InternalError', 'ServerBusy', 'Md5Mismatch']),
  isRead: ({ isRead = false }) => isRead,
};

const bodyless = (method: StoreMethod): Readonly<Record<string, string>> =>
  method === 'POST' || method === 'PUT' ? { 'content-length': '0' } : {};

/** Sends requests to an account of Azure's storage. */
export class AdlsClient extends StoreClient<AdlsRequest, AdlsCredential> {
  constructor(credential: AdlsCredential, use: StorageUse = {}) {
    super(ADLS, credential, use);
  }
}

/** A signature says from when to when it holds, by our clock: Azure calls it not valid, and does not say that the clock is wrong. */
const noteOn = (status: number, headers: StoreAnswer['headers']): string =>
  status === 403 ? clockNote({ headers }) : '';

/** The error of an answer, whose code is in a header, too: also that to HEAD has one. */
export function adlsError({ status, headers, body }: Pick<StoreAnswer, 'status' | 'headers' | 'body'>): StoreError {
  const code = headers['x-ms-error-code'];
  if (typeof code === 'string') return new StoreError(status, code, noteOn(status, headers));
  try {
    return new StoreError(status, body.length === 0 ? '' : (textAt(readXml(body), 'Error', 'Code') ?? ''));
  } catch {
    // A proxy's page is no XML.
    return new StoreError(status, '');
  }
}
