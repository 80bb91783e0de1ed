import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SkeinError } from '#shared/error.ts';

/** Time for a person to sign in. */
const WAIT_MS_MAX = 600_000;

export type Callback = {
  readonly redirectUri: string;
  /** The code with which the browser comes back. @throws UNAUTHENTICATED when it was refused, or the time is over */
  readonly code: Promise<string>;
  close(): void;
};

/** Waits on an address of this machine for the browser of a sign-in: for its own `state`, from its own catalog, once. */
export async function waitForCallback({
  state,
  issuer,
}: {
  readonly state: string;
  readonly issuer: string;
}): Promise<Callback> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  promise.catch(() => undefined);
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (request.method !== 'GET' || url.pathname !== '/callback') return tell(response, 404, 'Not found.');
    const shown = url.searchParams;
    // Another page of this browser may come here, too.
    if (shown.get('state') !== state || shown.get('iss') !== issuer) {
      return tell(response, 400, 'This is not the answer to the sign-in that was begun here.');
    }
    const code = shown.get('code');
    if (code === null) {
      tell(response, 200, 'Not signed in. You can close this page.');
      const why = shown.get('error_description') ?? shown.get('error') ?? 'no code';
      return reject(new SkeinError('UNAUTHENTICATED', `the sign-in was refused: ${why}`));
    }
    tell(response, 200, 'Signed in. You can close this page.');
    resolve(code);
  });
  await new Promise<void>((listening, failed) => {
    server.once('error', failed);
    server.listen(0, '127.0.0.1', listening);
  });
  const timer = setTimeout(() => {
    reject(new SkeinError('UNAUTHENTICATED', 'nobody has signed in within ten minutes'));
  }, WAIT_MS_MAX);
  return {
    redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    code: promise,
    close: () => {
      clearTimeout(timer);
      server.close();
      server.closeAllConnections();
    },
  };
}

function tell(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  const page = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Skein</title><h1>${text}</h1></html>`;
  response.end(page);
}
