import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { DuckDBInstance } from '@duckdb/node-api';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { createViews, startBenchCluster } from '../bench-cluster.ts';
import { printTable } from '../report/print-table.ts';
import { writeResult } from '../report/write-result.ts';
import { KeepAliveClient } from './keep-alive-client.ts';
import { HUNDRED_FILES, hundredFiles, tenGroups } from './hundred-files.ts';
import { load, type Figures } from './load.ts';

/** Time for which statements run before the first case: after it, the services' compiled code is about as fast as it gets. */
const WARM_UP_SECONDS = 30;

type Case = { readonly name: string } & Figures;

const CLIENTS = [1, 16] as const;
/** TPC-H order keys are the first 8 of every 32 integers. */
const ORDER_KEYS_PER_SCALE = 6_000_000;
const GROUPS = 'ten groups, 100 files';
const COMMITS = 'lake.bench.commits';
const LONG_QUERY = 'SELECT max(hash(n)) FROM range(1000000000000) AS r(n)';

/**
 * Measures small statements over HTTP keep-alive: SELECT 1, one order by its key, ten groups out of a table of 100 files, and a commit, whose
 * latency is the price of reads that are always fresh; the first two again while a long query runs on every slot. For comparison it runs
 * plain DuckDB in this process: SQL text, one connection per client, over the same files, with default settings and with its cache of file
 * metadata.
 */
export async function benchLatency(options: { readonly scale: string; readonly seconds: number }): Promise<void> {
  const { cluster, files } = await startBenchCluster(options.scale);
  const client = new KeepAliveClient(cluster.queryUrl, await cluster.token());
  const point = pointQuery(Number(options.scale));
  const ask = async (sql: string): Promise<void> => void (await client.post(JSON.stringify({ sql })));
  try {
    const cases: Case[] = [];
    const add = async (name: string, clients: number, request: (id: number) => Promise<void>): Promise<void> => {
      cases.push({ name, ...(await load(clients, options.seconds, request)) });
      process.stderr.write('.');
    };
    let asked = 0;
    await load(Math.max(...CLIENTS), WARM_UP_SECONDS, () =>
      ask(asked++ % 2 === 0 ? 'SELECT 1' : point('lake.tpch.orders')),
    );
    for (const n of CLIENTS) await add('SELECT 1', n, () => ask('SELECT 1'));
    for (const n of CLIENTS) await add('point query', n, () => ask(point('lake.tpch.orders')));
    const hundred = await hundredFiles(cluster);
    await add(GROUPS, 1, () => ask(tenGroups(HUNDRED_FILES)));
    for (const sql of [`DROP TABLE IF EXISTS ${COMMITS} PURGE`, `CREATE TABLE ${COMMITS} (id BIGINT)`]) await ask(sql);
    await add('commit: INSERT of a row', 1, () => ask(`INSERT INTO ${COMMITS} VALUES (1)`));
    const views = `${createViews(files)}CREATE VIEW hundred AS SELECT * FROM read_parquet(${listOf(hundred)});`;
    const peer = await duckdbClients(views, false);
    for (const n of CLIENTS) await add('DuckDB SELECT 1', n, (id) => peer(id, 'SELECT 1'));
    for (const n of CLIENTS) await add('DuckDB point query', n, (id) => peer(id, point('orders')));
    await add(`DuckDB ${GROUPS}`, 1, (id) => peer(id, tenGroups('hundred')));
    const caching = await duckdbClients(views, true);
    for (const n of CLIENTS) await add('DuckDB point query, metadata cached', n, (id) => caching(id, point('orders')));
    const stop = await occupyEverySlot(cluster);
    await add('SELECT 1, slots busy', 1, () => ask('SELECT 1'));
    await add('point query, slots busy', 1, () => ask(point('lake.tpch.orders')));
    await stop();
    process.stderr.write('\n');
    await report(options.scale, cases);
  } finally {
    client.close();
    await cluster.stop();
  }
}

/** Draws keys in a fixed order, so that every system is asked for the same rows. */
function pointQuery(scale: number): (table: string) => string {
  let state = 42;
  return (table) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const block = Math.floor((state / 2_147_483_648) * ((ORDER_KEYS_PER_SCALE * scale) / 32));
    return `SELECT o_orderkey, o_totalprice, o_orderdate FROM ${table} WHERE o_orderkey = ${block * 32 + 1 + (state % 7)}`;
  };
}

const listOf = (files: readonly string[]): string => `[${files.map((file) => `'${file}'`).join(', ')}]`;

async function duckdbClients(
  views: string,
  cachesMetadata: boolean,
): Promise<(id: number, sql: string) => Promise<void>> {
  const threads = String(availableParallelism());
  const instance = await DuckDBInstance.create(':memory:', { threads });
  const connections = await Promise.all(Array.from({ length: Math.max(...CLIENTS) }, () => instance.connect()));
  await must(connections[0], 'a connection').run(`SET GLOBAL parquet_metadata_cache = ${cachesMetadata};\n${views}`);
  return async (id, sql) => {
    (await must(connections[id], 'a connection per client').runAndReadAll(sql)).getRowsJson();
  };
}

/** Starts one endless query per slot of the cluster; the answer cancels them and waits until they are gone. */
async function occupyEverySlot(cluster: Cluster): Promise<() => Promise<void>> {
  const ids = Array.from({ length: cluster.ready.workers * availableParallelism() }, () => randomUUID());
  const running = ids.map((queryId) =>
    cluster.query(LONG_QUERY, { queryId, timeoutMs: 600_000 }).catch(() => undefined),
  );
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  return async () => {
    const authorization = `Bearer ${await cluster.token()}`;
    await Promise.all(
      ids.map((id) => fetch(`${cluster.queryUrl}/api/query/${id}`, { method: 'DELETE', headers: { authorization } })),
    );
    await Promise.all(running);
  };
}

async function report(scale: string, cases: readonly Case[]): Promise<void> {
  const of = (name: string, clients: number): Case =>
    must(
      cases.find((c) => c.name === name && c.clients === clients),
      name,
    );
  const rate = of('point query', 16).perSecond;
  const ratios = {
    pointQueryRatio: rate / of('DuckDB point query', 16).perSecond,
    pointQueryRatioCached: rate / of('DuckDB point query, metadata cached', 16).perSecond,
    groupsRatio: of(GROUPS, 1).p50Ms / of(`DuckDB ${GROUPS}`, 1).p50Ms,
  };
  const rows = cases.map((c) => [
    c.name,
    String(c.clients),
    c.p50Ms.toFixed(2),
    c.p99Ms.toFixed(2),
    c.perSecond.toFixed(0),
  ]);
  const table = printTable(['case', 'clients', 'p50 ms', 'p99 ms', 'per second'], rows);
  await writeResult('latency', {
    table: `${table}\n\nbeside plain DuckDB in process: point query at 16 clients ${ratios.pointQueryRatio.toFixed(2)} x its rate, \
${ratios.pointQueryRatioCached.toFixed(2)} x with its metadata cache; ${GROUPS} ${ratios.groupsRatio.toFixed(2)} x its time`,
    figures: { scale, ...ratios, cases },
    chart: {
      title: 'Small queries: median latency',
      unit: 'ms',
      labels: cases.map((c) => `${c.name} (${c.clients})`),
      series: [{ name: 'p50', color: '#2563eb', values: cases.map((c) => c.p50Ms) }],
    },
  });
}
