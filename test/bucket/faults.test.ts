import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { AnyStore } from '#test/support/any-store.ts';
import { settingsEnv, type StartedCluster } from '#test/support/cluster.ts';
import { startFaultyCluster, type FaultyCluster } from '#test/support/faulty-cluster.ts';
import { OTHER_STORE_MS } from '#test/support/other-stores.ts';
import type { StoreProxy } from '#test/support/store-proxy.ts';
import { patience } from '#test/support/run/slowness.ts';

let faulty: FaultyCluster;
let store: AnyStore;
let proxy: StoreProxy;
let cluster: StartedCluster;

/** Rows that several files hold, and that no cache does. */
const ROWS = 400_000;

beforeAll(async () => {
  faulty = await startFaultyCluster({
    seed: 7,
    env: settingsEnv({ 'worker.disk_cache_size': '0', 'worker.row_cache_memory': '0' }),
  });
  ({ store, proxy, cluster } = faulty);
  await cluster.sql('CREATE SCHEMA cloud.f');
  await cluster.sql(
    `CREATE TABLE cloud.f.base PARTITIONED BY (bucket(8, id)) AS SELECT i AS id, hash(i)::VARCHAR AS text FROM range(${ROWS}) AS r(i)`,
  );
}, OTHER_STORE_MS);

afterEach(async () => {
  proxy?.set({});
  proxy?.setKeyLife(null);
  await proxy?.openPort();
});

afterAll(() => faulty?.[Symbol.asyncDispose]());

const BASE = 'SELECT count(*), sum(id), count(DISTINCT text) FROM cloud.f.base';
const BASE_ROWS = [[ROWS, String((ROWS * (ROWS - 1)) / 2), ROWS]];

/** The rows of a statement; null when it ended with an SQLSTATE. */
async function rowsOrNull(sql: string, timeoutMs = 120_000): Promise<readonly (readonly unknown[])[] | null> {
  const { status, body } = await cluster.query(sql, { timeoutMs });
  if (status === 200) return body.rows ?? [];
  expect(body.sql_state, `${sql}: ${body.message}`).toMatch(/^[0-9A-Z]{5}$/);
  return null;
}

/** Reads and writes, one after the other. @returns how many ended well; each that did is right, and so is the table afterwards */
async function work(table: string, statements: number): Promise<number> {
  await cluster.sql(`CREATE TABLE IF NOT EXISTS cloud.f.${table} (id BIGINT, v BIGINT)`).catch(() => undefined);
  let well = 0;
  let unknown = 0;
  const written = new Set<number>();
  for (let i = 0; i < statements; i++) {
    if (i % 2 === 0) {
      const rows = await rowsOrNull(BASE);
      if (rows === null) continue;
      expect(rows).toEqual(BASE_ROWS);
      well += 1;
      continue;
    }
    const { status, body } = await cluster.query(`INSERT INTO cloud.f.${table} VALUES (${i}, ${i * 3})`, {
      timeoutMs: 120_000,
    });
    if (status === 200) written.add(i);
    if (status === 200) well += 1;
    else expect(body.sql_state, String(body.message)).toMatch(/^[0-9A-Z]{5}$/);
    if (body.error === 'COMMIT_STATE_UNKNOWN') unknown += 1;
  }
  proxy.set({});
  await proxy.openPort();
  const rows = await cluster.sql(`SELECT id, v FROM cloud.f.${table} ORDER BY id`);
  const found = new Set(rows.map(([id]) => Number(id)));
  expect(rows.every(([id, v]) => Number(v) === Number(id) * 3)).toBe(true);
  expect([...written].filter((id) => !found.has(id))).toEqual([]);
  expect(found.size).toBeLessThanOrEqual(written.size + unknown);
  return well;
}

test('with one request in ten refused and one answer in ten cut, nine of ten statements are right, the rest have an SQLSTATE', async () => {
  proxy.takeCounts();
  proxy.set({ refused: 0.1, cut: 0.1 });
  expect(await work('cut', 20)).toBeGreaterThanOrEqual(18);
  expect(proxy.takeCounts().faults).toBeGreaterThan(20);
});

test('bytes that the store alters are never rows', async () => {
  proxy.set({ altered: 0.05 });
  await work('altered', 12);
  expect(await cluster.sql(BASE)).toEqual(BASE_ROWS);
});

test('a slow store costs time', async () => {
  proxy.set({ delayMs: 150, bytesPerSecond: 10e6 });
  expect(await work('slow', 4)).toBe(4);
});

test.each(['the port is closed', 'the store is killed'])(
  '%s for five seconds: no wrong row, and right afterwards',
  async (how) => {
    const isPort = how === 'the port is closed';
    const away = (async (): Promise<void> => {
      await sleep(500);
      await (isPort ? proxy.closePort() : store.kill());
      await sleep(5_000);
      await (isPort ? proxy.openPort() : store.start());
    })();
    await work(isPort ? 'closed' : 'killed', 8);
    await away;
    expect(await cluster.sql(BASE)).toEqual(BASE_ROWS);
  },
);

test('a worker that is killed in the middle of a write leaves no wrong row and no object', async () => {
  proxy.set({ delayMs: 50, bytesPerSecond: 4e6 });
  const killing = (async (): Promise<void> => {
    await sleep(1_500);
    process.kill(await cluster.pidOf('worker'), 'SIGKILL');
  })();
  const made = await rowsOrNull('CREATE TABLE cloud.f.made AS SELECT id, text FROM cloud.f.base');
  await killing;
  proxy.set({});
  if (made === null) await expect(cluster.sql('SELECT count(*) FROM cloud.f.made')).rejects.toThrow();
  else expect(await cluster.sql('SELECT count(*), sum(id) FROM cloud.f.made')).toEqual([BASE_ROWS[0]?.slice(0, 2)]);
  expect(await cluster.sql(BASE)).toEqual(BASE_ROWS);
});

test('keys that end while a scan, a CREATE TABLE AS and an OPTIMIZE run are renewed: nothing fails', async () => {
  proxy.forgetKeys();
  proxy.setKeyLife(15_000);
  proxy.takeCounts();
  const lasting = async (sql: string): Promise<void> => {
    const begunMs = performance.now();
    expect(await rowsOrNull(sql), sql).not.toBeNull();
    expect(performance.now() - begunMs, sql).toBeGreaterThan(15_000);
  };
  proxy.set({ bytesPerSecond: 500_000 });
  await lasting(BASE);
  proxy.set({ bytesPerSecond: 1_100_000 });
  await lasting('CREATE TABLE cloud.f.lasting AS SELECT id, text FROM cloud.f.base');
  proxy.set({});
  await cluster.sql(`INSERT INTO cloud.f.lasting SELECT id, text FROM cloud.f.base`);
  proxy.set({ bytesPerSecond: 2_200_000 });
  await lasting('OPTIMIZE cloud.f.lasting');
  proxy.set({});
  expect(await cluster.sql('SELECT count(*), sum(id) FROM cloud.f.lasting')).toEqual([
    [2 * ROWS, String(ROWS * (ROWS - 1))],
  ]);
  expect(proxy.takeCounts().keys).toBeGreaterThan(5);
}, 300_000);

test('keys that the store has forgotten are renewed in the middle of a statement', async () => {
  // Those of the test before end at some time: others are made now.
  proxy.forgetKeys();
  expect(await cluster.sql(BASE)).toEqual(BASE_ROWS);
  proxy.set({ bytesPerSecond: 1_000_000 });
  const forgetting = sleep(1_500).then(() => proxy.forgetKeys());
  expect(await rowsOrNull(BASE)).toEqual(BASE_ROWS);
  await forgetting;
  proxy.set({});
  expect(await cluster.sql(BASE)).toEqual(BASE_ROWS);
  // A key that was refused once begins no other statement.
  expect(proxy.takeCounts().endedKeys).toBeGreaterThan(0);
  expect(await cluster.sql(BASE)).toEqual(BASE_ROWS);
  expect(proxy.takeCounts().endedKeys).toBe(0);
});

test('keys that the store has forgotten are renewed for TRUNCATE, and for files of a stage', async () => {
  const table = 'cloud.f.emptied';
  await cluster.sql(`CREATE TABLE ${table} AS SELECT i FROM range(1000) AS r(i)`);
  await cluster.sql('CREATE STAGE cloud.f.box');
  await cluster.sql('COPY INTO @cloud.f.box/out FROM cloud.f.emptied FILE_FORMAT = (TYPE = PARQUET)');
  const names = await cluster.sql('LIST @cloud.f.box');
  expect(names.length).toBeGreaterThan(0);
  const forgotten = async (sql: string): Promise<readonly (readonly unknown[])[]> => {
    proxy.forgetKeys();
    proxy.takeCounts();
    const rows = await cluster.sql(sql);
    expect(proxy.takeCounts().keys, sql).toBeGreaterThan(0);
    return rows;
  };
  expect(await forgotten('LIST @cloud.f.box')).toEqual(names);
  expect(await forgotten(`SELECT count(*), sum(i) FROM @cloud.f.box (FILE_FORMAT => (TYPE = PARQUET))`)).toEqual([
    [1_000, '499500'],
  ]);
  await forgotten(`TRUNCATE TABLE ${table}`);
  expect(await cluster.sql(`SELECT count(*) FROM ${table}`)).toEqual([[0]]);
  await forgotten('REMOVE @cloud.f.box');
  expect(await cluster.sql('LIST @cloud.f.box')).toEqual([]);
});

/** A process that the test before has killed is back. */
const answering = (): Promise<void> =>
  expect.poll(async () => (await cluster.query('SELECT 1')).status, { timeout: patience(30_000) }).toBe(200);

/** The open uploads, once those of the test before that still run have ended. */
async function settledUploads(): Promise<number> {
  for (let last = -1; ;) {
    const now = await store.openUploads();
    if (now === last) return now;
    last = now;
    await sleep(2_000);
  }
}

test.each(['statement', 'worker', 'coordinator'] as const)(
  'a %s that ends in the middle of an upload leaves neither upload nor object',
  async (what) => {
    await answering();
    const uploads = await settledUploads();
    const before = await faulty.objects();
    proxy.set({ bytesPerSecond: 4e6 });
    const queryId = randomUUID();
    const running = cluster
      .query(
        `CREATE TABLE cloud.f.large_${what} AS SELECT i, hash(i)::VARCHAR || hash(i + 1)::VARCHAR AS t FROM range(1_600_000) AS r(i)`,
        { queryId },
      )
      .catch(() => undefined);
    await expect.poll(store.openUploads, { timeout: 60_000, interval: 50 }).toBeGreaterThan(uploads);
    if (what === 'statement') {
      const headers = { authorization: `Bearer ${await cluster.token()}` };
      await fetch(`${cluster.queryUrl}/api/query/${queryId}`, { method: 'DELETE', headers });
    } else {
      const pids = what === 'worker' ? cluster.workers().map(({ pid }) => pid) : [await cluster.pidOf(what)];
      for (const pid of pids) process.kill(pid, 'SIGKILL');
    }
    const status = (await running)?.status;
    proxy.set({});
    // Leftovers of killed processes are found by the journal, which looks again after half a minute.
    const timeout = what === 'statement' ? 15_000 : 45_000;
    if (store.endsUploads === 'skein' || (store.endsUploads === 'writer' && what === 'statement')) {
      await expect.poll(store.openUploads, { timeout }).toBe(uploads);
    }
    const left = async (): Promise<readonly string[]> =>
      (await faulty.objects()).filter((one) => !before.includes(one));
    if (status === 200) expect(await cluster.sql(`SELECT count(*) FROM cloud.f.large_${what}`)).toEqual([[1_600_000]]);
    else await expect.poll(left, { timeout }).toEqual([]);
  },
  240_000,
);

test('a statement that fails or is cancelled while it writes leaves no object', async () => {
  await answering();
  proxy.set({ bytesPerSecond: 2e6 });
  const before = await faulty.objects();
  const { body } = await cluster.query('CREATE TABLE cloud.f.cancelled AS SELECT id, text FROM cloud.f.base', {
    timeoutMs: 6_000,
  });
  expect(body.sql_state).toBe('57014');
  proxy.set({});
  const left = async (): Promise<readonly string[]> => (await faulty.objects()).filter((one) => !before.includes(one));
  await expect.poll(left, { timeout: patience(15_000) }).toEqual([]);
});
