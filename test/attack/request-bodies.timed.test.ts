import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorOf, NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';

/** Large, compressed or slow request bodies limit the sender's tenant, and nobody else. */

const MIB = 2 ** 20;
const BODY_BYTES_MAX = 16 * MIB;
const TIMEOUT_MS = 3_000;

let catalog: TestCatalog;
let rival: string;

beforeAll(async () => {
  catalog = await startTestCatalog({
    'catalog.body_bytes_max': BODY_BYTES_MAX,
    'catalog.bodies_bytes_max': 4 * BODY_BYTES_MAX,
    'catalog.request_timeout': TIMEOUT_MS,
  });
  await catalog.call('CreateTenant', { name: 'rival', admin_user: 'mallory', admin_password: 'a long password' });
  rival = await catalog.mint({ tenant: 'rival', user: 'mallory' });
});
afterAll(() => catalog?.[Symbol.asyncDispose]());

const create = (raw: Uint8Array, encoding: string, token = catalog.token): Promise<RestAnswer> =>
  catalog.rest('POST', `${NS}/default/tables`, { raw, token, headers: { 'content-encoding': encoding } });

/** Sends the head of a request with a body of `length` bytes, and the first of them. */
async function begin(token: string, length: number): Promise<Socket> {
  const { port } = new URL(catalog.running.url);
  const socket = connect(Number(port), '127.0.0.1');
  await once(socket, 'connect');
  const head = `POST ${NS}/default/tables HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${length}\r\n\r\n`;
  socket.write(`${head}{`);
  return socket;
}

/** The status with which a connection is answered. */
const statusOf = (socket: Socket): Promise<string> =>
  new Promise((resolve, reject) => {
    socket.once('data', (data: Buffer) => resolve(data.toString('latin1').slice('HTTP/1.1 '.length, 12)));
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed without an answer')));
  });

/** The status of a request whose body is as long as it may be. */
async function whole(token: string, name: string): Promise<string> {
  const socket = await begin(token, BODY_BYTES_MAX);
  const status = statusOf(socket);
  socket.write(
    JSON.stringify({ name, schema: SCHEMA })
      .slice(1)
      .padEnd(BODY_BYTES_MAX - 1, ' '),
  );
  try {
    return await status;
  } finally {
    socket.destroy();
  }
}

/** Sends three bodies of one tenant, which may have two at a time; the last one that the catalog sees is answered first. */
async function beginThree(): Promise<{ readonly sockets: readonly Socket[]; readonly firstStatus: string }> {
  const sockets = await Promise.all([1, 2, 3].map(() => begin(rival, BODY_BYTES_MAX)));
  const firstStatus = await Promise.race(sockets.map((socket) => statusOf(socket).catch(() => 'none')));
  return { sockets, firstStatus };
}

test.each([
  ['gzip', gzipSync],
  ['zstd', zstdCompressSync],
] as const)('a %s body may unpack to a hundred times its size, beyond four megabytes', async (encoding, compress) => {
  const padded = (bytes: number): Buffer =>
    Buffer.from(JSON.stringify({ name: `${encoding}_${bytes}`, schema: SCHEMA }).padEnd(bytes, ' '));
  expect((await create(compress(padded(4 * MIB)), encoding)).status).toBe(200);
  const [status, , message] = errorOf(await create(compress(padded(8 * MIB)), encoding));
  expect([status, message.replace(/\d+/, 'N')]).toEqual([413, 'the request body unpacks to more than N bytes']);
  // Random bytes do not compress, so the limit of all bodies applies.
  const noise = Buffer.concat([
    Buffer.from(Array.from({ length: MIB }, (_, i) => (i * 7_919) % 251)),
    padded(BODY_BYTES_MAX),
  ]);
  expect(errorOf(await create(compress(noise), encoding))[0]).toBe(413);
});

test('the bodies of one tenant that are on their way are limited, and leave room for those of another', async () => {
  const three = await beginThree();
  expect(three.firstStatus).toBe('429');
  expect(await whole(catalog.token, 'other')).toBe('200');
  for (const socket of three.sockets) socket.destroy();
  // Bodies of closed connections no longer count: two others are read, and answered that their tenant has no such table.
  let round = 0;
  await expect
    .poll(() => {
      round++;
      return Promise.all([whole(rival, `one_${round}`), whole(rival, `two_${round}`)]);
    })
    .toEqual(['404', '404']);
});

test('a client that sends its body slowly is cut off, and small requests are answered meanwhile', async () => {
  const socket = await begin(rival, 1_000);
  const start = performance.now();
  const drip = setInterval(() => socket.write(' '), 200);
  const answered = statusOf(socket);
  expect((await catalog.rest('GET', `${NS}/default/tables`)).status).toBe(200);
  expect(await answered).toBe('408');
  clearInterval(drip);
  socket.destroy();
  expect(performance.now() - start).toBeLessThan(5 * TIMEOUT_MS);
});
