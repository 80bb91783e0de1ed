import { randomUUID } from 'node:crypto';
import type { Cluster } from '#test/support/cluster.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';
import { startBenchCluster } from '../bench-cluster.ts';
import { HUNDRED_FILES, hundredFiles, tenGroups } from '../latency/hundred-files.ts';
import { pointQuery } from '../latency/latency-cases.ts';
import { printTable } from '../report/print-table.ts';
import { median } from '../report/statistics.ts';
import { warmUp } from '../warm-up.ts';
import { writeResult } from '../report/write-result.ts';

/** One way to run a statement: a cluster, and the settings of a session there. */
type Variant = { readonly cluster: Cluster; readonly settings: readonly string[] };
/** A mechanism, on and off, over the same statements. */
type Comparison = {
  readonly name: string;
  readonly work: readonly string[];
  readonly on: Variant;
  readonly off: Variant;
};

const FORCED = ["SET skein.distribution = 'force'"];
const PARTITIONED = [...FORCED, "SET skein.join_distribution = 'partitioned'"];
const off = (setting: string, value: string): string => `SET skein.${setting} = '${value}'`;
const NO_ROW_CACHE = ['--set', 'worker.row_cache_memory=0'];
const POINTS = 200;
const GROUPS = 20;

/**
 * Measures the mechanisms that exist for speed alone, each on and off in turns: `runs` rounds of the 22 TPC-H queries, queries by key, and
 * ten groups. Two workers of one core each. Figures are sums of each statement's median; a ratio above 1 is what the mechanism gains.
 */
export async function benchMechanisms({
  scale,
  runs,
}: {
  readonly scale: string;
  readonly runs: number;
}): Promise<void> {
  const size = { workers: 2, args: ['--worker-cores', '1'] };
  const { cluster } = await startBenchCluster(scale, size);
  const { cluster: bare } = await startBenchCluster(scale, {
    ...size,
    args: [...size.args, ...NO_ROW_CACHE],
    isSecond: true,
  });
  try {
    for (const one of [cluster, bare]) await hundredFiles(one);
    const tpch = TPCH_QUERIES.map(({ sql }) => sql);
    const point = pointQuery(Number(scale));
    const points = Array.from({ length: POINTS }, () => point('lake.tpch.orders'));
    const groups = Array.from({ length: GROUPS }, () => tenGroups(HUNDRED_FILES));
    const filters = (name: string, value: string, mode: readonly string[]): Comparison => ({
      name,
      work: tpch,
      on: { cluster, settings: mode },
      off: { cluster, settings: [...mode, off('dynamic_filters', value)] },
    });
    const rows = (name: string, work: readonly string[], settings: readonly string[]): Comparison => ({
      name: `row cache: ${name}`,
      work,
      on: { cluster, settings },
      off: { cluster: bare, settings },
    });
    const comparisons = [
      rows('queries by key', points, []),
      rows('ten groups', groups, []),
      rows('TPC-H', tpch, []),
      rows('TPC-H, forced', tpch, FORCED),
      filters('dynamic filters: TPC-H, forced', 'off', FORCED),
      filters('dynamic filters: TPC-H, partitioned joins', 'off', PARTITIONED),
      filters('sets of keys: TPC-H, forced', 'bounds', FORCED),
      filters('sets of keys: TPC-H, partitioned joins', 'bounds', PARTITIONED),
    ];
    const figures = [];
    for (const one of comparisons) figures.push(await compare(one, runs));
    const table = printTable(
      ['mechanism: statements', 'on ms', 'off ms', 'off to on'],
      figures.map(({ name, onMs, offMs }) => [name, onMs.toFixed(0), offMs.toFixed(0), (offMs / onMs).toFixed(2)]),
    );
    await writeResult('mechanisms', { table, figures: { scale, runs, mechanisms: figures }, chart: chartOf(figures) });
  } finally {
    await cluster.stop();
    await bare.stop();
  }
}

type Compared = { readonly name: string; readonly onMs: number; readonly offMs: number };

const chartOf = (figures: readonly Compared[]) => ({
  title: 'Mechanisms for speed, off and on',
  unit: 'ms',
  labels: figures.map(({ name }) => name),
  series: [
    { name: 'on', color: '#2563eb', values: figures.map(({ onMs }) => onMs) },
    { name: 'off', color: '#f59e0b', values: figures.map(({ offMs }) => offMs) },
  ],
});

async function compare({ name, work, ...variants }: Comparison, runs: number): Promise<Compared> {
  const on = await sessionOf(variants.on);
  const off = await sessionOf(variants.off);
  for (const { cluster } of [variants.on, variants.off]) {
    await warmUp(cluster, async () => {
      for (const sql of work) await (cluster === variants.on.cluster ? on : off)(sql);
    });
  }
  const times = work.map(() => ({ on: [] as number[], off: [] as number[] }));
  for (let round = 0; round < runs; round++) {
    for (const [i, sql] of work.entries()) {
      const first = (round + i) % 2 === 0;
      for (const isOn of [first, !first]) times[i]?.[isOn ? 'on' : 'off'].push(await (isOn ? on : off)(sql));
    }
    process.stderr.write('.');
  }
  const total = (of: 'on' | 'off'): number => times.reduce((sum, one) => sum + median(one[of]), 0);
  const compared = { name, onMs: total('on'), offMs: total('off') };
  process.stderr.write(` ${name}: on ${compared.onMs.toFixed(0)} ms, off ${compared.offMs.toFixed(0)}\n`);
  return compared;
}

/** Opens a session with these settings; the answer runs a statement there, and tells its milliseconds. */
async function sessionOf({ cluster, settings }: Variant): Promise<(sql: string) => Promise<number>> {
  const sessionId = randomUUID();
  for (const sql of ['USE lake.tpch', ...settings]) await cluster.sql(sql, { sessionId });
  return async (sql) => {
    const started = performance.now();
    await cluster.sql(sql, { sessionId, timeoutMs: 600_000 });
    return performance.now() - started;
  };
}
