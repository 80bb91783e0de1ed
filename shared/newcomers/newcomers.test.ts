import { once } from 'node:events';
import { createServer as createHttp, get, Agent } from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { limitNewcomers } from './http-newcomers.ts';
import { Newcomers, peerOf } from './newcomers.ts';

const closers: (() => unknown)[] = [];
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close();
});

type Limits = ConstructorParameters<typeof Newcomers>[0];
const LIMITS: Limits = { timeoutMs: 60_000, placesMax: 100, perAddressMax: 100 };

/** A port, and connections to it from addresses of loopback. */
async function open(limits: Partial<Limits>) {
  const newcomers = new Newcomers({ ...LIMITS, ...limits });
  const accepted: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    newcomers.arrived(socket);
    accepted.push(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const join = async (localAddress = '127.0.0.1') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    closers.push(() => socket.destroy());
    const came = once(server, 'connection');
    await once(socket, 'connect');
    const [server_] = (await came) as [Socket];
    const client = { isOpen: true, peer: peerOf(server_), ended: once(socket, 'close') };
    socket.once('close', () => (client.isOpen = false));
    socket.resume();
    return client;
  };
  closers.push(() => server.close());
  return { newcomers, join };
}

test('the oldest of an address yields; one that has signed in, and one of another address, do not', async () => {
  const { newcomers, join } = await open({ perAddressMax: 2 });
  const known = await join();
  newcomers.signedIn(known.peer);
  const other = await join('127.0.0.2');
  const [first, second, third] = [await join(), await join(), await join()];
  await first.ended;
  expect([known, other, second, third].map(({ isOpen }) => isOpen)).toEqual([true, true, true, true]);
  await join();
  await second.ended;
  expect([known, other, third].map(({ isOpen }) => isOpen)).toEqual([true, true, true]);
  expect(newcomers.waiting).toBe(3);
});

test('when all places are taken, the address with the most of them yields', async () => {
  const { join } = await open({ placesMax: 4 });
  const lone = await join('127.0.0.9');
  const many = [await join(), await join(), await join()];
  const late = await join('127.0.0.2');
  await many[0]?.ended;
  expect([lone, late, ...many.slice(1)].map(({ isOpen }) => isOpen)).toEqual([true, true, true, true]);
});

test('one that the server works for yields last, and is late only when it is answered', async () => {
  const { newcomers, join } = await open({ perAddressMax: 2, timeoutMs: 300 });
  const checked = await join();
  const end = newcomers.begin(checked.peer);
  const silent = await join();
  await join();
  await silent.ended;
  expect(checked.isOpen).toBe(true);
  const beganMs = performance.now();
  await checked.ended;
  expect(performance.now() - beganMs).toBeGreaterThan(200);
  end();
  expect(newcomers.waiting).toBe(0);
});

test('when the server works for all of them, the youngest yields: the others are nearly answered', async () => {
  const { newcomers, join } = await open({ perAddressMax: 2 });
  const [first, second] = [await join(), await join()];
  for (const { peer } of [first, second]) newcomers.begin(peer);
  const third = await join();
  await second.ended;
  newcomers.begin(third.peer);
  await join();
  await third.ended;
  expect(first.isOpen).toBe(true);
});

test('a silent connection ends in time, and one that has signed in stays', async () => {
  const { newcomers, join } = await open({ timeoutMs: 200 });
  const [known, silent] = [await join(), await join()];
  newcomers.signedIn(known.peer);
  await silent.ended;
  const later = await join();
  await later.ended;
  expect(known.isOpen).toBe(true);
});

test('those that have signed in have a limit of their own', async () => {
  const { newcomers, join } = await open({ signedInMax: 1 });
  const [first, second] = [await join(), await join()];
  newcomers.signedIn(first.peer);
  newcomers.signedIn(first.peer);
  expect(() => newcomers.signedIn(second.peer)).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }));
});

test('HTTP: a request that is being answered ends before its connection does; a head that comes slowly does not', async () => {
  const newcomers = new Newcomers({ ...LIMITS, timeoutMs: 300 });
  const server = createHttp((_request, response) => setTimeout(() => response.end('late'), 450));
  limitNewcomers(server, newcomers);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const slow = connect({ port, host: '127.0.0.1' });
  const slowEnds = once(slow, 'close');
  slow.on('error', () => undefined).write('GET / HTTP/1.1\r\nhost: a\r\n');
  const agent = new Agent({ keepAlive: true });
  closers.push(() => agent.destroy());
  const text = await new Promise<string>((resolve, reject) => {
    get({ port, host: '127.0.0.1', agent }, (answer) => {
      let body = '';
      answer.on('data', (chunk: Buffer) => (body += chunk.toString())).once('end', () => resolve(body));
    }).once('error', reject);
  });
  expect(text).toBe('late');
  await slowEnds;
  await expect.poll(() => newcomers.waiting).toBe(0);
});

test('a connection ends at one refusal too many; who has signed in asks on', async () => {
  const { newcomers, join } = await open({ refusalsMax: 2 });
  const [guest, known] = [await join(), await join()];
  const ask = (peer: string): void => newcomers.begin(peer)();
  ask(known.peer);
  newcomers.signedIn(known.peer);
  for (let i = 0; i < 3; i += 1) ask(known.peer);
  for (let i = 0; i < 2; i += 1) ask(guest.peer);
  expect([guest.isOpen, newcomers.waiting]).toEqual([true, 1]);
  ask(guest.peer);
  await guest.ended;
  expect([known.isOpen, newcomers.waiting]).toEqual([true, 0]);
});
