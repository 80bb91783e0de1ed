import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { DuckDBInstance } from '@duckdb/node-api';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { createViews, startBenchCluster, type TpchFiles } from '../bench-cluster.ts';
import { printTable } from '../report/print-table.ts';
import { writeResult } from '../report/write-result.ts';
import { KeepAliveClient } from './keep-alive-client.ts';
import { load, type Figures } from './load.ts';

type Case = { readonly name: string } & Figures;

const CLIENTS = [1, 16] as const;
/** TPC-H order keys are the first 8 of every 32 integers. */
const ORDER_KEYS_PER_SCALE = 6_000_000;
const LONG_QUERY = 'SELECT max(hash(n)) FROM range(1000000000000) AS r(n)';

/**
 * Measures small queries over HTTP keep-alive: SELECT 1, and one order by its key; then again while a long query runs on every slot. For
 * comparison it runs plain DuckDB in this process: SQL text, one connection per client, over the same files.
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
    for (const n of CLIENTS) await add('SELECT 1', n, () => ask('SELECT 1'));
    for (const n of CLIENTS) await add('point query', n, () => ask(point('lake.tpch.orders')));
    const peer = await duckdbClients(files);
    for (const n of CLIENTS) await add('DuckDB SELECT 1', n, (id) => peer(id, 'SELECT 1'));
    for (const n of CLIENTS) await add('DuckDB point query', n, (id) => peer(id, point('orders')));
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

async function duckdbClients(files: TpchFiles): Promise<(id: number, sql: string) => Promise<void>> {
  const instance = await DuckDBInstance.create(':memory:', { threads: String(availableParallelism()) });
  const connections = await Promise.all(Array.from({ length: Math.max(...CLIENTS) }, () => instance.connect()));
  await must(connections[0], 'a connection').run(createViews(files));
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
  const rate = (name: string, clients: number): number =>
    must(
      cases.find((c) => c.name === name && c.clients === clients),
      name,
    ).perSecond;
  const ratio = rate('point query', 16) / rate('DuckDB point query', 16);
  const rows = cases.map((c) => [
    c.name,
    String(c.clients),
    c.p50Ms.toFixed(2),
    c.p99Ms.toFixed(2),
    c.perSecond.toFixed(0),
  ]);
  const table = printTable(['case', 'clients', 'p50 ms', 'p99 ms', 'per second'], rows);
  await writeResult('latency', {
    table: `${table}\n\npoint query at 16 clients: ${ratio.toFixed(2)} x plain DuckDB in process`,
    figures: { scale, pointQueryRatio: ratio, cases },
    chart: {
      title: 'Small queries: median latency',
      unit: 'ms',
      labels: cases.map((c) => `${c.name} (${c.clients})`),
      series: [{ name: 'p50', color: '#2563eb', values: cases.map((c) => c.p50Ms) }],
    },
  });
}
