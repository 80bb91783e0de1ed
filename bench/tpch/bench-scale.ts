import { randomUUID } from 'node:crypto';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';
import { startBenchCluster } from '../bench-cluster.ts';
import { printTable } from '../report/print-table.ts';
import { servicesOf, workerSeconds } from '../report/process-cpu.ts';
import { median } from '../report/statistics.ts';
import { warmUp } from '../warm-up.ts';
import { writeResult } from '../report/write-result.ts';

const QUERY_TIMEOUT_MS = 600_000;

type Size = { readonly workers: number; readonly slots: number };
/** Per query: the median of its times, and the mean of the CPU seconds that its runs took of all workers. */
type Measured = Size & { readonly queriesMs: readonly number[]; readonly queriesCpuSeconds: readonly number[] };

const SIZES: readonly Size[] = [
  { workers: 1, slots: 1 },
  { workers: 2, slots: 1 },
  { workers: 3, slots: 1 },
  { workers: 2, slots: 2 },
  { workers: 2, slots: 4 },
  { workers: 2, slots: 8 },
];

/** Measures time and CPU of TPC-H, with distribution forced, by the number of workers and of their slots. */
export async function benchScale(options: { readonly scale: string; readonly runs: number }): Promise<void> {
  const measured: Measured[] = [];
  for (const size of SIZES) {
    measured.push(await measureSize(size, options));
    process.stderr.write(`${nameOf(size)} `);
  }
  process.stderr.write('\n');
  const rows = TPCH_QUERIES.map(({ name }, q) => [
    name,
    ...measured.map(
      (one) => `${(one.queriesMs[q] ?? 0).toFixed(0)} / ${((one.queriesCpuSeconds[q] ?? 0) * 1_000).toFixed(0)}`,
    ),
  ]);
  const total = measured.map((one) => ({ ms: sum(one.queriesMs), cpuSeconds: sum(one.queriesCpuSeconds) }));
  await writeResult(`scale-sf${options.scale}`, {
    table: printTable(
      [`TPC-H SF${options.scale}, forced, ms / CPU ms`, ...measured.map(nameOf)],
      [
        ...rows,
        ['total', ...total.map(({ ms, cpuSeconds }) => `${ms.toFixed(0)} / ${(cpuSeconds * 1_000).toFixed(0)}`)],
      ],
    ),
    figures: {
      ...options,
      sizes: measured.map((one, i) => ({ ...one, totalMs: total[i]?.ms, totalCpuSeconds: total[i]?.cpuSeconds })),
    },
    chart: {
      title: `TPC-H at scale ${options.scale} by workers and their slots`,
      unit: 'ms',
      labels: TPCH_QUERIES.map(({ name }) => name),
      series: measured.map((one, i) => ({
        name: nameOf(one),
        color: COLORS[i] ?? '#2563eb',
        values: [...one.queriesMs],
      })),
    },
  });
}

const COLORS = ['#f59e0b', '#2563eb', '#7c3aed', '#0d9488', '#dc2626', '#64748b'] as const;

const nameOf = ({ workers, slots }: Size): string => `${workers} x ${slots}`;

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

async function measureSize(
  size: Size,
  { scale, runs }: { readonly scale: string; readonly runs: number },
): Promise<Measured> {
  const args = ['--worker-cores', String(size.slots)];
  const { cluster } = await startBenchCluster(scale, { workers: size.workers, args });
  try {
    const services = await servicesOf(cluster);
    const sessionId = randomUUID();
    for (const sql of ['USE lake.tpch', "SET skein.distribution = 'force'"]) await cluster.sql(sql, { sessionId });
    const ask = (sql: string): Promise<unknown> => cluster.sql(sql, { sessionId, timeoutMs: QUERY_TIMEOUT_MS });
    await warmUp(cluster, async () => {
      for (const { sql } of TPCH_QUERIES) await ask(sql);
    });
    const queriesMs: number[] = [];
    const queriesCpuSeconds: number[] = [];
    for (const { sql } of TPCH_QUERIES) {
      const run = async (): Promise<number> => {
        const started = performance.now();
        await ask(sql);
        return performance.now() - started;
      };
      // The first warms up.
      await run();
      const before = await workerSeconds(services);
      const times: number[] = [];
      for (let i = 0; i < runs; i++) times.push(await run());
      queriesMs.push(median(times));
      queriesCpuSeconds.push(((await workerSeconds(services)) - before) / runs);
    }
    return { ...size, queriesMs, queriesCpuSeconds };
  } finally {
    await cluster.stop();
  }
}
