import { must } from '#shared/must.ts';
import { HttpConnection, type HttpAnswer } from '../http/http-connection.ts';

/** Connections that the clients of a benchmark have to themselves, by the client's number. */
export class CatalogClients {
  readonly #url: string;
  readonly #token: string;
  readonly #connections: HttpConnection[] = [];

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** @throws Error on a status that is not in `expected`. */
  async request(
    client: number,
    method: string,
    path: string,
    body?: object,
    { expected = [200], headers = '' }: { readonly expected?: readonly number[]; readonly headers?: string } = {},
  ): Promise<HttpAnswer> {
    while (this.#connections.length <= client) this.#connections.push(new HttpConnection(this.#url, this.#token));
    const connection = must(this.#connections[client], 'made above');
    const answer = await connection.request(
      method,
      path,
      body === undefined ? undefined : JSON.stringify(body),
      headers,
    );
    if (!expected.includes(answer.status))
      throw new Error(`${method} ${path}: ${answer.status} ${answer.body.toString()}`);
    return answer;
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}
