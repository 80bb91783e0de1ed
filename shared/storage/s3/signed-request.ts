import { Hash, createHash, createHmac, type BinaryLike } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { SignatureV4 } from '@smithy/signature-v4';
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

const withQuery = (path: string, query: Readonly<Record<string, string>>): string => {
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
};

function send({ url, method, path, headers, body, bytesMax }: Sent): Promise<AwsAnswer> {
  const isTls = url.protocol === 'https:';
  const options = {
    method,
    host: url.hostname,
    port: url.port,
    path,
    headers,
    agent: isTls ? HTTPS_AGENT : HTTP_AGENT,
  };
  return new Promise((resolve, reject) => {
    const request = isTls ? httpsRequest(options) : httpRequest(options);
    const connecting = setTimeout(() => request.destroy(timedOut('no connection')), CONNECT_TIMEOUT_MS).unref();
    request.on('socket', (socket) => {
      if (socket.connecting) socket.once(isTls ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
      else clearTimeout(connecting);
    });
    request.setTimeout(IDLE_TIMEOUT_MS, () => request.destroy(timedOut('no bytes came')));
    request.once('error', (error) => {
      clearTimeout(connecting);
      reject(error);
    });
    request.once('response', (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const end = (isCut: boolean): void => {
        const { statusCode: status = 0, headers: head } = response;
        resolve({
          status,
          headers: head,
          body: chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks),
          isCut,
        });
      };
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > bytesMax) return void response.destroy(new AnswerTooLarge('the answer is larger than expected'));
        chunks.push(chunk);
      });
      response.once('end', () => end(false));
      response.once('error', (error) => {
        if (error instanceof AnswerTooLarge) reject(error);
        else end(true);
      });
    });
    request.end(body);
  });
}

const timedOut = (what: string): Error => Object.assign(new Error(what), { code: 'ETIMEDOUT' });
