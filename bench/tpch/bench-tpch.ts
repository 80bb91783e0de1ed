import { randomUUID } from 'node:crypto';
import type { Cluster } from '#test/support/cluster.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';
import { createViews, startBenchCluster } from '../bench-cluster.ts';
import { printTable } from '../report/print-table.ts';
import { median } from '../report/statistics.ts';
import { warmUp, WITHOUT_COPIES } from '../warm-up.ts';
import { writeResult } from '../report/write-result.ts';
import { DuckDbPeer } from './duckdb-peer.ts';
import type { PeerAnswer } from './duckdb-process.ts';

/** A variant of the measurement: a set of session settings. */
type Mode = { readonly name: string; readonly settings: readonly string[] };
type QueryTimes = {
  readonly name: string;
  /** Milliseconds of each run, by mode. */
  readonly skeinMs: Readonly<Record<string, readonly number[]>>;
  readonly duckdbMs: readonly number[];
};

const DEFAULTS: Mode = { name: 'default', settings: [] };
const FORCED: Mode = { name: 'forced', settings: ["SET skein.distribution = 'force'"] };
const PARTITIONED: Mode = {
  name: 'partitioned',
  settings: [...FORCED.settings, "SET skein.join_distribution = 'partitioned'"],
};

const QUERY_TIMEOUT_MS = 600_000;

export type TpchOptions = {
  readonly scale: string;
  readonly runs: number;
  /** Two workers of one core each, also with distribution forced, and with partitioned joins forced. */
  readonly distributed: boolean;
  /** Workers copy no files: every query unpacks what it reads. */
  readonly withoutCopies: boolean;
};

/**
 * The 22 TPC-H queries on Skein over HTTP and on one plain DuckDB process, over the same Parquet files, in turn: after `warmUp` one more round
 * that does not count, then `runs` measured ones. Skein's time is the client's: from the request to the last byte of the JSON.
 */
export async function benchTpch(options: TpchOptions): Promise<void> {
  const modes = options.distributed ? [DEFAULTS, FORCED, PARTITIONED] : [DEFAULTS];
  const size = options.distributed ? ONE_CORE_EACH : { args: [] };
  const args = [...size.args, ...(options.withoutCopies ? WITHOUT_COPIES : [])];
  const { cluster, files } = await startBenchCluster(options.scale, { ...size, args });
  using peer = new DuckDbPeer();
  try {
    await peer.ask(createViews(files));
    const asks = new Map<string, (sql: string) => Promise<PeerAnswer>>();
    for (const mode of modes) asks.set(mode.name, await skeinIn(cluster, mode));
    await warmUp(cluster, async () => {
      for (const run of asks.values()) for (const { sql } of TPCH_QUERIES) await run(sql);
    });
    const times: QueryTimes[] = [];
    for (const { name, sql } of TPCH_QUERIES) {
      const skein = new Map([...asks].map(([mode, run]) => [mode, () => run(sql)]));
      times.push(await measure(name, options.runs, { skein, duckdb: () => peer.ask(sql) }));
      process.stderr.write(`${name} `);
    }
    process.stderr.write('\n');
    await report(options, modes, times);
  } finally {
    await cluster.stop();
  }
}

const ONE_CORE_EACH = { workers: 2, args: ['--worker-cores', '1'] } as const;

async function skeinIn(cluster: Cluster, { settings }: Mode): Promise<(sql: string) => Promise<PeerAnswer>> {
  const session = randomUUID();
  for (const sql of ['USE lake.tpch', ...settings]) await cluster.sql(sql, { sessionId: session });
  return (sql) => askSkein(cluster, session, sql);
}

type Run = () => Promise<PeerAnswer>;

async function measure(
  name: string,
  runs: number,
  { skein, duckdb }: { readonly skein: ReadonlyMap<string, Run>; readonly duckdb: Run },
): Promise<QueryTimes> {
  const { rows } = await duckdb();
  const skeinMs: Record<string, number[]> = {};
  for (const [mode, run] of skein) {
    const warm = await run();
    if (warm.rows !== rows) throw new Error(`${name}, ${mode}: ${warm.rows} rows, DuckDB has ${rows}`);
    skeinMs[mode] = [];
  }
  const duckdbMs: number[] = [];
  for (let round = 0; round < runs; round++) {
    for (const [mode, run] of skein) skeinMs[mode]?.push((await run()).elapsedMs);
    duckdbMs.push((await duckdb()).elapsedMs);
  }
  return { name, skeinMs, duckdbMs };
}

async function askSkein(cluster: Cluster, sessionId: string, sql: string): Promise<PeerAnswer> {
  const started = performance.now();
  const rows = await cluster.sql(sql, { sessionId, timeoutMs: QUERY_TIMEOUT_MS });
  return { elapsedMs: performance.now() - started, rows: rows.length };
}

async function report(
  { scale, runs, distributed, withoutCopies }: TpchOptions,
  modes: readonly Mode[],
  times: readonly QueryTimes[],
): Promise<void> {
  const names = modes.map((mode) => mode.name);
  const figures = times.map(({ name, skeinMs, duckdbMs }) => {
    const duckdb = median(duckdbMs);
    const skein = names.map((mode) => ({ mode, runsMs: skeinMs[mode] ?? [], ms: median(skeinMs[mode] ?? []) }));
    return {
      name,
      duckdbMs: duckdb,
      duckdbRunsMs: duckdbMs,
      skein: skein.map((one) => ({ ...one, ratio: one.ms / duckdb })),
    };
  });
  const duckdbTotal = sum(figures.map((f) => f.duckdbMs));
  const totals = names.map((mode, i) => {
    const ms = sum(figures.map((f) => f.skein[i]?.ms ?? 0));
    return { mode, ms, ratio: ms / duckdbTotal };
  });
  const row = (
    name: string,
    duckdb: number,
    skein: readonly { readonly ms: number; readonly ratio: number }[],
  ): string[] => [name, duckdb.toFixed(1), ...skein.flatMap(({ ms, ratio }) => [ms.toFixed(1), ratio.toFixed(2)])];
  const header = [`TPC-H SF${scale}`, 'DuckDB ms', ...names.flatMap((mode) => [`Skein ${mode} ms`, 'ratio'])];
  const variant = `${distributed ? '-distributed' : ''}${withoutCopies ? '-without-copies' : ''}`;
  await writeResult(`tpch-sf${scale}${variant}`, {
    table: printTable(header, [
      ...figures.map((f) => row(f.name, f.duckdbMs, f.skein)),
      row('total', duckdbTotal, totals),
    ]),
    figures: { scale, runs, total: { duckdbMs: duckdbTotal, skein: totals }, queries: figures },
    chart: {
      title: `TPC-H at scale ${scale}, warm median of ${runs}`,
      unit: 'ms',
      labels: figures.map((f) => f.name),
      series: [
        ...names.map((mode, i) => ({
          name: `Skein, ${mode}`,
          color: COLORS[i] ?? '#2563eb',
          values: figures.map((f) => f.skein[i]?.ms ?? 0),
        })),
        { name: 'DuckDB', color: '#f59e0b', values: figures.map((f) => f.duckdbMs) },
      ],
    },
  });
}

const COLORS = ['#2563eb', '#7c3aed', '#0d9488'] as const;

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
