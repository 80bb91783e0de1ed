import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { answerHalfClosed } from './half-closed.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server with this listener, and a client that has sent it a request over a connection of its own. */
async function asked(listener: RequestListener, version = '1.1'): Promise<Socket> {
  const server = createServer(listener);
  answerHalfClosed(server);
  server.listen(0, '127.0.0.1');
  closers.push(() => server.close().closeAllConnections());
  await once(server, 'listening');
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  closers.push(() => socket.destroy());
  socket.write(`POST / HTTP/${version}\r\nhost: h\r\ncontent-length: 2\r\n\r\nhi`);
  return socket;
}

/** A listener that never answers; `gone` resolves when its client is known to have left. */
function silent(): { readonly listener: RequestListener; readonly begun: Promise<void>; readonly gone: Promise<void> } {
  const [begun, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const listener: RequestListener = (request, response) => {
    request.resume();
    response.once('close', () => gone.resolve());
    begun.resolve();
  };
  return { listener, begun: begun.promise, gone: gone.promise };
}

test('a client that closes its writing half behind its request is answered, however long that takes', async () => {
  const large = 'x'.repeat(600_000);
  const socket = await asked((request, response) => {
    request.resume();
    setTimeout(() => response.end(large), 300);
  });
  socket.end();
  // It reads on until the server closes the connection.
  const got = await text(socket);
  const lines = got.match(/^HTTP\/1\.1 \d+/gm) ?? [];
  expect([lines.length > 2, ...new Set(lines)]).toEqual([true, 'HTTP/1.1 102', 'HTTP/1.1 200']);
  expect(got.endsWith(large)).toBe(true);
});

test('one that then closes the other half, too, is found to have left', async () => {
  const { listener, begun, gone } = silent();
  const socket = await asked(listener);
  await begun;
  socket.end();
  expect(await Promise.race([gone.then(() => 'gone'), sleep(300)])).toBeUndefined();
  socket.destroy();
  await gone;
});

test('so is one that closes both at once', async () => {
  const { listener, begun, gone } = silent();
  const socket = await asked(listener);
  await begun;
  socket.destroy();
  await gone;
});

test('a client of HTTP/1.0 has left with its writing half, because it knows no message before the answer', async () => {
  const { listener, begun, gone } = silent();
  const socket = await asked(listener, '1.0');
  const got = text(socket);
  await begun;
  socket.end();
  await gone;
  expect(await got).toBe('');
});

test('so has one whose answer has begun', async () => {
  const { listener, begun, gone } = silent();
  const socket = await asked((request, response) => {
    listener(request, response);
    response.write('a part');
  });
  await begun;
  await once(socket, 'data');
  socket.end();
  await gone;
});

test('an answer that was given whole reaches a client that closes its half meanwhile', async () => {
  const large = 'y'.repeat(5_000_000);
  const socket = await asked((request, response) => {
    request.resume();
    response.end(large);
  });
  await once(socket, 'readable');
  socket.end();
  await sleep(50);
  expect((await text(socket)).endsWith(large)).toBe(true);
});
