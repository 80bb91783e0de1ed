import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { startBucketCluster, type BucketCluster } from '#test/support/bucket-catalog.ts';
import { settingsEnv } from '#test/support/cluster.ts';
import { FlightClient } from '#test/support/flight-client.ts';
import { MINIO_BUILD_MS } from '#test/support/minio.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Statements of every kind over a bucket; then the secrets of all keys are looked for wherever somebody can look. */

let database: TestDatabase;
let store: BucketCluster;
const profiles: string[] = [];
const texts: Record<string, string> = {};

beforeAll(async () => {
  database = await createTestDatabase();
  // At the level `debug` the most is written.
  store = await startBucketCluster({ env: { ...settingsEnv({ log_level: 'debug' }), DATABASE_URL: database.url } });
  await runStatements();
}, MINIO_BUILD_MS);

afterAll(async () => {
  await store?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

async function runStatements(): Promise<void> {
  const { cluster, proxy } = store;
  await cluster.sql('CREATE SCHEMA cloud.k');
  await cluster.sql(
    'CREATE TABLE cloud.k.t PARTITIONED BY (bucket(4, i)) AS SELECT i, i * 2 AS v FROM range(50000) AS r(i)',
  );
  await cluster.sql('DELETE FROM cloud.k.t WHERE i % 7 = 0');
  await cluster.sql('CREATE STAGE cloud.k.files');
  await cluster.sql('COPY INTO @cloud.k.files/out/ FROM (SELECT i FROM cloud.k.t) FILE_FORMAT = (TYPE = csv)');
  await cluster.sql('OPTIMIZE cloud.k.t');
  const joined = 'SELECT count(*) FROM cloud.k.t a JOIN cloud.k.t b ON a.i = b.v';
  const explained = [
    `EXPLAIN ${joined}`,
    `EXPLAIN ANALYZE ${joined}`,
    `EXPLAIN (FORMAT JSON) ${joined}`,
    `EXPLAIN ANALYZE INSERT INTO cloud.k.t SELECT i, v FROM cloud.k.t WHERE i < 10`,
    'SHOW CREATE TABLE cloud.k.t',
    'SHOW ALL',
  ];
  for (const [i, sql] of explained.entries()) texts[`statement ${i}: ${sql}`] = JSON.stringify(await cluster.sql(sql));
  const sessionId = randomUUID();
  await cluster.sql("SET skein.distribution = 'force'", { sessionId });
  const { queryId } = await cluster.query(joined, { sessionId });
  profiles.push(queryId);
  // Errors of a store that refuses, and of keys that it has forgotten.
  proxy.forgetKeys();
  await cluster.sql(joined);
  proxy.set({ refused: 1 });
  const failed = await cluster.query('CREATE TABLE cloud.k.failed AS SELECT * FROM cloud.k.t', { timeoutMs: 20_000 });
  proxy.set({});
  expect(failed.status).not.toBe(200);
  texts['an error'] = JSON.stringify(failed.body);
  using flight = new FlightClient(must(cluster.ready.flight_sql_url, 'a door'), `Bearer ${await cluster.token()}`);
  const info = await flight.info('CommandStatementQuery', { query: 'SELECT * FROM cloud.k.t' });
  texts['tickets of Flight SQL'] = JSON.stringify(info.endpoint.map(({ ticket }) => ticket?.ticket.toString('latin1')));
}

/** The places in which a text holds one of the secrets. */
function found(places: Readonly<Record<string, string | Buffer>>, secrets: readonly string[]): readonly string[] {
  return Object.entries(places).flatMap(([place, text]) => (secrets.some((one) => text.includes(one)) ? [place] : []));
}

test('no secret of a temporary key is in a plan, an error, a ticket, a log, a history, a profile or a row of the database', async () => {
  const { cluster, proxy, minio } = store;
  const secrets = [...proxy.secrets, minio.key.secretAccessKey];
  expect(secrets.length).toBeGreaterThan(6);
  const headers = { authorization: `Bearer ${await cluster.token()}` };
  const get = async (path: string): Promise<string> => (await fetch(cluster.queryUrl + path, { headers })).text();
  await expect
    .poll(() => get('/api/query-history?limit=100'), { timeout: patience(20_000) })
    .toContain('cloud.k.failed');
  const places: Record<string, string | Buffer> = {
    ...texts,
    'log of the launcher': cluster.log,
    history: await get('/api/query-history?limit=100'),
    'list of catalogs': await cluster.cliOk(['admin', 'catalog', 'list', '--json']),
    'state of the services': await cluster.cliOk(['status', '--json']),
    'metrics of the coordinator': await get('/metrics'),
  };
  for (const id of profiles) {
    await expect.poll(() => get(`/api/query-history/${id}/profile`), { timeout: patience(20_000) }).toContain('stages');
    places[`profile ${id}`] = await get(`/api/query-history/${id}/profile`);
  }
  for (const name of await readdir(cluster.dataDir, { recursive: true })) {
    places[name] = await readFile(join(cluster.dataDir, name)).catch(() => '');
  }
  expect(Object.keys(places).some((name) => name.endsWith('worker-1.log') || name.includes('logs/'))).toBe(true);
  Object.assign(places, await rowsOf(database.url));
  expect(found(places, secrets)).toEqual([]);
  // The search finds what is there.
  expect(found({ here: `x${secrets[0]}x` }, secrets)).toEqual(['here']);
});

/** All rows of all tables, as text. */
async function rowsOf(url: string): Promise<Readonly<Record<string, string>>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    expect(tables.length).toBeGreaterThan(20);
    const places: Record<string, string> = {};
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t`);
      places[`table ${name}`] = rows.map(({ row }) => row).join('\n');
    }
    return places;
  } finally {
    await client.end();
  }
}

test('no process but the catalog and the launcher has a key of AWS that was in the launcher’s environment', async () => {
  const secret = `secret-of-the-environment-${randomUUID()}`;
  const keys = {
    AWS_ACCESS_KEY_ID: 'AKIAENVIRONMENT',
    AWS_SECRET_ACCESS_KEY: secret,
    AWS_SESSION_TOKEN: `${secret}-t`,
  };
  await using own = await startBucketCluster({ env: { ...keys, DATABASE_URL: '' } });
  const services = await own.cluster.services();
  const holders: string[] = [];
  for (const { kind, pid } of services) {
    for (const one of [pid, ...(await descendants(pid))]) {
      const text = await readFile(`/proc/${one}/environ`, 'latin1').catch(() => '');
      if (text.includes(secret)) holders.push(kind);
    }
  }
  expect(services.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['postgres', 'worker', 'coordinator', 'catalog']),
  );
  expect([...new Set(holders)]).toEqual(['catalog']);
}, 180_000);

async function descendants(pid: number): Promise<readonly number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = text.trim().split(' ').filter(Boolean).map(Number);
  return [...children, ...(await Promise.all(children.map(descendants))).flat()];
}
