import { Hash, createHash, createHmac, type BinaryLike } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { SignatureV4 } from '@smithy/signature-v4';
import { SkeinError } from '#shared/error.ts';
import type { S3Credential } from '#shared/storage/credential.ts';

/** One HTTP request to an AWS service or one that imitates it, signed with version 4, without retries. */

export type AwsKey = Pick<S3Credential, 'accessKeyId' | 'secretAccessKey' | 'sessionToken' | 'region'>;

export type AwsRequest = {
  readonly service: 's3' | 'sts';
  readonly method: 'GET' | 'PUT' | 'HEAD' | 'POST' | 'DELETE';
  /** `http://host:port` or `https://host`. */
  readonly endpoint: string;
  /** Percent-encoded: the signature covers these bytes. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Headers that the signature does not cover: to see whether a store obeys them. */
  readonly unsigned?: Readonly<Record<string, string>>;
  /** Largest body of an answer. */
  readonly answerBytesMax: number;
  /** Ends the request; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
};

export type AwsAnswer = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** Fewer bytes came than the answer's head promised. */
  readonly isCut: boolean;
};

/** Limits of one request: until the connection is there, and between two packets. */
const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 20_000;
/** An answer that comes more slowly than this is given up after a while: a store that gives a byte now and then would never end. */
const RATE_AFTER_MS = 30_000;
const RATE_MIN_BYTES_MS = 8;
/** Connections that a thread keeps to one host. */
const SOCKETS_MAX = 64;
/** Longest time for which a connection without a request is kept: stores close theirs after 20 s or more. */
const KEEP_ALIVE_MS = 15_000;

const AGENT_OPTIONS = { keepAlive: true, maxSockets: SOCKETS_MAX, timeout: KEEP_ALIVE_MS, scheduling: 'lifo' } as const;
const HTTP_AGENT = new HttpAgent(AGENT_OPTIONS);
const HTTPS_AGENT = new HttpsAgent(AGENT_OPTIONS);

/** The hash that the signer asks for. */
class Sha256 {
  readonly #hash: Hash;
  constructor(secret?: unknown) {
    // The signer passes a secret for HMAC.
    this.#hash = (secret === undefined ? createHash('sha256') : createHmac('sha256', secret as BinaryLike)) as Hash;
  }
  update(data: BinaryLike): void {
    this.#hash.update(data);
  }
  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }
  reset(): void {
    throw new Error('a hash is used once');
  }
}

/** @throws the errors of the connection, `TimeoutError`, `AnswerTooLarge` */
export async function sendSigned(key: AwsKey, request: AwsRequest): Promise<AwsAnswer> {
  const { method, path, query = {}, body } = request;
  const url = new URL(request.endpoint);
  const unsigned = {
    method,
    protocol: url.protocol,
    hostname: url.hostname,
    path,
    query: { ...query },
    headers: {
      host: url.host,
      ...request.headers,
      ...(body === undefined ? {} : { 'content-length': String(body.length) }),
    },
    ...(body === undefined ? {} : { body }),
  };
  const { headers } = await signer(key, request.service).sign(unsigned);
  return send({
    url,
    method,
    path: withQuery(path, query),
    headers: { ...headers, ...request.unsigned },
    body,
    bytesMax: request.answerBytesMax,
    signal: request.signal,
  });
}

/** The path is not escaped a second time: the signature of S3 covers it as it is sent, that of STS covers `/`. */
export const signer = (
  { accessKeyId, secretAccessKey, sessionToken, region }: AwsKey,
  service: AwsRequest['service'],
): SignatureV4 =>
  new SignatureV4({
    service,
    region,
    uriEscapePath: false,
    applyChecksum: true,
    sha256: Sha256,
    credentials: { accessKeyId, secretAccessKey, ...(sessionToken === null ? {} : { sessionToken }) },
  });

export const withQuery = (path: string, query: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(query).map(([name, value]) => `${escapeUri(name)}=${escapeUri(value)}`);
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
};

/** Escapes everything but the unreserved characters of RFC 3986, as the signature wants it. */
export const escapeUri = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

export class AnswerTooLarge extends Error {}

type Sent = {
  readonly url: URL;
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array | undefined;
  readonly bytesMax: number;
  readonly signal: AbortSignal | undefined;
};

function send({ url, method, path, headers, body, bytesMax, signal }: Sent): Promise<AwsAnswer> {
  const isTls = url.protocol === 'https:';
  const options = {
    method,
    host: url.hostname,
    port: url.port,
    path,
    headers,
    agent: isTls ? HTTPS_AGENT : HTTP_AGENT,
  };
  const { promise, resolve, reject } = Promise.withResolvers<AwsAnswer>();
  const request = isTls ? httpsRequest(options) : httpRequest(options);
  request.on('socket', (socket) => {
    // A request may wait for a connection that another one has, however long.
    if (!socket.connecting) return;
    const connecting = setTimeout(() => request.destroy(timedOut('no connection')), CONNECT_TIMEOUT_MS).unref();
    const connected = (): void => clearTimeout(connecting);
    socket.once(isTls ? 'secureConnect' : 'connect', connected).once('close', connected);
  });
  request.setTimeout(IDLE_TIMEOUT_MS, () => request.destroy(timedOut('no bytes came')));
  request.once('error', reject);
  request.once('response', (response) => readAnswer(response, { bytesMax, resolve, reject }));
  const abort = (): void => void request.destroy(SkeinError.of(signal?.reason));
  if (signal?.aborted === true) abort();
  signal?.addEventListener('abort', abort, { once: true });
  request.once('close', () => signal?.removeEventListener('abort', abort));
  request.end(body);
  return promise;
}

function readAnswer(
  response: IncomingMessage,
  {
    bytesMax,
    resolve,
    reject,
  }: {
    readonly bytesMax: number;
    readonly resolve: (answer: AwsAnswer) => void;
    readonly reject: (error: Error) => void;
  },
): void {
  const { statusCode: status = 0, headers } = response;
  const chunks: Buffer[] = [];
  let bytes = 0;
  const beganMs = performance.now();
  const end = (isCut: boolean): void => {
    const body = chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks);
    resolve({ status, headers, body, isCut });
  };
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > bytesMax) return void response.destroy(new AnswerTooLarge('the answer is larger than expected'));
    chunks.push(chunk);
    const ageMs = performance.now() - beganMs;
    if (ageMs > RATE_AFTER_MS && bytes < ageMs * RATE_MIN_BYTES_MS) response.destroy(timedOut('bytes come too slowly'));
  });
  response.once('end', () => end(false));
  response.once('error', (error) => {
    if (error instanceof AnswerTooLarge || error instanceof SkeinError) reject(error);
    else end(true);
  });
  response.once('close', () => end(true));
}

const timedOut = (what: string): Error => Object.assign(new Error(what), { code: 'ETIMEDOUT' });
