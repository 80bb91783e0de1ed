import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A relay before the STS of a store: it counts the keys that are made, moves their end, and can be closed and opened again. */
export type StsRelay = AsyncDisposable & {
  readonly endpoint: string;
  readonly made: number;
  /** Answers tell this life of keys instead of the real one. */
  shortenTo(ms: number | null): void;
  /** Keys are asked for with another policy than the one that came. */
  widen(makeKey: ((body: URLSearchParams) => Promise<string>) | null): void;
  /** While it is away it takes connections and answers nothing. */
  away(isAway: boolean): void;
};

const EXPIRATION = /(?<=<Expiration>)[^<]*/;

export async function startStsRelay(store: string): Promise<StsRelay> {
  let made = 0;
  let lifeMs: number | null = null;
  let isAway = false;
  let wide: ((body: URLSearchParams) => Promise<string>) | null = null;
  const server = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.once('end', () => {
      if (isAway) return;
      const body = Buffer.concat(chunks);
      if (wide !== null) {
        made += 1;
        void wide(new URLSearchParams(body.toString())).then((answer) =>
          outgoing.writeHead(200, { 'content-type': 'application/xml' }).end(answer),
        );
        return;
      }
      // The signature covers the host, which stays as it came.
      const { method, url = '/', headers } = incoming;
      const onward = request(new URL(url, store), { method, headers }, (answer) => {
        const parts: Buffer[] = [];
        answer.on('data', (part: Buffer) => parts.push(part));
        answer.once('end', () => {
          let text = Buffer.concat(parts).toString();
          if (answer.statusCode === 200) made += 1;
          if (lifeMs !== null) text = text.replace(EXPIRATION, new Date(Date.now() + lifeMs).toISOString());
          outgoing.writeHead(answer.statusCode ?? 500, { 'content-type': 'application/xml' }).end(text);
        });
      });
      onward.once('error', () => outgoing.destroy());
      onward.end(body);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get made() {
      return made;
    },
    shortenTo: (ms) => {
      lifeMs = ms;
    },
    widen: (makeKey) => {
      wide = makeKey;
    },
    away: (away) => {
      isAway = away;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
