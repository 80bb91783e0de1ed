import { Server, status, type Client, type ServerUnaryCall, type ServiceError } from '@grpc/grpc-js';
import { afterEach, expect, test } from 'vitest';
import { fixedKeyring } from '#shared/keyring.ts';
import { startSilentWire } from '#test/support/silent-wire.ts';
import { AddressList } from './address-list.ts';
import { plainSecurity } from './channel-security.ts';
import { loadService } from './load-proto.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';
import { patience } from '#test/support/run/slowness.ts';

const WORKER = loadService('worker.proto', 'skein.worker.v1.Worker');
const security = plainSecurity(fixedKeyring('the-secret-of-the-cluster'));

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

/** A server that answers with its name, behind a wire that can fall silent: bytes vanish, and connections stay. */
async function serve(name: string): Promise<{ readonly address: string; silence(silent: boolean): void }> {
  const server = new Server();
  server.addService(WORKER.definition, {
    Reach: (_call: ServerUnaryCall<object, object>, callback: (error: object | null) => void) =>
      callback({ code: status.FAILED_PRECONDITION, details: name }),
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', security.serverCredentials('127.0.0.1'), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  closers.push(() => server.forceShutdown());
  const wire = await startSilentWire({ host: '127.0.0.1', port });
  closers.push(() => wire[Symbol.dispose]());
  return { address: `127.0.0.1:${wire.port}`, silence: (isSilent) => wire.silence(isSilent) };
}

function dial(list: AddressList): Client {
  const client = security.dial(
    WORKER.Client,
    { address: list, role: 'worker' },
    {
      'grpc.keepalive_time_ms': patience(300),
      'grpc.keepalive_timeout_ms': patience(300),
      'grpc.keepalive_permit_without_calls': 1,
    },
  );
  closers.push(() => client.close());
  return client;
}

/** The name of the server that answers; `lost` without an answer. */
const ask = (client: Client): Promise<string> =>
  new Promise((resolve) => {
    const reach = (client as unknown as Record<string, (...args: unknown[]) => void>)['Reach'];
    reach?.call(client, {}, { deadline: Date.now() + 5_000 }, (error: ServiceError | null) =>
      resolve(error?.code === status.FAILED_PRECONDITION ? error.details : 'lost'),
    );
  });

test('the first that answers is used, and the next one soon after it has fallen silent', async () => {
  const [one, other] = [await serve('one'), await serve('other')];
  const client = dial(new AddressList([one.address, other.address]));
  expect(await ask(client)).toBe('one');
  one.silence(true);
  const startMs = performance.now();
  expect(await ask(client)).toBe('lost');
  expect(await ask(client)).toBe('other');
  expect(performance.now() - startMs).toBeLessThan(3_000 * machineSlowness());
  one.silence(false);
  expect(await ask(client)).toBe('other');
});

test('one that is silent from the beginning costs less than two seconds', async () => {
  const [one, other] = [await serve('one'), await serve('other')];
  one.silence(true);
  const client = dial(new AddressList([one.address, '127.0.0.1:1', other.address]));
  const startMs = performance.now();
  expect(await ask(client)).toBe('other');
  expect(performance.now() - startMs).toBeLessThan(2_000 * machineSlowness());
});

test('one that says that it can do nothing is left for the next one, and clients stay there', async () => {
  const [one, other] = [await serve('one'), await serve('other')];
  const list = new AddressList([one.address, other.address]);
  const client = dial(list);
  expect(await ask(client)).toBe('one');
  list.avoid(one.address);
  await expect.poll(() => ask(client), { timeout: patience(2_000) }).toBe('other');
  await new Promise((resolve) => setTimeout(resolve, 6_000));
  expect(await ask(client)).toBe('other');
  // There is nobody else.
  const alone = new AddressList([one.address]);
  alone.avoid(one.address);
  expect(await ask(dial(alone))).toBe('one');
}, 20_000);

test('a list that changes is followed', async () => {
  const [one, other] = [await serve('one'), await serve('other')];
  const list = new AddressList(['127.0.0.1:1']);
  const client = dial(list);
  expect(await ask(client)).toBe('lost');
  list.set([other.address]);
  await expect.poll(() => ask(client), { timeout: patience(5_000) }).toBe('other');
  list.set([one.address]);
  await expect.poll(() => ask(client), { timeout: patience(5_000) }).toBe('one');
  // Plaintext leads to this machine only, whoever puts an address into the list.
  list.set(['192.0.2.1:1', other.address]);
  const startMs = performance.now();
  await expect.poll(() => ask(client), { timeout: patience(5_000) }).toBe('other');
  expect(performance.now() - startMs).toBeLessThan(2_000 * machineSlowness());
});

test('no address of a list may be beyond loopback without mutual TLS', () => {
  expect(() => dial(new AddressList(['127.0.0.1:1', '10.0.0.1:1']))).toThrow('mutual TLS');
});
