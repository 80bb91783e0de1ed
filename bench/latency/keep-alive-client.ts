import { Agent, request } from 'node:http';

/** A keep-alive HTTP client of the query API: one connection per concurrent request, bodies not decoded. */
export class KeepAliveClient {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #url: string;
  readonly #token: string;

  constructor(queryUrl: string, token: string) {
    this.#url = `${queryUrl}/api/query`;
    this.#token = token;
  }

  /** Resolves with the body of a 200; rejects with the body of anything else. */
  post(body: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...more,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        authorization: `Bearer ${this.#token}`,
      };
      const call = request(this.#url, { method: 'POST', agent: this.#agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          if (response.statusCode === 200) resolve(text);
          else reject(new Error(`HTTP ${response.statusCode}: ${text}`));
        });
      });
      call.on('error', reject);
      call.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
