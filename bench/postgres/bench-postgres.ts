import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { postgresProgram } from '#test/support/postgres-programs.ts';
import { startTestPostgres } from '#test/support/postgres.ts';
import { pythonIn } from '#test/support/python.ts';
import { startBenchCluster } from '../bench-cluster.ts';
import { KeepAliveClient } from '../http/keep-alive-client.ts';
import { load } from '../latency/load.ts';
import { printTable } from '../report/print-table.ts';
import { median, quantile } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';
import { warmUp } from '../warm-up.ts';

type Options = { readonly scale: string; readonly runs: number; readonly seconds: number };

const ORDERS = `o_orderkey, o_custkey, o_orderstatus, o_totalprice, o_orderdate, o_orderpriority, o_clerk, o_shippriority, o_comment`;
const QUERY = `SELECT ${ORDERS} FROM lake.tpch.orders`;
/** The same columns as the wire has those of Skein. */
const PEERS_TABLE = `CREATE UNLOGGED TABLE orders (o_orderkey BIGINT, o_custkey BIGINT, o_orderstatus TEXT, o_totalprice NUMERIC(15,2),
  o_orderdate DATE, o_orderpriority TEXT, o_clerk TEXT, o_shippriority INTEGER, o_comment TEXT)`;
const PEERS_QUERY = `SELECT ${ORDERS} FROM orders`;
const FORMS = ['binary', 'text'] as const;
const CLIENTS = 4;

/** Measures the Postgres wire beside Postgres itself, with the same rows: COPY TO STDOUT, psycopg, and a point query beside HTTP. */
export async function benchPostgres({ scale, runs, seconds }: Options): Promise<void> {
  const { cluster } = await startBenchCluster(scale);
  try {
    await using peer = await startTestPostgres();
    await warmUp(cluster, () => cluster.sql('SELECT max(o_comment), count(*) FROM lake.tpch.orders'));
    const url = wireUrl(cluster);
    await loadPeer(url, peer.url);
    const copies = await copyBoth(url, peer.url, runs);
    const { ms, rows } = JSON.parse(
      await pythonIn('postgres', 'bench/postgres/read_orders.py', url, String(runs), QUERY),
    ) as { readonly ms: readonly number[]; readonly rows: number };
    const point = await pointQuery(cluster, seconds);
    await report(scale, { copies, psycopgMs: median(ms), rows, point });
  } finally {
    await cluster.stop();
  }
}

function wireUrl(cluster: Cluster): string {
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password, url.pathname] = [cluster.ready.user, ADMIN_PASSWORD, '/lake'];
  return url.href;
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

async function loadPeer(url: string, peersUrl: string): Promise<void> {
  const [ours, theirs] = [await connected(url), await connected(peersUrl)];
  await theirs.query(PEERS_TABLE);
  await pipeline(ours.query(copyTo(`COPY (${QUERY}) TO STDOUT`)), theirs.query(copyFrom('COPY orders FROM STDIN')));
  await theirs.query('VACUUM ANALYZE orders');
  await Promise.all([ours.end(), theirs.end()]);
}

type Copied = {
  readonly form: (typeof FORMS)[number];
  readonly ms: number;
  readonly peersMs: number;
  readonly ratio: number;
};

/** The copies of both, in turns: one that is not measured, then `runs`. */
async function copyBoth(url: string, peersUrl: string, runs: number): Promise<readonly Copied[]> {
  const [ours, theirs] = [await connected(url), await connected(peersUrl)];
  const copied: Copied[] = [];
  for (const form of FORMS) {
    const times: [number[], number[]] = [[], []];
    for (let run = 0; run <= runs; run++) {
      const both = [await timed(ours, QUERY, form), await timed(theirs, PEERS_QUERY, form)];
      if (run > 0) both.forEach((ms, i) => times[i]?.push(ms));
      process.stderr.write('.');
    }
    const [ms, peersMs] = [median(times[0]), median(times[1])];
    copied.push({ form, ms, peersMs, ratio: ms / peersMs });
  }
  process.stderr.write('\n');
  await Promise.all([ours.end(), theirs.end()]);
  return copied;
}

async function timed(client: pg.Client, query: string, form: string): Promise<number> {
  const started = performance.now();
  const stream = client.query(copyTo(`COPY (${query}) TO STDOUT (FORMAT ${form})`));
  for await (const _ of stream);
  return performance.now() - started;
}

type Point = { readonly pgbenchP50Ms: number; readonly httpP50Ms: number; readonly ratio: number };

/** A point query by four clients: pgbench with prepared statements, and HTTP. */
async function pointQuery(cluster: Cluster, seconds: number): Promise<Point> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-pgbench-'));
  const http = new KeepAliveClient(cluster.queryUrl, await cluster.token());
  try {
    const script = join(folder, 'point.sql');
    await writeFile(script, '\\set k random(0, 24)\nSELECT n_name FROM lake.tpch.nation WHERE n_nationkey = :k;\n');
    const args = ['-n', '-M', 'prepared', '-c', String(CLIENTS), '-T', String(seconds), '-f', script];
    await postgresProgram('pgbench', [...args, wireUrl(cluster)]);
    await postgresProgram('pgbench', [...args, '-l', `--log-prefix=${join(folder, 'log')}`, wireUrl(cluster)]);
    const logs = (await readdir(folder)).filter((name) => name.startsWith('log'));
    const lines = (await Promise.all(logs.map((name) => readFile(join(folder, name), 'utf8'))))
      .join('')
      .trim()
      .split('\n');
    // The third field is the time of a transaction, in microseconds.
    const pgbenchP50Ms = quantile(
      lines.map((line) => Number(line.split(' ')[2]) / 1_000),
      0.5,
    );
    const { p50Ms } = await load(CLIENTS, seconds, async (client) => {
      await http.post(JSON.stringify({ sql: `SELECT n_name FROM lake.tpch.nation WHERE n_nationkey = ${client}` }));
    });
    return { pgbenchP50Ms, httpP50Ms: p50Ms, ratio: pgbenchP50Ms / p50Ms };
  } finally {
    http.close();
    await rm(folder, { recursive: true });
  }
}

type Measured = {
  readonly copies: readonly Copied[];
  readonly psycopgMs: number;
  readonly rows: number;
  readonly point: Point;
};

async function report(scale: string, { copies, psycopgMs, rows, point }: Measured): Promise<void> {
  const psycopgRatio = psycopgMs / must(copies[0], 'binary').ms;
  const lines = [
    printTable(
      [`COPY TO STDOUT of ${rows} orders`, 'Skein ms', 'Postgres ms', 'ratio'],
      copies.map(({ form, ms, peersMs, ratio }) => [form, ms.toFixed(0), peersMs.toFixed(0), ratio.toFixed(2)]),
    ),
    '',
    `psycopg, binary: ${psycopgMs.toFixed(0)} ms, ${psycopgRatio.toFixed(2)} x the COPY`,
    `a point query by ${CLIENTS} clients: pgbench -M prepared p50 ${point.pgbenchP50Ms.toFixed(2)} ms, HTTP ${point.httpP50Ms.toFixed(2)} ms, ${point.ratio.toFixed(2)} x`,
  ];
  await writeResult('postgres', {
    table: lines.join('\n'),
    figures: { scale, rows, copies, psycopgMs, psycopgRatio, point },
    chart: {
      title: 'COPY TO STDOUT, median',
      unit: 'ms',
      labels: [...FORMS],
      series: [
        { name: 'Skein', color: '#2563eb', values: copies.map(({ ms }) => ms) },
        { name: 'Postgres', color: '#f59e0b', values: copies.map(({ peersMs }) => peersMs) },
      ],
    },
  });
}
