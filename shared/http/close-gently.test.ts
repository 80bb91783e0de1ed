import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import fastify from 'fastify';
import { expect, test } from 'vitest';
import { closeGently } from './close-gently.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const HEAD = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n';

/** A server, and a client that has sent the head of a request. */
async function begun(): Promise<{ readonly app: ReturnType<typeof fastify>; readonly client: Socket }> {
  const app = fastify({ forceCloseConnections: 'idle', return503OnClosing: false });
  app.post('/', () => ({ answered: true }));
  const heard = once(app.server, 'request');
  await app.listen({ host: '127.0.0.1', port: 0 });
  const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  client.write(HEAD);
  await heard;
  return { app, client };
}

test('a request that has begun is answered, and its connection ends', async () => {
  const { app, client } = await begun();
  const closed = closeGently(app);
  setImmediate(() => client.write('{}'));
  expect(await text(client)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\{"answered":true\}$/);
  await closed;
});

test('one that does not go on is cut soon', async () => {
  const { app, client } = await begun();
  const startMs = performance.now();
  const cut = text(client).catch(() => 'reset');
  await closeGently(app);
  expect(performance.now() - startMs).toBeLessThan(2_000 * machineSlowness());
  expect(await cut).not.toContain('200');
});
