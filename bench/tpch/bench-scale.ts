import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';
import { startBenchCluster } from '../bench-cluster.ts';
import { printTable } from '../report/print-table.ts';
import { median } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';

const QUERY_TIMEOUT_MS = 600_000;

/** Measures how TPC-H scales, with distribution forced, over 1, 2, 4, ... workers of one core each, up to the machine's cores. */
export async function benchScale(options: { readonly scale: string; readonly runs: number }): Promise<void> {
  const counts = [1, 2, 4, 8].filter((count) => count <= Math.max(2, availableParallelism()));
  const totals = new Map<number, readonly number[]>();
  for (const workers of counts) totals.set(workers, await queryTimes(workers, options));
  const sum = (times: readonly number[]): number => times.reduce((a, b) => a + b, 0);
  const alone = totals.get(1) ?? [];
  const rows = [
    ...TPCH_QUERIES.map(({ name }, q) => [name, ...counts.map((count) => (totals.get(count)?.[q] ?? 0).toFixed(1))]),
    ['total', ...counts.map((count) => sum(totals.get(count) ?? []).toFixed(1))],
    ['times faster', ...counts.map((count) => (sum(alone) / sum(totals.get(count) ?? [])).toFixed(2))],
  ];
  await writeResult(`scale-sf${options.scale}`, {
    table: printTable([`TPC-H SF${options.scale}, forced, ms`, ...counts.map((count) => `${count} workers`)], rows),
    figures: {
      ...options,
      workers: counts.map((count) => ({
        count,
        queriesMs: totals.get(count) ?? [],
        totalMs: sum(totals.get(count) ?? []),
      })),
    },
    chart: {
      title: `TPC-H at scale ${options.scale} by workers of one core`,
      unit: 'ms',
      labels: TPCH_QUERIES.map(({ name }) => name),
      series: counts.map((count, i) => ({
        name: `${count} workers`,
        color: ['#f59e0b', '#2563eb', '#7c3aed', '#0d9488'][i] ?? '#2563eb',
        values: [...(totals.get(count) ?? [])],
      })),
    },
  });
}

async function queryTimes(
  workers: number,
  { scale, runs }: { readonly scale: string; readonly runs: number },
): Promise<readonly number[]> {
  const { cluster } = await startBenchCluster(scale, { workers, args: ['--worker-cores', '1'] });
  try {
    const sessionId = randomUUID();
    for (const sql of ['USE lake.tpch', "SET skein.distribution = 'force'"]) await cluster.sql(sql, { sessionId });
    const medians: number[] = [];
    for (const { sql } of TPCH_QUERIES) {
      const times: number[] = [];
      for (let run = 0; run <= runs; run++) {
        const started = performance.now();
        await cluster.sql(sql, { sessionId, timeoutMs: QUERY_TIMEOUT_MS });
        // The first warms up.
        if (run > 0) times.push(performance.now() - started);
      }
      medians.push(median(times));
    }
    return medians;
  } finally {
    await cluster.stop();
  }
}
