import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Cluster } from '#test/support/cluster.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';
import { createViews, startBenchCluster } from '../bench-cluster.ts';
import { printTable } from '../report/print-table.ts';
import { median } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';
import type { PeerAnswer } from './duckdb-process.ts';

type QueryTimes = { readonly name: string; readonly skeinMs: readonly number[]; readonly duckdbMs: readonly number[] };

const QUERY_TIMEOUT_MS = 600_000;

/**
 * The 22 TPC-H queries on Skein over HTTP and on one plain DuckDB process, over the same Parquet files, in turn: one warm-up each, then
 * `runs` measured pairs. Skein's time is the client's: from the request to the last byte of the JSON.
 */
export async function benchTpch(options: { readonly scale: string; readonly runs: number }): Promise<void> {
  const { cluster, files } = await startBenchCluster(options.scale);
  const peer = fork(join(import.meta.dirname, 'duckdb-process.ts'), { stdio: 'inherit' });
  try {
    await ask(peer, createViews(files));
    const session = randomUUID();
    await cluster.sql('USE lake.tpch', { sessionId: session });
    const times: QueryTimes[] = [];
    for (const { name, sql } of TPCH_QUERIES) {
      times.push(
        await measure(name, options.runs, {
          skein: () => askSkein(cluster, session, sql),
          duckdb: () => ask(peer, sql),
        }),
      );
      process.stderr.write(`${name} `);
    }
    process.stderr.write('\n');
    await report(options, times);
  } finally {
    peer.kill();
    await cluster.stop();
  }
}

type Run = () => Promise<PeerAnswer>;

async function measure(
  name: string,
  runs: number,
  { skein, duckdb }: { skein: Run; duckdb: Run },
): Promise<QueryTimes> {
  const [warmSkein, warmDuckdb] = [await skein(), await duckdb()];
  if (warmSkein.rows !== warmDuckdb.rows)
    throw new Error(`${name}: ${warmSkein.rows} rows, DuckDB has ${warmDuckdb.rows}`);
  const skeinMs: number[] = [];
  const duckdbMs: number[] = [];
  for (let run = 0; run < runs; run++) {
    skeinMs.push((await skein()).elapsedMs);
    duckdbMs.push((await duckdb()).elapsedMs);
  }
  return { name, skeinMs, duckdbMs };
}

async function askSkein(cluster: Cluster, sessionId: string, sql: string): Promise<PeerAnswer> {
  const started = performance.now();
  const rows = await cluster.sql(sql, { sessionId, timeoutMs: QUERY_TIMEOUT_MS });
  return { elapsedMs: performance.now() - started, rows: rows.length };
}

async function ask(peer: ChildProcess, sql: string): Promise<PeerAnswer> {
  const reply = once(peer, 'message');
  peer.send({ sql });
  const [answer] = (await reply) as [PeerAnswer];
  if (answer.error !== undefined) throw new Error(`DuckDB: ${answer.error}`);
  return answer;
}

async function report(
  options: { readonly scale: string; readonly runs: number },
  times: readonly QueryTimes[],
): Promise<void> {
  const figures = times.map(({ name, skeinMs, duckdbMs }) => {
    const [skein, duckdb] = [median(skeinMs), median(duckdbMs)];
    return {
      name,
      skeinMs: skein,
      duckdbMs: duckdb,
      ratio: skein / duckdb,
      skeinRunsMs: skeinMs,
      duckdbRunsMs: duckdbMs,
    };
  });
  const total = { skeinMs: sum(figures.map((f) => f.skeinMs)), duckdbMs: sum(figures.map((f) => f.duckdbMs)) };
  const row = (name: string, skein: number, duckdb: number): string[] => [
    name,
    skein.toFixed(1),
    duckdb.toFixed(1),
    (skein / duckdb).toFixed(2),
  ];
  await writeResult(`tpch-sf${options.scale}`, {
    table: printTable(
      [`TPC-H SF${options.scale}`, 'Skein ms', 'DuckDB ms', 'ratio'],
      [...figures.map((f) => row(f.name, f.skeinMs, f.duckdbMs)), row('total', total.skeinMs, total.duckdbMs)],
    ),
    figures: {
      scale: options.scale,
      runs: options.runs,
      total: { ...total, ratio: total.skeinMs / total.duckdbMs },
      queries: figures,
    },
    chart: {
      title: `TPC-H at scale ${options.scale}, warm median of ${options.runs}`,
      unit: 'ms',
      labels: figures.map((f) => f.name),
      series: [
        { name: 'Skein', color: '#2563eb', values: figures.map((f) => f.skeinMs) },
        { name: 'DuckDB', color: '#f59e0b', values: figures.map((f) => f.duckdbMs) },
      ],
    },
  });
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
