import { availableParallelism } from 'node:os';
import { DuckDBInstance } from '@duckdb/node-api';
import { must } from '#shared/must.ts';
import { createViews, startBenchCluster } from '../bench-cluster.ts';
import { printTable } from '../report/print-table.ts';
import { writeResult } from '../report/write-result.ts';
import { KeepAliveClient } from '../http/keep-alive-client.ts';
import { hundredFiles, tenGroups } from './hundred-files.ts';
import {
  LATENCY_CLIENTS,
  GROUPS,
  latencyCases,
  occupyEverySlot,
  pointQuery,
  warmUpStatement,
} from './latency-cases.ts';
import { load, loadInTurns, type LoadFigures, type Load } from './load.ts';

/** Time for which statements run before the first case: after it, the services' compiled code is about as fast as it gets. */
const WARM_UP_SECONDS = 30;

type Case = { readonly name: string } & LoadFigures;

/**
 * Measures small statements over HTTP keep-alive. For comparison it runs plain DuckDB in this process: SQL text, one connection per client,
 * over the same files, with default settings and with its cache of file metadata. All cases take turns.
 */
export async function benchLatency(options: { readonly scale: string; readonly seconds: number }): Promise<void> {
  const { cluster, files } = await startBenchCluster(options.scale);
  const client = new KeepAliveClient(cluster.queryUrl, await cluster.token());
  const scale = Number(options.scale);
  const ask = async (sql: string): Promise<void> => void (await client.post(JSON.stringify({ sql })));
  try {
    await load(Math.max(...LATENCY_CLIENTS), WARM_UP_SECONDS, warmUpStatement({ ask, scale }));
    const own = await latencyCases({ cluster, ask, scale });
    const hundred = await hundredFiles(cluster);
    const views = `${createViews(files)}CREATE VIEW hundred AS SELECT * FROM read_parquet(${listOf(hundred)});`;
    const loads = [...own.filter(({ isBusy }) => !isBusy), ...(await duckdbCases(views, pointQuery(scale)))];
    const cases: Case[] = [...(await loadInTurns(loads, options.seconds))];
    const stop = await occupyEverySlot(cluster);
    cases.push(
      ...(await loadInTurns(
        own.filter(({ isBusy }) => isBusy),
        options.seconds,
      )),
    );
    await stop();
    process.stderr.write('\n');
    await report(options.scale, cases);
  } finally {
    client.close();
    await cluster.stop();
  }
}

const listOf = (files: readonly string[]): string => `[${files.map((file) => `'${file}'`).join(', ')}]`;

/** The same statements in plain DuckDB, one connection per client. */
async function duckdbCases(
  views: string,
  point: (table: string) => string,
): Promise<readonly (Load & { readonly name: string })[]> {
  const [plain, caching] = [await duckdbClients(views, false), await duckdbClients(views, true)];
  return [
    ...LATENCY_CLIENTS.map((clients) => ({
      name: 'DuckDB SELECT 1',
      clients,
      request: (id: number) => plain(id, 'SELECT 1'),
    })),
    ...LATENCY_CLIENTS.map((clients) => ({
      name: 'DuckDB point query',
      clients,
      request: (id: number) => plain(id, point('orders')),
    })),
    { name: `DuckDB ${GROUPS}`, clients: 1, request: (id) => plain(id, tenGroups('hundred')) },
    ...LATENCY_CLIENTS.map((clients) => ({
      name: 'DuckDB point query, metadata cached',
      clients,
      request: (id: number) => caching(id, point('orders')),
    })),
  ];
}

async function duckdbClients(
  views: string,
  cachesMetadata: boolean,
): Promise<(id: number, sql: string) => Promise<void>> {
  const threads = String(availableParallelism());
  const instance = await DuckDBInstance.create(':memory:', { threads });
  const connections = await Promise.all(Array.from({ length: Math.max(...LATENCY_CLIENTS) }, () => instance.connect()));
  await must(connections[0], 'a connection').run(`SET GLOBAL parquet_metadata_cache = ${cachesMetadata};\n${views}`);
  return async (id, sql) => {
    (await must(connections[id], 'a connection per client').runAndReadAll(sql)).getRowsJson();
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
