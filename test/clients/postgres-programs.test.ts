import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { documentedOutcomes, type PostgresClientName } from '#test/support/feature-matrix.ts';
import { postgresProgram } from '#test/support/postgres-programs.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { patience } from '#test/support/run/slowness.ts';

/** psql and pgbench, the programs that come with Postgres. */
let cluster: Cluster;
let url: URL;
let folder: string;
beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password, url.pathname] = [cluster.ready.user, ADMIN_PASSWORD, '/lake'];
  folder = await mkdtemp(join(tmpdir(), 'skein-psql-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const SLOW = 'SELECT count(*) FROM range(3000000000) a(i), range(1000) b(j) WHERE hash(i + j) = 1';
const PLAIN = ['-X', '-q', '-A', '-t'];
const psql = (script: string): Promise<string> =>
  postgresProgram('psql', [...PLAIN, '-v', 'ON_ERROR_STOP=1', url.href], script.replace(/^ +/gm, ''));

type Feature = readonly [name: string, work: () => Promise<void>];

const PSQL: readonly Feature[] = [
  ['sign in', async () => expect(await psql('SELECT current_user();')).toBe(`${url.username}\n`)],
  ['queries', async () => expect(await psql('SELECT i FROM range(3) r(i) ORDER BY i;')).toBe('0\n1\n2\n')],
  ['COPY TO STDOUT', copies],
  ['COPY FROM STDIN', copies],
  [
    'transactions and savepoints',
    async () => {
      const table = `lake.drivers.psql_${process.pid}_s`;
      const out = await psql(`CREATE SCHEMA IF NOT EXISTS lake.drivers; CREATE TABLE ${table} (i INTEGER);
        \\set ON_ERROR_STOP off
        \\set ON_ERROR_ROLLBACK on
        BEGIN; INSERT INTO ${table} VALUES (1);
        SELECT nothing_here;
        SAVEPOINT s; INSERT INTO ${table} VALUES (2); ROLLBACK TO s; INSERT INTO ${table} VALUES (4); COMMIT;
        SELECT sum(i) FROM ${table};
        DROP TABLE ${table};`);
      expect(out).toBe('5\n');
    },
  ],
  [
    'cursors',
    async () => {
      const out = await psql(`\\set FETCH_COUNT 100
        SELECT i FROM range(1000) r(i) ORDER BY i;`);
      expect(out.trim().split('\n')).toHaveLength(1_000);
    },
  ],
  [
    'errors with SQLSTATE and place',
    () =>
      expect(psql('\\set VERBOSITY verbose\nSELECT 1,\n nothing_here;')).rejects.toThrow(
        /ERROR: +42703:[^]*LINE 2: +nothing_here;?\n +\^/,
      ),
  ],
  ['cancel', cancelled],
];

async function copies(): Promise<void> {
  const table = `psql_${process.pid}`;
  const [from, to] = [join(folder, 'in.csv'), join(folder, 'out.csv')];
  await writeFile(from, 'i,t\n1,"a\nb"\n2,\n');
  const out = await psql(`CREATE SCHEMA IF NOT EXISTS lake.drivers; USE lake.drivers;
    CREATE TABLE ${table} (i INTEGER, t TEXT);
    \\copy ${table} FROM '${from}' CSV HEADER
    \\copy (SELECT * FROM ${table} ORDER BY i) TO '${to}' CSV HEADER
    SELECT count(*) FROM ${table} \\g
    SELECT 'b'::TEXT AS t, 1 AS i \\gset
    SELECT :i + 1, :'t';
    DROP TABLE ${table};`);
  expect(out).toBe('2\n2|b\n');
  expect(await readFile(to, 'utf8')).toBe('i,t\n1,"a\nb"\n2,\n');
}

/** Ctrl-C has psql send a CancelRequest. */
async function cancelled(): Promise<void> {
  const program = spawn('psql', [...PLAIN, '-v', 'VERBOSITY=sqlstate', '-c', SLOW, url.href], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [said, ended] = [text(program.stderr), once(program, 'close')];
  const isRunning = async (): Promise<boolean> =>
    (await cluster.sql('SHOW QUERIES')).some((row) => JSON.stringify(row).includes('range(3000000000)'));
  await expect.poll(isRunning, { timeout: patience(20_000) }).toBe(true);
  program.kill('SIGINT');
  await ended;
  expect(await said).toContain('57014');
}

const NATION = '\\set k random(0, 24)\nSELECT n_name FROM lake.tpch.nation WHERE n_nationkey = :k;\n';

async function pgbench(mode: string, script: string): Promise<void> {
  const file = join(folder, 'script.sql');
  await writeFile(file, script);
  const out = await postgresProgram('pgbench', ['-n', '-M', mode, '-c', '2', '-t', '10', '-f', file, url.href]);
  expect(out).toMatch(/number of transactions actually processed: 20\/20/);
  expect(out).toMatch(/number of failed transactions: 0 /);
}

const PGBENCH: readonly Feature[] = [
  ['sign in', () => pgbench('simple', 'SELECT 1;\n')],
  ['queries', () => pgbench('simple', NATION)],
  ['parameters', () => pgbench('extended', NATION).then(() => pgbench('prepared', NATION))],
  [
    'transactions and savepoints',
    () => pgbench('prepared', `BEGIN;\nSAVEPOINT s;\n${NATION}ROLLBACK TO s;\nCOMMIT;\n`),
  ],
  ['pipelines', () => pgbench('extended', `\\startpipeline\n${NATION.repeat(3)}\\endpipeline\n`)],
];

test.each([
  ['psql', PSQL],
  ['pgbench', PGBENCH],
] satisfies readonly (readonly [PostgresClientName, readonly Feature[]])[])(
  'every feature of %s',
  async (client, features) => {
    const outcomes: Record<string, string> = {};
    for (const [name, work] of features) {
      outcomes[name] = await work().then(
        () => 'ok',
        (error: unknown) => String(error).slice(0, 600),
      );
    }
    expect(outcomes).toEqual(documentedOutcomes(client, outcomes));
  },
);
