import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect as tcpConnect, isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type ConnectionOptions } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  issueClientCertificate,
  issueServerCertificate,
  makeAuthority,
  type IssuedCertificate,
} from '#cli/certificate/make-certificate.ts';
import { defaultConfig, type Config } from '#shared/config/config-schema.ts';
import { openDoorTls } from '#shared/grpc/door-tls.ts';
import { Newcomers, newcomerLimits } from '#shared/newcomers/newcomers.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { Connections } from './flight-sql/connections.ts';
import type { FlightDoor } from './flight-sql/flight-door.ts';
import { startFlight } from './flight-sql/flight-server.ts';
import { documentedApp } from './http/documented-app.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Both doors with one certificate, and clients of the protocols beneath: what drivers see is in test/clients. */
let ours: IssuedCertificate;
let others: IssuedCertificate;
let folder: string;
const closers: (() => unknown)[] = [];

beforeAll(async () => {
  [ours, others] = await Promise.all([makeAuthority('ours', 2), makeAuthority('others', 2)]);
  folder = mkdtempSync(join(tmpdir(), 'skein-doors-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const path = (name: string): string => join(folder, name);
function install({ cert, key }: IssuedCertificate): void {
  writeFileSync(path('server.key'), key);
  writeFileSync(path('server.pem'), cert);
}
const hosts = ['localhost', '127.0.0.1'];
const served = (days = 1): Promise<IssuedCertificate> => issueServerCertificate(ours, { hosts, days });

/** Both doors, by port. */
async function open(settings: Partial<Config> = {}): Promise<{ readonly http: number; readonly flight: number }> {
  const config = defaultConfig({
    'coordinator.tls_cert': path('server.pem'),
    'coordinator.tls_key': path('server.key'),
    'cluster.reload_interval': 20,
    ...settings,
  });
  const tls = openDoorTls(config, silentLogger);
  if (tls === undefined) throw new Error('it has a certificate');
  closers.push(() => tls[Symbol.dispose]());
  const app = documentedApp({}, tls);
  app.get('/health', { schema: { operationId: 'health' } }, () => ({ status: 'ok' }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  closers.push(() => app.close());
  const flight = await startFlight({
    host: '127.0.0.1',
    port: 0,
    credentials: tls.grpcCredentials(),
    messageBytesMax: 1_000,
    newcomers: new Newcomers(newcomerLimits(config)),
    connections: new Connections(10),
    idleMs: 10_000,
    door: {} as FlightDoor,
  });
  closers.push(() => flight.close());
  const address = app.server.address();
  return { http: typeof address === 'object' && address !== null ? address.port : 0, flight: flight.port };
}

const overHttp = (port: number, options: ConnectionOptions, host = '127.0.0.1'): Promise<string> =>
  new Promise((resolve) => {
    request({ host, port, path: '/health', agent: false, ...options }, (answer) => {
      answer.resume();
      resolve(String(answer.statusCode));
    })
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .end();
  });

/** A connection of HTTP/2, on which the server's settings have come. */
const overFlight = (port: number, options: ConnectionOptions, host = '127.0.0.1'): Promise<string> =>
  new Promise((resolve) => {
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = connect({ host, port, ALPNProtocols: ['h2'], ...name, ...options });
    const end = (outcome: string): void => {
      socket.destroy();
      resolve(outcome);
    };
    socket.once('data', () => end('200'));
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
    socket.once('close', () => end('closed'));
  });

async function outcomes(
  ports: { readonly http: number; readonly flight: number },
  options: ConnectionOptions,
  host?: string,
): Promise<readonly string[]> {
  return [await overHttp(ports.http, options, host), await overFlight(ports.flight, options, host)];
}
/** Codes of a client whose certificate the server does not take; a connection that ends too soon has none. */
const REFUSED =
  /^(ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED|ERR_SSL_TLSV1_ALERT_UNKNOWN_CA|ERR_SSL_SSL\/TLS_ALERT_CERTIFICATE_EXPIRED|ECONNRESET|EPIPE|closed)$/;
const BOTH = ['200', '200'];

test('a client takes the certificate of its authority, under its names; wrong authority and wrong name are refused', async () => {
  install(await served());
  const ports = await open();
  expect(await outcomes(ports, { ca: ours.cert })).toEqual(BOTH);
  expect(await outcomes(ports, { ca: ours.cert }, 'localhost')).toEqual(BOTH);
  expect(await outcomes(ports, { ca: others.cert })).toEqual(Array(2).fill('UNABLE_TO_VERIFY_LEAF_SIGNATURE'));
  const named = { ca: ours.cert, servername: 'db.example.com' };
  expect(await outcomes(ports, named)).toEqual(Array(2).fill('ERR_TLS_CERT_ALTNAME_INVALID'));
});

test('without TLS nobody is served', async () => {
  install(await served());
  const ports = await open();
  for (const port of [ports.http, ports.flight]) {
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      const socket = tcpConnect(port, '127.0.0.1', () => socket.write('GET /health HTTP/1.1\r\nhost: a\r\n\r\n'));
      socket.on('data', (data) => (text += data.toString('latin1')));
      socket.on('error', () => undefined).on('close', () => resolve(text));
    });
    expect(answer).not.toContain('200');
  }
  expect(await outcomes(ports, { ca: ours.cert })).toEqual(BOTH);
});

test('a certificate is changed while the doors are open: new connections get it, and the old authority is no longer enough', async () => {
  install(await served());
  const ports = await open();
  expect(await outcomes(ports, { ca: ours.cert })).toEqual(BOTH);
  install(await issueServerCertificate(others, { hosts, days: 1 }));
  for (const door of [
    () => overHttp(ports.http, { ca: others.cert }),
    () => overFlight(ports.flight, { ca: others.cert }),
  ]) {
    await expect.poll(door, { timeout: patience(5_000) }).toBe('200');
  }
  expect(await outcomes(ports, { ca: ours.cert })).toEqual(Array(2).fill('UNABLE_TO_VERIFY_LEAF_SIGNATURE'));
  // A key that is not the certificate's changes nothing.
  writeFileSync(path('server.key'), ours.key);
  await sleep(100);
  expect(await outcomes(ports, { ca: others.cert })).toEqual(BOTH);
});

test('an expired certificate is refused: by the doors before they open, by clients when it ends meanwhile', async () => {
  install(await served(-1 / 1_440));
  await expect(open()).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION' });
  install(await served(2 / 86_400));
  const ports = await open();
  expect(await outcomes(ports, { ca: ours.cert })).toEqual(BOTH);
  await sleep(2_500);
  expect(await outcomes(ports, { ca: ours.cert })).toEqual(Array(2).fill('CERT_HAS_EXPIRED'));
});

test('with coordinator.tls_client_ca a client needs a certificate of that authority that is good', async () => {
  install(await served());
  writeFileSync(path('clients.pem'), others.cert);
  const ports = await open({ 'coordinator.tls_client_ca': path('clients.pem') });
  const client = (authority: IssuedCertificate, days = 1): Promise<IssuedCertificate> =>
    issueClientCertificate(authority, { name: 'ann', days });
  expect(await outcomes(ports, { ca: ours.cert, ...(await client(others)) })).toEqual(BOTH);
  for (const none of [{}, await client(ours), await client(others, -1 / 1_440)]) {
    const refused = await outcomes(ports, { ca: ours.cert, ...none });
    expect(refused).toEqual([expect.stringMatching(REFUSED), expect.stringMatching(REFUSED)]);
  }
});
