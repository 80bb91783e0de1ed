import { HttpConnection } from './http-connection.ts';

/** A keep-alive HTTP client of the query API: one connection for each concurrent request. */
export class KeepAliveClient {
  readonly #queryUrl: string;
  readonly #token: string;
  readonly #all: HttpConnection[] = [];
  /** Those without a request, the one used last at the end. */
  readonly #free: HttpConnection[] = [];

  constructor(queryUrl: string, token: string) {
    this.#queryUrl = queryUrl;
    this.#token = token;
  }

  /** Resolves with the body of a 200; rejects with the body of anything else. */
  async post(body: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const headers = Object.entries(more).map(([name, value]) => `${name}: ${value}\r\n`);
    const connection = this.#free.pop() ?? this.#connect();
    if (connection.isClosed) return this.post(body, more);
    const answer = await connection.request('POST', '/api/query', body, headers.join(''));
    this.#free.push(connection);
    const text = answer.body.toString();
    if (answer.status === 200) return text;
    throw new Error(`HTTP ${answer.status}: ${text}`);
  }

  #connect(): HttpConnection {
    const connection = new HttpConnection(this.#queryUrl, this.#token);
    this.#all.push(connection);
    return connection;
  }

  close(): void {
    for (const connection of this.#all) connection.close();
  }
}
