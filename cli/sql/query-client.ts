import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import type { DoorTrust } from '../door-fetch.ts';
import { followed, leavesState } from './following.ts';
import { ResultParser, type ResultHead, type ResultTail } from './result-parser.ts';

/** The error of a statement that the server refused, or whose result broke off. */
export class QueryError extends Error {
  readonly code: string;
  readonly sqlState: string;
  /** The URL of the active coordinator, as a standby gives it with NOT_ACTIVE. */
  readonly leader: string | undefined;
  constructor(code: string, sqlState: string, message: string, leader?: string) {
    super(message);
    this.name = 'QueryError';
    this.code = code;
    this.sqlState = sqlState;
    this.leader = leader;
  }
}

/** The error when the server cannot be reached, or does not accept the token. A command that does not know it tells it as any other. */
export class ConnectionError extends SkeinError {
  readonly unauthenticated: boolean;
  constructor(
    message: string,
    { unauthenticated = false, cause }: { readonly unauthenticated?: boolean; readonly cause?: unknown } = {},
  ) {
    super(unauthenticated ? 'UNAUTHENTICATED' : 'NO_CLUSTER', message, { cause });
    this.name = 'ConnectionError';
    this.unauthenticated = unauthenticated;
  }
}

/** Receives rows in the order of the result; the next piece is read when the promise resolves. */
export type RowSink = (head: ResultHead, rows: readonly string[]) => Promise<void>;

export type ClientOptions = {
  readonly url: string;
  readonly trust: DoorTrust;
  readonly timeoutMs: number | undefined;
  /** Provides a token; called again, once, with `fresh` when the server rejects it (a shell outlives its token). */
  readonly token: (fresh: boolean) => Promise<string>;
};

/** Most characters that are read of an error response's body. */
const ERROR_BODY_CHARS_MAX = 1_000_000;

/** Time for which a statement that no coordinator has taken is sent again, while the lead changes. */
const FOLLOW_MS_MAX = 15_000;
const FOLLOW_PAUSE_MS = 500;

/** One session of the query API. It follows the lead from one coordinator to the next. */
export class QueryClient {
  readonly #options: ClientOptions;
  readonly #session = randomUUID();
  #url: string;
  #agent: HttpAgent | HttpsAgent;
  #running: string | undefined;
  /** Whether the session has something that the next coordinator does not know. */
  #hasState = false;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#url = options.url;
    this.#agent = agentOf(options.url, options.trust);
  }

  /**
   * Runs one statement, on the active coordinator. When the lead has changed, and statements before this one have left something in the
   * session, it is not sent there: it could mean something else. @throws QueryError, ConnectionError, and whatever `sink` throws (the
   * query is cancelled then)
   */
  async run(sql: string, sink: RowSink): Promise<ResultTail> {
    const endMs = performance.now() + FOLLOW_MS_MAX;
    let refused: QueryError | undefined;
    for (;;) {
      try {
        const tail = await this.#runHere(sql, sink);
        this.#hasState ||= leavesState(sql);
        return tail;
      } catch (error) {
        // The coordinator that refused it may be gone by now, which says less.
        if (refused !== undefined && error instanceof ConnectionError) throw refused;
        if (!(error instanceof QueryError && error.code === 'NOT_ACTIVE') || performance.now() > endMs) throw error;
        refused = error;
        const next = followed(this.#url, error.leader);
        if (next !== undefined) this.#follow(next);
        if (this.#hasState) {
          this.#hasState = false;
          throw new QueryError(
            error.code,
            error.sqlState,
            `${error.message}; the session has begun anew, without its settings, prepared statements and transaction`,
          );
        }
        await sleep(FOLLOW_PAUSE_MS);
      }
    }
  }

  #follow(url: string): void {
    this.#agent.destroy();
    this.#url = url;
    this.#agent = agentOf(url, this.#options.trust);
  }

  async #runHere(sql: string, sink: RowSink): Promise<ResultTail> {
    const token = await this.#options.token(false);
    try {
      return await this.#attempt(sql, token, sink);
    } catch (error) {
      if (!(error instanceof ConnectionError && error.unauthenticated)) throw error;
      const fresh = await this.#options.token(true);
      if (fresh === token) throw error;
      return this.#attempt(sql, fresh, sink);
    }
  }

  /** Cancels the running statement, whose `run` then throws QUERY_CANCELLED. Does nothing when none runs. */
  async cancel(): Promise<void> {
    const id = this.#running;
    if (id === undefined) return;
    const token = await this.#options.token(false);
    const response = await this.#send('DELETE', `/api/query/${id}`, token, {});
    response.resume();
  }

  close(): void {
    this.#agent.destroy();
  }

  async #attempt(sql: string, token: string, sink: RowSink): Promise<ResultTail> {
    const id = randomUUID();
    const { timeoutMs } = this.#options;
    this.#running = id;
    try {
      const response = await this.#send('POST', '/api/query', token, {
        headers: { 'X-Skein-Query-Id': id, 'X-Skein-Session': this.#session, 'X-Skein-Source': 'skein-sql' },
        body: JSON.stringify({ sql, ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }) }),
      });
      if (response.statusCode !== 200) throw await errorOf(response);
      return await readResult(response, sink);
    } finally {
      this.#running = undefined;
    }
  }

  #send(
    method: string,
    path: string,
    token: string,
    { headers = {}, body }: { headers?: Readonly<Record<string, string>>; body?: string },
  ): Promise<IncomingMessage> {
    const url = new URL(this.#url.replace(/(?<!\/)\/+$/, '') + path);
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const length =
      body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    return new Promise((resolve, reject) => {
      const request = send(
        url,
        { method, agent: this.#agent, headers: { ...headers, ...length, authorization: `Bearer ${token}` } },
        resolve,
      );
      request.once('error', (cause: NodeJS.ErrnoException) => {
        reject(new ConnectionError(`cannot reach ${url.origin}: ${cause.code ?? cause.message}`, { cause }));
      });
      request.end(body);
    });
  }
}

const agentOf = (url: string, trust: DoorTrust): HttpAgent | HttpsAgent =>
  url.startsWith('https:') ? new HttpsAgent({ ...trust, keepAlive: true }) : new HttpAgent({ keepAlive: true });

async function readResult(response: IncomingMessage, sink: RowSink): Promise<ResultTail> {
  const parser = new ResultParser();
  response.setEncoding('utf8');
  try {
    for await (const piece of response as AsyncIterable<string>) {
      const rows = parser.push(piece);
      if (parser.head !== undefined) await sink(parser.head, rows);
    }
  } catch (error) {
    response.destroy();
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    throw brokenOff();
  }
  try {
    return parser.end();
  } catch {
    throw brokenOff();
  }
}

const brokenOff = (): QueryError =>
  new QueryError('INTERNAL_ERROR', 'XX000', 'the result broke off: the query failed after its first rows were sent');

async function errorOf(response: IncomingMessage): Promise<QueryError | ConnectionError> {
  let text = '';
  response.setEncoding('utf8');
  for await (const piece of response as AsyncIterable<string>) {
    if (text.length < ERROR_BODY_CHARS_MAX) text += piece;
  }
  const status = response.statusCode ?? 0;
  const body = parsed(text);
  const message = body.message ?? `HTTP status ${status}`;
  if (status === 401) return new ConnectionError(message, { unauthenticated: true });
  if (body.error === undefined) return new ConnectionError(`this is no query API: ${message}`);
  const leader = response.headers['x-skein-leader'];
  return new QueryError(
    body.error,
    body.sql_state ?? 'XX000',
    message,
    typeof leader === 'string' ? leader : undefined,
  );
}

function parsed(text: string): { readonly error?: string; readonly sql_state?: string; readonly message?: string } {
  try {
    const body: unknown = JSON.parse(text);
    return body !== null && typeof body === 'object' ? body : {};
  } catch {
    return {};
  }
}
