import { readFileSync, writeFileSync, copyFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { connect as tlsConnect, createServer as createTlsServer } from 'node:tls';
import { credentials, Server, type Client, type ServerUnaryCall, type ServiceError } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { defaultConfig, type Config } from '#shared/config/config-schema.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { TestCertificates, type TlsSettings } from '#test/support/certificates.ts';
import { openChannelSecurity, plainSecurity, type ChannelSecurity } from './channel-security.ts';
import type { ClusterRole } from './cluster-role.ts';
import { fromServiceError, internalMetadata, toServiceError } from './internal-auth.ts';
import { loadService } from './load-proto.ts';

const SECRET = 'the-secret-of-the-cluster';
const WORKER = loadService('worker.proto', 'skein.worker.v1.Worker');

let ours: TestCertificates;
let others: TestCertificates;
const certificates: Record<string, TlsSettings> = {};
beforeAll(async () => {
  [ours, others] = await Promise.all([TestCertificates.make(), TestCertificates.make()]);
  for (const role of ['worker', 'coordinator', 'operator'] as const)
    certificates[role] = await ours.issue(role, [role]);
  certificates['stranger'] = await others.issue('stranger', ['worker', 'coordinator']);
});
afterAll(() => Promise.all([ours, others].map((one) => one?.[Symbol.asyncDispose]())));

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function security(role: ClusterRole, tls = certificates[role], settings: Partial<Config> = {}): ChannelSecurity {
  const opened = openChannelSecurity(
    defaultConfig({ 'cluster.secret': SECRET, 'cluster.reload_interval': 20, ...tls, ...settings }),
    role,
    silentLogger,
  );
  closers.push(() => opened[Symbol.dispose]());
  return opened;
}

/** Starts a server with one call, Drain, which coordinators may make; returns its address. */
async function serve(at: ChannelSecurity): Promise<string> {
  const server = new Server();
  server.addService(WORKER.definition, {
    Drain: (call: ServerUnaryCall<object, object>, callback: (error: object | null, reply?: object) => void) => {
      try {
        at.admit(call, ['coordinator']);
        callback(null, {});
      } catch (error) {
        callback(toServiceError(error));
      }
    },
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', at.serverCredentials('127.0.0.1'), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  closers.push(() => server.forceShutdown());
  return `127.0.0.1:${port}`;
}

function drain(client: Client, secret = SECRET): Promise<string> {
  return new Promise((resolve) => {
    const call = (client as unknown as Record<string, (...args: unknown[]) => void>)['Drain'];
    const options = { deadline: Date.now() + 5_000 };
    call?.call(client, {}, internalMetadata(fixedKeyring(secret)), options, (error: ServiceError | null) => {
      client.close();
      resolve(error === null ? 'done' : fromServiceError(error, 'WORKER_LOST').code);
    });
  });
}

/** Calls the server as `role`; `unproven` collects the reasons why the server was not trusted. */
function callAs(at: ChannelSecurity, address: string, role: ClusterRole = 'worker', unproven: string[] = []) {
  return drain(at.dial(WORKER.Client, { address, role, onUnproven: (reason) => unproven.push(reason) }));
}

test('a coordinator and a worker of one authority talk; the secret is asked for as well', async () => {
  const address = await serve(security('worker'));
  expect(await callAs(security('coordinator'), address)).toBe('done');
  const without = security('coordinator', undefined, { 'cluster.secret': 'another' });
  expect(await drain(without.dial(WORKER.Client, { address, role: 'worker' }), 'another')).toBe('UNAUTHENTICATED');
});

test('a certificate counts for its role only: a worker cannot call as a coordinator, nor answer as one', async () => {
  const address = await serve(security('worker'));
  expect(await callAs(security('worker'), address)).toBe('FORBIDDEN');
  const unproven: string[] = [];
  expect(await callAs(security('coordinator'), address, 'catalog', unproven)).toBe('WORKER_LOST');
  expect(unproven[0]).toContain('not that of a catalog');
});

test('a client of another authority, without a certificate, or in plaintext is not served', async () => {
  const address = await serve(security('worker'));
  expect(await callAs(security('coordinator', certificates['stranger']), address)).toBe('WORKER_LOST');
  const ca = readFileSync(certificates['worker']?.['cluster.tls_ca'] ?? '');
  const options = { checkServerIdentity: () => undefined };
  expect(await drain(new WORKER.Client(address, credentials.createSsl(ca, null, null, options)))).toBe('WORKER_LOST');
  expect(await drain(new WORKER.Client(address, credentials.createInsecure()))).toBe('WORKER_LOST');
});

/** Starts a server of an attacker, which records everything that it is sent. */
async function rogue(kind: string): Promise<{ address: string; seen: () => string }> {
  let seen = '';
  const keep = (socket: NodeJS.ReadWriteStream): void => {
    socket.on('data', (data: Buffer) => (seen += data.toString('latin1')));
    socket.on('error', () => undefined);
    if (kind === 'plaintext') socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
  };
  const tls = certificates[kind];
  const server =
    tls === undefined
      ? createServer(keep)
      : createTlsServer(
          {
            cert: readFileSync(tls['cluster.tls_cert']),
            key: readFileSync(tls['cluster.tls_key']),
            ALPNProtocols: ['h2'],
          },
          keep,
        );
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen: () => seen };
}

test.each(['plaintext', 'stranger', 'operator'])('a server that is %s never sees the secret', async (kind) => {
  const { address, seen } = await rogue(kind);
  const unproven: string[] = [];
  expect(await callAs(security('coordinator'), address, 'worker', unproven)).toBe('WORKER_LOST');
  expect(unproven.length).toBeGreaterThan(0);
  // HTTP/2 compresses headers, so the secret's text would not be visible: the test checks that no HTTP/2 connection has begun.
  if (kind === 'plaintext') expect(seen().slice(0, 2)).toBe('\x16\x03');
  else expect(seen()).toBe('');
  expect(seen()).not.toContain('PRI * HTTP/2.0');
});

test('without certificates nothing beyond loopback is dialled or listened on', () => {
  const plain = plainSecurity(fixedKeyring(SECRET));
  for (const address of ['10.0.0.1:8090', 'worker-1:8090', '[fd00::1]:8090', 'dns:///127.0.0.1:80', 'unix:/tmp/x']) {
    expect(() => plain.dial(WORKER.Client, { address, role: 'worker' }), address).toThrow('mutual TLS');
  }
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'worker-1']) {
    expect(() => plain.serverCredentials(host), host).toThrow('mutual TLS');
  }
  plain.dial(WORKER.Client, { address: '127.0.0.1:1', role: 'worker' }).close();
  plain.dial(WORKER.Client, { address: '[::1]:1', role: 'worker' }).close();
});

test('a process does not start with a certificate of another role, without its key, or after its end', async () => {
  expect(() => security('worker', certificates['coordinator'])).toThrow(
    'is for coordinator; this process needs one for worker',
  );
  const mixed = { ...certificates['worker'], 'cluster.tls_key': certificates['operator']?.['cluster.tls_key'] ?? '' };
  expect(() => security('worker', mixed as TlsSettings)).toThrow('is not the key');
  const absent = { ...certificates['worker'], 'cluster.tls_ca': '/nonexistent/ca.pem' };
  expect(() => security('worker', absent as TlsSettings)).toThrow('cannot read /nonexistent/ca.pem');
});

/** Returns the serial number of the certificate that a server currently presents. */
function serialOf(address: string, client: TlsSettings): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = tlsConnect({
      port: Number(address.split(':')[1]),
      host: '127.0.0.1',
      ca: readFileSync(client['cluster.tls_ca']),
      cert: readFileSync(client['cluster.tls_cert']),
      key: readFileSync(client['cluster.tls_key']),
      checkServerIdentity: () => undefined,
      ALPNProtocols: ['h2'],
    });
    socket.once('secureConnect', () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

test('a new certificate is taken while the server runs, when its key is there; new clients use theirs', async () => {
  const tls = await ours.issue('renewed', ['worker', 'coordinator']);
  const at = security('worker', tls);
  const address = await serve(at);
  const before = await serialOf(address, tls);
  // The certificate comes before its key: until then the old pair is in use.
  const oldKey = readFileSync(tls['cluster.tls_key']);
  await ours.issue('renewed', ['worker', 'coordinator']);
  const newKey = readFileSync(tls['cluster.tls_key']);
  writeFileSync(tls['cluster.tls_key'], oldKey);
  expect(await callAs(at, address)).toBe('done');
  writeFileSync(tls['cluster.tls_key'], newKey);
  await expect.poll(() => serialOf(address, tls)).not.toBe(before);
  expect(await callAs(at, address)).toBe('done');
});

test('the authority is replaced while services run: both are trusted, then certificates change, then the old one goes', async () => {
  const server = await ours.issue('moving-server', ['worker']);
  const client = await ours.issue('moving-client', ['coordinator']);
  const address = await serve(security('worker', server));
  const caller = security('coordinator', client);
  const next = await others.issue('next-server', ['worker']);
  const nextClient = await others.issue('next-client', ['coordinator']);
  const [oldCa, newCa] = [server, next].map((tls) => readFileSync(tls['cluster.tls_ca'], 'utf8'));
  const step = async (change: () => void): Promise<void> => {
    change();
    for (let i = 0; i < 10; i++) {
      expect(await callAs(caller, address)).toBe('done');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const trust = (text: string): void => {
    for (const tls of [server, client]) writeFileSync(tls['cluster.tls_ca'], text);
  };
  const take = (to: TlsSettings, from: TlsSettings): void => {
    for (const key of ['cluster.tls_key', 'cluster.tls_cert'] as const) copyFileSync(from[key], to[key]);
  };
  await step(() => undefined);
  await step(() => trust(`${oldCa}${newCa}`));
  await step(() => take(server, next));
  await step(() => take(client, nextClient));
  await step(() => trust(newCa ?? ''));
  expect(await callAs(security('coordinator', certificates['coordinator']), address)).toBe('WORKER_LOST');
});
