import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { postgresProgram } from '#test/support/postgres-programs.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** psql and pgbench, the programs that come with Postgres. */
let url: URL;
let folder: string;
beforeAll(async () => {
  const { cluster } = await sharedCluster();
  url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password, url.pathname] = [cluster.ready.user, ADMIN_PASSWORD, '/lake'];
  folder = await mkdtemp(join(tmpdir(), 'skein-psql-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('psql copies a file in and out, and runs a script in one transaction', async () => {
  const table = `psql_${process.pid}`;
  const [from, to] = [join(folder, 'in.csv'), join(folder, 'out.csv')];
  await writeFile(from, 'i,t\n1,"a\nb"\n2,\n');
  const script = `CREATE SCHEMA IF NOT EXISTS lake.drivers; USE lake.drivers;
    CREATE TABLE ${table} (i INTEGER, t TEXT);
    \\copy ${table} FROM '${from}' CSV HEADER
    \\copy (SELECT * FROM ${table} ORDER BY i) TO '${to}' CSV HEADER
    BEGIN; INSERT INTO ${table} VALUES (3, 'c'); ROLLBACK;
    SELECT count(*) FROM ${table} \\g
    SELECT 'b'::TEXT AS t, 1 AS i \\gset
    SELECT :i + 1, :'t';
    DROP TABLE ${table};`.replace(/^ +/gm, '');
  const out = await postgresProgram('psql', ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', url.href], script);
  expect(out).toBe('2\n2|b\n');
  expect(await readFile(to, 'utf8')).toBe('i,t\n1,"a\nb"\n2,\n');
});

test.each(['simple', 'extended', 'prepared'])('pgbench -M %s', async (mode) => {
  const script = join(folder, 'point.sql');
  await writeFile(script, '\\set k random(0, 24)\nSELECT n_name FROM lake.tpch.nation WHERE n_nationkey = :k;\n');
  const out = await postgresProgram('pgbench', ['-n', '-M', mode, '-c', '2', '-t', '10', '-f', script, url.href]);
  expect(out).toMatch(/number of transactions actually processed: 20\/20/);
  expect(out).toMatch(/number of failed transactions: 0 /);
});
