import { once } from 'node:events';
import { request } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { End } from './numbered-load.ts';

/** A coordinator as a client reaches it. */
export type PageCoordinator = { readonly name: string; readonly address: string };

type Options = {
  readonly coordinators: readonly PageCoordinator[];
  /** Authority of their certificates. */
  readonly ca: string;
  readonly token: () => Promise<string>;
};

const HTTP_PORT = 8080;
const STATEMENT_MS = 15_000;
const GIVE_UP_MS = STATEMENT_MS + 10_000;
const LOOK_MS = 2_000;

/** A client over TLS, which asks the coordinator that is ready, as a balancer in front of them would. */
export class PageClient {
  readonly #options: Options;
  #token: string | undefined;
  #at: PageCoordinator | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  async ask(sql: string): Promise<End> {
    const at = (this.#at ??= await this.#ready());
    if (at === undefined) {
      await sleep(100);
      return { code: 'NOBODY_LEADS' };
    }
    this.#token ??= await this.#options.token();
    try {
      const { text } = await this.#request(at, {
        path: '/api/query',
        body: JSON.stringify({ sql, timeout_ms: STATEMENT_MS }),
        timeoutMs: GIVE_UP_MS,
      });
      const body = JSON.parse(text) as { readonly rows?: readonly (readonly unknown[])[]; readonly error?: string };
      if (body.rows !== undefined) return { rows: body.rows };
      if (body.error === 'NOT_ACTIVE') this.#at = undefined;
      return { code: body.error ?? 'NO_ANSWER' };
    } catch (error) {
      this.#at = undefined;
      // It was never sent.
      return { code: (error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? 'NOBODY_LEADS' : 'NO_ANSWER' };
    }
  }

  async #ready(): Promise<PageCoordinator | undefined> {
    for (const one of this.#options.coordinators) {
      const status = await this.#request(one, { path: '/health/ready', timeoutMs: LOOK_MS }).then(
        (answer) => answer.status,
        () => 0,
      );
      if (status === 200) return one;
    }
    return undefined;
  }

  async #request(
    { name, address }: PageCoordinator,
    { path, body, timeoutMs }: { readonly path: string; readonly body?: string; readonly timeoutMs: number },
  ): Promise<{ readonly status: number; readonly text: string }> {
    const sent = request({
      host: address,
      port: HTTP_PORT,
      path,
      method: body === undefined ? 'GET' : 'POST',
      servername: name,
      ca: this.#options.ca,
      agent: false,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#token ?? ''}` },
      signal: AbortSignal.timeout(timeoutMs),
    });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    const parts: Buffer[] = [];
    for await (const part of answer) parts.push(part as Buffer);
    return { status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() };
  }
}
