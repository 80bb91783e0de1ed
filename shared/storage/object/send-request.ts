import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { SkeinError } from '#shared/error.ts';

/** One HTTP request to a store or to a service that gives keys for one, without retries. */

export type StoreMethod = 'GET' | 'PUT' | 'HEAD' | 'POST' | 'DELETE';

export type StoreAnswer = {
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

export const withQuery = (path: string, query: Readonly<Record<string, string>>): string => {
  const pairs = Object.entries(query).map(([name, value]) => `${escapeUri(name)}=${escapeUri(value)}`);
  return pairs.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${pairs.join('&')}`;
};

/** Escapes everything but the unreserved characters of RFC 3986, as signatures want it. */
export const escapeUri = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

export class AnswerTooLarge extends Error {}

type Sent = {
  /** Its host and port. */
  readonly url: URL;
  readonly method: string;
  /** Percent-encoded, with the query. */
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: Uint8Array | undefined;
  /** Largest body of the answer. */
  readonly bytesMax: number;
  /** Ends the request; its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
};

/** @throws the errors of the connection, `TimeoutError`, `AnswerTooLarge` */
export function sendRequest({ url, method, path, headers, body, bytesMax, signal }: Sent): Promise<StoreAnswer> {
  const isTls = url.protocol === 'https:';
  const options = {
    method,
    host: url.hostname,
    port: url.port,
    path,
    headers,
    agent: isTls ? HTTPS_AGENT : HTTP_AGENT,
  };
  const { promise, resolve, reject } = Promise.withResolvers<StoreAnswer>();
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
    readonly resolve: (answer: StoreAnswer) => void;
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
