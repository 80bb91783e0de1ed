import { promises as dns } from 'node:dns';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { createSecureContext, getCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDns, startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts';
import { allowedAddresses } from '../outbound/allowed-addresses.ts';
import { callReceiver, type CallEnd, type CallOptions } from './call-receiver.ts';

/** Calls of a real receiver over HTTPS, whose name a server of DNS of the test tells. */
let receiver: WebhookReceiver;
let names: Awaited<ReturnType<typeof startDns>>;
const resolver = new dns.Resolver({ timeout: 1_000, tries: 1 });

beforeAll(async () => {
  receiver = await startWebhookReceiver(['hooks.example.org', '127.0.0.1']);
  names = await startDns('127.0.0.1');
  resolver.setServers([names.server]);
});
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await names[Symbol.asyncDispose]();
});

const trusted = (): CallOptions['trust'] => createSecureContext({ ca: [readFileSync(receiver.caFile, 'utf8')] });

function call(url: string, options: Partial<CallOptions> = {}, body = '{"id":1}'): Promise<CallEnd> {
  return callReceiver(
    { url, headers: { 'X-Service-Event-Type': 'create_user' }, body: Buffer.from(body) },
    {
      isAllowed: allowedAddresses(['127.0.0.1']),
      resolver,
      trust: trusted(),
      timeoutMs: 2_000,
      signal: new AbortController().signal,
      ...options,
    },
  );
}
const named = (path = '/'): string => `https://hooks.example.org:${receiver.port}${path}`;

test('a receiver gets the bytes, and its status is the end', async () => {
  receiver.answer = (response) => void response.writeHead(202).end('thanks');
  expect(await call(named('/a?b=c'), {}, '{"ü":"→"}')).toEqual({ status: 202 });
  expect(receiver.received.at(-1)).toMatchObject({
    path: '/a?b=c',
    body: '{"ü":"→"}',
    headers: { 'x-service-event-type': 'create_user', host: `hooks.example.org:${receiver.port}` },
  });
});

test('a redirect is an answer, and is not followed', async () => {
  receiver.answer = (response) => void response.writeHead(307, { location: named('/elsewhere') }).end();
  expect(await call(named('/here'))).toEqual({ status: 307 });
  expect(receiver.received.at(-1)?.path).toBe('/here');
});

test('one that stalls is cut off at the end of its time, before and within its answer', async () => {
  receiver.answer = () => undefined;
  expect(await call(named(), { timeoutMs: 300 })).toEqual({ problem: 'no answer within 0.3 s' });
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  expect(await call(`https://hooks.example.org:${port}/`, { timeoutMs: 300 })).toEqual({
    problem: 'no answer within 0.3 s',
  });
  silent.close();
});

test('an answer without end is left after 4 KiB; its status counts', async () => {
  let written = 0;
  receiver.answer = (response) => {
    response.writeHead(200);
    const more = (): void => {
      if (response.destroyed) return;
      written += 4_096;
      response.write(Buffer.alloc(4_096), () => setImmediate(more));
    };
    more();
  };
  expect(await call(named())).toEqual({ status: 200 });
  const before = written;
  await expect.poll(() => written - before, { interval: 50 }).toBeLessThan(50_000_000);
});

test('a certificate must be of a known authority, and of the host', async () => {
  receiver.answer = (response) => void response.writeHead(204).end();
  const count = receiver.received.length;
  const trust = createSecureContext({ ca: getCACertificates('default') });
  expect(await call(named(), { trust })).toEqual({ problem: 'the certificate is of an unknown authority' });
  expect(await call(`https://other.example.org:${receiver.port}/`)).toEqual({
    problem: 'the certificate is of another host',
  });
  expect(receiver.received).toHaveLength(count);
});

test('an address that is not public is refused when it is connected to: by name, by number, and after DNS has moved', async () => {
  receiver.answer = (response) => void response.writeHead(204).end();
  const count = receiver.received.length;
  const isAllowed = allowedAddresses([]);
  const refused = { problem: 'the host has no address that is public' };
  for (const url of [
    named(),
    `https://127.0.0.1:${receiver.port}/`,
    `https://127.1:${receiver.port}/`,
    `https://0x7f000001:${receiver.port}/`,
    `https://[::1]:${receiver.port}/`,
    `https://[::ffff:127.0.0.1]:${receiver.port}/`,
    'https://169.254.169.254/latest/meta-data/',
  ]) {
    expect([url, await call(url, { isAllowed })]).toEqual([url, refused]);
  }
  // The name led to a public address when the webhook was made, which another test or nobody answers at.
  names.address = '192.0.2.1';
  const isPublicOnce = allowedAddresses(['192.0.2.0/24']);
  expect(await call(named(), { isAllowed: isPublicOnce, timeoutMs: 200 })).toMatchObject({
    problem: expect.not.stringMatching('public'),
  });
  names.address = '127.0.0.1';
  expect(await call(named(), { isAllowed: isPublicOnce })).toEqual(refused);
  expect(receiver.received).toHaveLength(count);
  expect(await call(named())).toEqual({ status: 204 });
});

test('a name without an address, a closed port and the end of the process are told apart', async () => {
  const resolverOfNobody = { resolve4: () => Promise.reject(new Error('x')), resolve6: () => Promise.resolve([]) };
  expect(await call(named(), { resolver: resolverOfNobody as unknown as CallOptions['resolver'] })).toEqual({
    problem: 'the name of the host has no address',
  });
  expect(await call('https://hooks.example.org:1/')).toEqual({ problem: 'the receiver refuses connections' });
  const ending = new AbortController();
  receiver.answer = () => ending.abort();
  await expect(call(named(), { signal: ending.signal })).rejects.toThrow();
});
