import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { KeepAliveClient } from './keep-alive-client.ts';

/** A server that answers each request with the next of `answers`, byte by byte, and ends a connection after an empty one. */
let server: Server;
let answers: string[];
let sockets: Socket[];
let client: KeepAliveClient;

beforeEach(async () => {
  answers = [];
  sockets = [];
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => void answer(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  client = new KeepAliveClient(`http://127.0.0.1:${port}`, 'token');
});
afterEach(() => {
  client.close();
  server.close();
});

async function answer(socket: Socket): Promise<void> {
  for (const byte of answers.shift() ?? '') {
    socket.write(byte);
    await nextTurn();
  }
}

const HEAD = 'HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n';
const chunked = (...chunks: string[]): string =>
  `${HEAD}Transfer-Encoding: chunked\r\n\r\n${[...chunks, ''].map((c) => `${c.length.toString(16)}\r\n${c}\r\n`).join('')}`;
const plain = (body: string): string => `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;

test('answers with a length, in chunks, and without a body, one after the other', async () => {
  const long = 'x\r\n0\r\n'.repeat(40);
  answers = [plain('one'), chunked('two', long, '3'), chunked(), plain(''), plain('last')];
  const bodies: string[] = [];
  for (let i = 0; i < 5; i++) bodies.push(await client.post('{}'));
  expect(bodies).toEqual(['one', `two${long}3`, '', '', 'last']);
  expect(sockets).toHaveLength(1);
});

test('another status is an error', async () => {
  answers = [plain('no').replace('200 OK', '503 Busy'), plain('yes')];
  await expect(client.post('{}')).rejects.toThrow('HTTP 503: no');
  expect(await client.post('{}')).toBe('yes');
});

test('a connection that the server closed while it was idle is not used again', async () => {
  answers = [plain('one'), plain('two')];
  expect(await client.post('{}')).toBe('one');
  const closed = once(sockets[0] as Socket, 'close');
  sockets[0]?.end();
  await closed;
  await nextTurn();
  expect(await client.post('{}')).toBe('two');
  expect(sockets).toHaveLength(2);
});

test('a connection that ends before its answer is an error', async () => {
  const asked = client.post('{}');
  await expect.poll(() => sockets.length).toBe(1);
  sockets[0]?.destroy();
  await expect(asked).rejects.toThrow();
});
