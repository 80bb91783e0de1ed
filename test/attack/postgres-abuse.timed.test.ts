import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { Random } from '#test/fuzz/random.ts';
import { ADMIN_PASSWORD, settingsEnv, type StartedCluster } from '#test/support/cluster.ts';
import { INSPECTABLE, InspectedProcess } from '#test/support/inspected-process.ts';
import { clientMessage, int16, int32, PostgresWire } from '#test/support/postgres-wire.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { fixedSeed } from '#test/support/seed.ts';
import { residentBytes } from '#test/support/worker-process.ts';

/**
 * Clients of the Postgres wire that do what no driver does. Whatever they do: the coordinator does not end, what they held is given back, and
 * another client's statements go on.
 */
let cluster: StartedCluster;
let url: URL;
let bystander: pg.Client;
let coordinator: InspectedProcess;

const MIB = 2 ** 20;
/** As for Flight SQL (`flight-abuse.full.test.ts`): the goal is twice the time of a calm machine, which others may load. */
const QUICK_MS_MAX = 500;
const HELD_BYTES_MAX = 100 * MIB;
const FILES_MAX = 15;
const GIVEN_BACK_MS = 20_000;
const CALLS_MIN = 20;
/** Connections that wait, the memory that they may take, and the time in which another one is served beside them. */
const IDLE = 2_000;
const IDLE_BYTES_MAX = 100 * MIB;
const SERVED_MS_MAX = 100;
const LONG = 'SELECT count(*) FROM range(3000000000) a(i), range(1000) b(j) WHERE hash(i + j) = 1';

beforeAll(async () => {
  const settings = settingsEnv({
    'coordinator.result_wait': '1s',
    'coordinator.result_ttl': '3s',
    'cluster.sign_in_timeout': '3s',
    'coordinator.postgres_connections_max': String(IDLE + 100),
    'coordinator.postgres_connections_per_principal_max': String(IDLE + 100),
  });
  cluster = await startOwnCluster({ workers: 1, env: { ...settings, ...INSPECTABLE } });
  coordinator = await InspectedProcess.open(cluster, 'coordinator');
  url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password] = [cluster.ready.user, ADMIN_PASSWORD];
  bystander = await connected();
}, 300_000);
afterAll(async () => {
  await bystander?.end();
  coordinator?.[Symbol.dispose]();
  await cluster?.stop();
});

async function connected(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url.href });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/** The 95th percentile of the times of quick statements, one after the other: of twenty, or of more until the work is done. */
async function quickMs(work: Promise<unknown> = Promise.resolve()): Promise<number> {
  const times: number[] = [];
  const ended = new AbortController();
  const end = (): void => ended.abort();
  void work.then(end, end);
  while (times.length < CALLS_MIN || !ended.signal.aborted) {
    const startMs = performance.now();
    expect((await bystander.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    times.push(performance.now() - startMs);
  }
  times.sort((a, b) => a - b);
  return must(times[Math.floor(0.95 * (times.length - 1))], 'calls');
}

type Held = { readonly files: number; readonly bytes: number };
async function held(): Promise<Held> {
  const pid = await cluster.pidOf('coordinator');
  await coordinator.returnMemory();
  return { files: readdirSync(`/proc/${pid}/fd`).length, bytes: residentBytes(pid) };
}

/** Runs an abuse while the bystander works; then everything is as it was. */
async function abuse(work: () => Promise<void>): Promise<void> {
  const calmMs = await quickMs();
  const before = await held();
  const pid = await cluster.pidOf('coordinator');
  const abusing = work();
  const meanwhileMs = await quickMs(abusing);
  await abusing;
  expect(await cluster.pidOf('coordinator')).toBe(pid);
  process.stdout.write(`a quick statement: ${calmMs.toFixed(0)} ms, meanwhile ${meanwhileMs.toFixed(0)} ms\n`);
  expect(meanwhileMs).toBeLessThan(Math.max(2 * calmMs, QUICK_MS_MAX));
  const grown = async (): Promise<readonly string[]> => {
    const { files, bytes } = await held();
    return [
      ...(files < before.files + FILES_MAX ? [] : [`${files} open files, ${before.files} before`]),
      ...(bytes < before.bytes + HELD_BYTES_MAX ? [] : [`${bytes} bytes, ${before.bytes} before`]),
    ];
  };
  await expect.poll(grown, { timeout: GIVEN_BACK_MS, interval: 500 }).toEqual([]);
  await expect.poll(running, { timeout: GIVEN_BACK_MS, interval: 500 }).toEqual([]);
}

/** The statements that run, but this one. */
async function running(): Promise<readonly string[]> {
  const rows = await cluster.sql('SHOW QUERIES');
  return rows.map((row) => JSON.stringify(row)).filter((row) => !row.includes('SHOW QUERIES'));
}

async function raw(): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

/** Sends bytes, and waits until the server ends the connection, or for a moment. @returns the answer */
async function answerTo(bytes: Buffer, ms = 300): Promise<string> {
  const socket = await raw();
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.write(bytes);
  await Promise.race([once(socket, 'close'), sleep(ms)]);
  socket.destroy();
  return Buffer.concat(chunks).toString('latin1');
}

test('random bytes, before and after the sign-in', async () => {
  const random = new Random(fixedSeed());
  await abuse(async () => {
    for (let i = 0; i < 60; i += 1) await answerTo(random.bytes(1 + random.below(500)), 30);
    for (let i = 0; i < 30; i += 1) {
      await using wire = await PostgresWire.open(url);
      wire.socket.write(random.bytes(1 + random.below(2_000)));
      await Promise.race([once(wire.socket, 'close'), sleep(30)]);
      wire.socket.destroy();
    }
  });
}, 120_000);

test('messages that are cut, too long, or of another order, get their SQLSTATE, and end the connection where nothing can follow', async () => {
  const start = (length: number): Buffer => Buffer.concat([int32(length), int32(196_608), Buffer.from('user\0a\0\0')]);
  expect(await answerTo(start(20_000))).toContain('C08P01');
  expect(await answerTo(Buffer.concat([int32(8), int32(2 << 16)]))).toContain('C08P01');
  const wire = await PostgresWire.open(url);
  wire.bind('', 'none').execute('none').describe('P', 'none').sync();
  expect(await wire.ready()).toEqual(['E 26000', 'Z I']);
  wire.execute('none').sync();
  expect(await wire.ready()).toEqual(['E 34000', 'Z I']);
  wire.send('B', '', '', int16(2)).sync();
  expect(await wire.ready()).toEqual(['E 26000', 'Z I']);
  wire.parse('', 'SELECT $1').sync();
  await wire.ready();
  wire.send('B', '', '', int16(0), int16(1), int32(99)).sync();
  expect(await wire.ready()).toEqual(['E 08P01', 'Z I']);
  // A length that no message may have: what follows cannot be found.
  wire.socket.write(Buffer.concat([Buffer.from('Q'), int32(2 ** 31 - 1)]));
  expect(await wire.ready()).toEqual(['E 54000']);
  const other = await PostgresWire.open(url);
  other.socket.write(clientMessage('?'));
  expect(await other.ready()).toEqual(['E 08P01']);
}, 60_000);

test('a thousand connections that begin and say nothing end, and others sign in meanwhile', async () => {
  await abuse(async () => {
    const sockets = await Promise.all(Array.from({ length: 1_000 }, () => raw().catch(() => undefined)));
    const half = sockets.slice(0, 500);
    for (const socket of half) socket?.write(Buffer.from([0, 0]));
    const client = await connected().catch(() => undefined);
    await client?.end();
    const open = (): number => sockets.filter((socket) => socket !== undefined && !socket.destroyed).length;
    for (const socket of sockets) socket?.resume();
    await expect.poll(open, { timeout: 15_000, interval: 200 }).toBe(0);
    await (await connected()).end();
  });
}, 120_000);

test('two thousand connections that wait take little memory, and another one is served at once', async () => {
  const before = await held();
  const wires: PostgresWire[] = [];
  try {
    while (wires.length < IDLE) {
      const some = await Promise.all(Array.from({ length: 50 }, () => PostgresWire.open(url)));
      wires.push(...some);
      await Promise.all(some.map((wire) => wire.query('SELECT 1')));
    }
    // The rights of those that wait are looked at twice a second.
    await sleep(2_000);
    const { bytes } = await held();
    let servedMs = Infinity;
    for (let take = 0; take < 5; take += 1) {
      const startMs = performance.now();
      const wire = await PostgresWire.open(url);
      expect(await wire.query('SELECT 1 AS one')).toContain('D 1');
      servedMs = Math.min(servedMs, performance.now() - startMs);
      await wire[Symbol.asyncDispose]();
    }
    const grown = bytes - before.bytes;
    const said = `${IDLE} connections that wait take ${Math.round(grown / MIB)} MiB; another one is served within ${servedMs.toFixed(0)} ms`;
    process.stdout.write(`${said}\n`);
    expect(grown).toBeLessThan(IDLE_BYTES_MAX);
    expect(servedMs).toBeLessThan(SERVED_MS_MAX);
  } finally {
    for (const { socket } of wires) socket.destroy();
  }
}, 180_000);

test('clients that never read hold no place, and their rows go', async () => {
  await abuse(async () => {
    const wires = await Promise.all(Array.from({ length: 5 }, () => PostgresWire.open(url)));
    for (const { socket } of wires) {
      socket.pause();
      socket.write(clientMessage('Q', "SELECT repeat('x', 1000) FROM range(200000)"));
    }
    await sleep(1_000);
    await expect.poll(running, { timeout: 60_000, interval: 500 }).toEqual([]);
    for (const { socket } of wires) socket.destroy();
  });
}, 120_000);

test('a storm of cancels: what is meant ends, and nothing else', async () => {
  await abuse(async () => {
    const clients = await Promise.all(Array.from({ length: 10 }, connected));
    const ends = clients.map((client) =>
      client.query(LONG).then(
        () => 'none',
        (error: unknown) => (error as { readonly code?: string }).code,
      ),
    );
    const all = Promise.all(ends);
    const over = new AbortController();
    void all.then(() => over.abort());
    while (!over.signal.aborted) {
      for (const client of clients) {
        const { processID, secretKey } = client as unknown as { processID: number; secretKey: number };
        const wrong = clientMessage('', int32(80_877_102), int32(processID), int32(secretKey ^ 1));
        for (const key of [wrong, clientMessage('', int32(80_877_102), int32(processID), int32(secretKey))]) {
          (await raw()).end(key);
        }
      }
      await sleep(100);
    }
    expect(new Set(await all)).toEqual(new Set(['57014']));
    await Promise.all(clients.map((client) => client.end()));
  });
}, 120_000);

test('the coordinator killed with two hundred sessions: they end, the next one serves, and nothing of them is left', async () => {
  const clients = await Promise.all(Array.from({ length: 200 }, connected));
  await Promise.all(
    clients.map((client, i) =>
      i % 10 === 0 ? client.query('BEGIN; DECLARE c CURSOR FOR SELECT * FROM range(1000)') : client.query('SELECT 1'),
    ),
  );
  const ended = Promise.all(clients.map((client) => new Promise((resolve) => client.once('end', resolve))));
  const pid = await cluster.pidOf('coordinator');
  process.kill(pid, 'SIGKILL');
  await ended;
  await expect
    .poll(() => cluster.pidOf('coordinator').catch(() => pid), { timeout: 30_000, interval: 200 })
    .not.toBe(pid);
  const again = async (): Promise<unknown> => {
    const client = await connected();
    const { rows } = await client.query('SELECT 1 AS one');
    await client.end();
    return rows;
  };
  await expect.poll(() => again().catch(() => undefined), { timeout: 60_000, interval: 500 }).toEqual([{ one: 1 }]);
  expect(await running()).toEqual([]);
}, 180_000);
