import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  issueClientCertificate,
  issueServerCertificate,
  makeAuthority,
  type IssuedCertificate,
} from '#cli/certificate/make-certificate.ts';
import { defaultConfig, type Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { openDoorTls } from '#shared/grpc/door-tls.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { openPostgresDoor } from './open-door.ts';

/** The Postgres door with a certificate: who comes to the password, and how. */
let ours: IssuedCertificate;
let others: IssuedCertificate;
let folder: string;

beforeAll(async () => {
  [ours, others] = await Promise.all([makeAuthority('ours', 2), makeAuthority('others', 2)]);
  folder = mkdtempSync(join(tmpdir(), 'skein-wire-tls-'));
  const { cert, key } = await issueServerCertificate(ours, { hosts: ['localhost', '127.0.0.1'], days: 1 });
  writeFileSync(path('server.pem'), cert);
  writeFileSync(path('server.key'), key);
  writeFileSync(path('clients.pem'), others.cert);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const path = (name: string): string => join(folder, name);

/** A door behind which every password is wrong. */
async function open(settings: Partial<Config> = {}) {
  const config = defaultConfig({
    'coordinator.tls_cert': path('server.pem'),
    'coordinator.tls_key': path('server.key'),
    'coordinator.postgres_port': 0,
    ...settings,
  });
  const tls = openDoorTls(config, silentLogger);
  const passwords: string[] = [];
  const door = await openPostgresDoor({
    signIn: (_user: string, password: string) => {
      passwords.push(password);
      return Promise.reject(new SkeinError('WRONG_PASSWORD', 'it is wrong'));
    },
    standby: () => undefined,
    isLeaving: () => false,
    tls,
    config,
    log: silentLogger,
  } as unknown as Parameters<typeof openPostgresDoor>[0]);
  return {
    port: Number(new URL(door.url).port),
    passwords,
    [Symbol.asyncDispose]: async () => {
      await door.close();
      tls?.[Symbol.dispose]();
    },
  };
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
};
const framed = (...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([int32(body.length + 4), body]);
};
const SSL_REQUEST = framed(int32(80_877_103));
const START = framed(int32(196_608), Buffer.from('user\0ann\0\0'));
const PASSWORD = Buffer.concat([Buffer.from('p'), framed(Buffer.from('secret\0'))]);

/** Sends a start and a password. @returns SQLSTATE of the answer, or how the connection ended */
async function signIn(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (data: Buffer) => (text += data.toString('latin1')));
  const ended = new Promise<string>((resolve) => {
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.once('close', () => resolve('closed'));
  });
  socket.write(Buffer.concat([START, PASSWORD]));
  const end = await ended;
  return /\0C(\w{5})\0/.exec(text)?.[1] ?? end;
}

/** By TLS from the first byte on, or after SSLRequest. */
async function encrypted(port: number, options: ConnectionOptions, isDirect: boolean): Promise<string> {
  const raw = connect(port, '127.0.0.1');
  if (!isDirect) {
    raw.write(SSL_REQUEST);
    const [answer] = (await once(raw, 'data')) as [Buffer];
    expect(answer.toString()).toBe('S');
  }
  const direct = isDirect ? { ALPNProtocols: ['postgresql'] } : {};
  return signIn(connectTls({ socket: raw, host: '127.0.0.1', ca: ours.cert, ...direct, ...options }));
}

test('over TLS the password is asked for, from the first byte on or after SSLRequest', async () => {
  await using door = await open();
  for (const isDirect of [true, false]) expect(await encrypted(door.port, {}, isDirect)).toBe('28P01');
  expect(door.passwords).toEqual(['secret', 'secret']);
  expect(await encrypted(door.port, { ca: others.cert }, false)).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
});

test('a door with a certificate takes no password in the clear', async () => {
  await using door = await open();
  expect(await signIn(connect(door.port, '127.0.0.1'))).toBe('28000');
  expect(door.passwords).toEqual([]);
});

test('direct TLS names the protocol', async () => {
  await using door = await open();
  expect(await encrypted(door.port, { ALPNProtocols: [] }, true)).toBe('08P01');
  expect(await encrypted(door.port, { ALPNProtocols: ['h2'] }, true)).toMatch(/ALERT|EPROTO|ECONNRESET|closed/);
  expect(door.passwords).toEqual([]);
});

test('with coordinator.tls_client_ca a client needs a certificate of that authority that is good', async () => {
  await using door = await open({ 'coordinator.tls_client_ca': path('clients.pem') });
  const client = (authority: IssuedCertificate, days = 1): Promise<IssuedCertificate> =>
    issueClientCertificate(authority, { name: 'ann', days });
  for (const isDirect of [true, false]) {
    expect(await encrypted(door.port, await client(others), isDirect)).toBe('28P01');
    for (const none of [{}, await client(ours), await client(others, -1 / 1_440)]) {
      expect(await encrypted(door.port, none, isDirect)).toMatch(/ALERT|ECONNRESET|EPIPE|closed/);
    }
  }
  expect(await signIn(connect(door.port, '127.0.0.1'))).toBe('28000');
  expect(door.passwords).toEqual(['secret', 'secret']);
});
