import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCatalog, type RunningCatalog } from '#catalog/main.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { KNOWN_WITHIN_MS } from '#test/support/known-within.ts';

let first: TestCatalog;
/** A second catalog on the same database, behind a proxy that the tests break. */
let second: RunningCatalog;
let proxy: Server;
let proxiedUrl: string;
/** Connections on which the second catalog receives epoch changes. */
const listeners = new Set<Socket>();
let onListener: (socket: Socket) => void = () => undefined;
/** Number of the next such connections that get no answer. */
let keptWaiting = 0;

beforeAll(async () => {
  first = await startTestCatalog();
  const postgres = new URL(first.databaseUrl);
  const behind = { host: postgres.hostname, port: Number(postgres.port) };
  proxy = createServer((socket) => {
    const upstream = connect(behind);
    for (const end of [socket, upstream]) end.on('error', () => undefined);
    socket.on('close', () => upstream.destroy());
    upstream.on('close', () => socket.destroy());
    upstream.pipe(socket);
    socket.once('data', (head) => {
      if (head.includes('skein-catalog-notifications')) {
        if (keptWaiting > 0) {
          keptWaiting -= 1;
          return;
        }
        listeners.add(socket);
        socket.on('close', () => listeners.delete(socket));
        onListener(socket);
      }
      upstream.write(head);
      socket.pipe(upstream);
      socket.on('freeze', () => {
        socket.unpipe(upstream);
        upstream.unpipe(socket);
      });
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => proxy.once('listening', resolve));
  postgres.port = String((proxy.address() as AddressInfo).port);
  proxiedUrl = postgres.href;
  second = await startCatalog({ ...first.config, 'database.url': proxiedUrl }, silentLogger);
});
afterAll(async () => {
  await second?.close();
  proxy?.close();
  await first?.[Symbol.asyncDispose]();
});

test('a catalog starts although Postgres takes too long to accept that connection', async () => {
  keptWaiting = 1;
  const third = await startCatalog({ ...first.config, 'database.url': proxiedUrl }, silentLogger);
  await third.close();
  expect(keptWaiting).toBe(0);
});

let made = 0;
type Client = { readonly name: string; readonly token: string };
/** Returns a client whose token both catalogs have verified and cached. */
async function signedIn(): Promise<Client> {
  made += 1;
  const name = `client-${made}`;
  const secret = await first.call<{ client_id: string; client_secret: string }>('CreateClient', {
    tenant: 'default',
    name,
  });
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...secret });
  const response = await fetch(`${second.url}/v1/oauth/tokens`, { method: 'POST', body });
  const { access_token: token } = (await response.json()) as { access_token: string };
  expect(await statuses(token)).toEqual([200, 200]);
  return { name, token };
}
const statuses = (token: string): Promise<number[]> =>
  Promise.all(
    [first.running.url, second.url].map(
      async (url) => (await fetch(`${url}/v1/catalogs`, { headers: { authorization: `Bearer ${token}` } })).status,
    ),
  );
async function expectKnown(token: string): Promise<void> {
  await expect.poll(() => statuses(token), { timeout: KNOWN_WITHIN_MS, interval: 20 }).toEqual([401, 401]);
}

describe('a token that has ended is refused by every catalog, also one that remembers it', () => {
  test('when its client is dropped', async () => {
    const { name, token } = await signedIn();
    await first.call('DropClient', { tenant: 'default', name });
    await expectKnown(token);
  });

  test('when its client gets a new secret', async () => {
    const { name, token } = await signedIn();
    await first.call('RotateClient', { tenant: 'default', name });
    await expectKnown(token);
  });

  test('when its tenant goes with all that it has', async () => {
    await first.call('CreateTenant', { name: 'gone', admin_user: 'g', admin_password: 'a long enough password' });
    const token = await first.mint({ tenant: 'gone', user: 'g' });
    expect(await statuses(token)).toEqual([200, 200]);
    await first.call('DropTenant', { name: 'gone' });
    await expectKnown(token);
    // A namesake is another tenant.
    await first.call('CreateTenant', { name: 'gone', admin_user: 'g', admin_password: 'a long enough password' });
    expect(await statuses(token)).toEqual([401, 401]);
  });

  test('when the connection that tells of it is dead without a word', async () => {
    const { name, token } = await signedIn();
    expect(listeners.size).toBe(1);
    for (const socket of listeners) socket.emit('freeze');
    await first.call('DropClient', { tenant: 'default', name });
    await expectKnown(token);
  });

  test('when Postgres takes no connection for it', async () => {
    const { name, token } = await signedIn();
    onListener = (socket) => socket.destroy();
    for (const socket of listeners) socket.destroy();
    try {
      await first.call('DropClient', { tenant: 'default', name });
      await expectKnown(token);
    } finally {
      onListener = () => undefined;
    }
    await expect.poll(() => listeners.size, { timeout: 5_000 }).toBe(1);
  });
});
