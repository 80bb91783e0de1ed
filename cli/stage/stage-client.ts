import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { getCACertificates } from 'node:tls';
import { retried } from '#shared/retry.ts';
import { SkeinError } from '#shared/error.ts';
import type { DoorTrust } from '../door-fetch.ts';
import { ConnectionError, QueryError, type ClientOptions } from '../sql/query-client.ts';

/** A part of a local file, `[begin, end)` in bytes. */
export type FileRange = { readonly file: string; readonly begin: number; readonly end: number };

/** A file of a stage, or a part of an upload. */
type WantedFile = {
  readonly path: string;
  readonly size?: number;
  readonly upload_id?: string;
  readonly part_number?: number;
};
export type SignedUrl = {
  readonly url: string;
  /** A request by the URL has to have them. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly 'expires-at-ms': number;
};

/** A URL with less time than this is asked for again before it is used. */
const URL_LEFT_MIN_MS = 60_000;
export const isFresh = (url: SignedUrl): boolean => url['expires-at-ms'] > Date.now() + URL_LEFT_MIN_MS;

const ATTEMPTS_MAX = 4;
const RETRY_PAUSE_MS = 500;
/** Statuses after which the same request may succeed. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);
const ANSWER_CHARS_MAX = 16 * 2 ** 20;

/** Requests of `/v1/stages`, and those that its URLs lead to. */
export class StageClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Posts JSON with a token. @throws QueryError, ConnectionError */
  async post<Answer>(path: string, body: object): Promise<Answer> {
    const url = `${this.#options.url.replace(/(?<!\/)\/+$/, '')}/v1/stages/${path}`;
    const headers = {
      authorization: `Bearer ${await this.#options.token(false)}`,
      'content-type': 'application/json',
    };
    return sentAgain(async () => {
      const text = JSON.stringify(body);
      const length = { 'content-length': Buffer.byteLength(text) };
      const post = { ...this.#options.trust, method: 'POST', headers: { ...headers, ...length } };
      const response = await send(url, post, Readable.from([text]));
      return JSON.parse(await textOf(response)) as Answer;
    });
  }

  /** URLs for files of a stage, or for parts of uploads. @throws QueryError, ConnectionError */
  async presign(stage: string, method: 'PUT' | 'GET', files: readonly WantedFile[]): Promise<readonly SignedUrl[]> {
    const { urls } = await this.post<{ readonly urls: readonly SignedUrl[] }>('presign', { stage, method, files });
    return urls;
  }

  /** A URL may be the store's own: the authorities of `client.tls_ca` hold there, too, beside the system's; this command's certificate is not shown. */
  #trustOf(url: string): DoorTrust {
    const { url: door, trust } = this.#options;
    if (new URL(url).origin === new URL(door).origin) return trust;
    const { ca, allowPartialTrustChain } = trust;
    if (ca === undefined || allowPartialTrustChain === true) return {};
    return { ca: [...getCACertificates('default'), ...[ca].flat()] };
  }

  /** Sends a part of a file to a signed URL. @param onBytes called with the bytes that went, and what is to be sent again @returns the ETag */
  async putFile(
    { url, headers = {} }: Pick<SignedUrl, 'url' | 'headers'>,
    { file, begin, end }: FileRange,
    onBytes: (bytes: number) => void,
  ): Promise<string> {
    return sentAgain(async () => {
      let sent = 0;
      const bytes = end > begin ? createReadStream(file, { start: begin, end: end - 1 }) : Readable.from([]);
      const md5 = createHash('md5');
      bytes.on('data', (chunk: Buffer) => {
        md5.update(chunk);
        sent += chunk.length;
        onBytes(chunk.length);
      });
      bytes.pause();
      try {
        const response = await send(
          url,
          { ...this.#trustOf(url), method: 'PUT', headers: { ...headers, 'content-length': end - begin } },
          bytes,
        );
        await textOf(response);
        // Azure's store tells none of a part.
        return response.headers.etag ?? md5.digest('hex');
      } catch (error) {
        onBytes(-sent);
        throw error;
      }
    });
  }

  /** Reads a file from a signed URL. @throws QueryError, ConnectionError, what `take` throws */
  async getFile(url: string, take: (bytes: AsyncIterable<Buffer>) => Promise<void>): Promise<void> {
    await sentAgain(async () => {
      const response = await send(url, { ...this.#trustOf(url), method: 'GET' }, Readable.from([]));
      await take(response);
      if (!response.complete) throw new ConnectionError('the connection ended before the file');
    });
  }
}

/** Does something again that failed for a reason that may pass. */
const sentAgain = <T>(attempt: () => Promise<T>): Promise<T> =>
  retried(attempt, {
    again: (error, count) =>
      count < ATTEMPTS_MAX &&
      ((error instanceof ConnectionError && !error.unauthenticated) ||
        (error instanceof RefusedError && RETRYABLE.has(error.status))),
    pauseMs: (count) => RETRY_PAUSE_MS * 2 ** (count - 1),
  });

class RefusedError extends QueryError {
  readonly status: number;
  constructor(status: number, body: { readonly error: string; readonly sql_state: string; readonly message: string }) {
    super(body.error, body.sql_state, body.message);
    this.status = status;
  }
}

/** Sends a request; an answer that is no success is thrown. @throws RefusedError, ConnectionError */
async function send(url: string, options: RequestOptions & DoorTrust, body: Readable): Promise<IncomingMessage> {
  const make = url.startsWith('https:') ? httpsRequest : httpRequest;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = make(url, options, resolve);
    request.once('error', (cause: NodeJS.ErrnoException) => {
      reject(new ConnectionError(`cannot reach ${new URL(url).origin}: ${cause.code ?? cause.message}`, { cause }));
    });
    // A server that refuses answers before it has read the body, and closes.
    pipeline(body, request).catch((error: NodeJS.ErrnoException) => {
      if (error.syscall === 'open' || error.syscall === 'read') {
        reject(new SkeinError('INVALID_INPUT_FILE', `cannot read the file: ${error.message}`));
      }
    });
  });
  const status = response.statusCode ?? 0;
  if (status === 200 || status === 201 || status === 204) return response;
  const text = await textOf(response);
  if (status === 401) throw new ConnectionError(text, { unauthenticated: true });
  throw new RefusedError(status, refusalOf(text, status));
}

function refusalOf(text: string, status: number): ConstructorParameters<typeof RefusedError>[1] {
  try {
    return JSON.parse(text) as ConstructorParameters<typeof RefusedError>[1];
  } catch {
    // A store answers in XML.
    const code = /<Code>([A-Za-z0-9.]{1,100})<\/Code>/.exec(text)?.[1];
    if (code === undefined) return { error: 'INTERNAL_ERROR', sql_state: 'XX000', message: `HTTP status ${status}` };
    return { error: 'STORAGE_ERROR', sql_state: '58030', message: `the store refuses the request: ${status} ${code}` };
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  response.setEncoding('utf8');
  try {
    for await (const piece of response as AsyncIterable<string>) {
      if (text.length < ANSWER_CHARS_MAX) text += piece;
    }
  } catch (cause) {
    throw new ConnectionError('the connection ended before the answer', { cause });
  }
  return text;
}
