import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { must } from '#shared/must.ts';
import { projectRoot, startCluster, type ClusterOptions } from '#test/support/cluster.ts';
import { tableFiles } from '#test/support/table-files.ts';
import { loadSuite, SUITES } from '#test/verify/suites.ts';
import { printTable } from '../report/print-table.ts';
import { median } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';
import { DuckDbPeer } from '../tpch/duckdb-peer.ts';
import { warmUp, WITHOUT_COPIES } from '../warm-up.ts';
import { whereTimeWent } from './where-time-went.ts';

const QUERY_TIMEOUT_MS = 600_000;
/** Queries explained below the table: those with the highest ratios. */
const WORST = 10;

type Mode = {
  readonly name: 'whole' | 'forced';
  readonly cluster: Pick<ClusterOptions, 'workers' | 'args'>;
  readonly setting: string;
  readonly color: string;
};
/** `withoutCopies`: workers copy no files, so that every query unpacks what it reads. `mode`: that one alone. */
type TpcdsOptions = {
  readonly scale: string;
  readonly runs: number;
  readonly withoutCopies: boolean;
  readonly mode: string | undefined;
};
type Query = { readonly name: string; readonly sql: string };
type Times = { readonly name: string; readonly skeinMs: number; readonly duckdbMs: number; readonly ratio: number };
/** `explained`: where the time of its last run went, of the queries with the highest ratios. */
type Measured = Times & { readonly explained: string };
type Failed = { readonly name: string; readonly error: string };

const MODES: readonly Mode[] = [
  { name: 'whole', cluster: { workers: 1 }, setting: "SET skein.distribution = 'single'", color: '#2563eb' },
  {
    name: 'forced',
    cluster: { workers: 2, args: ['--worker-cores', '1'] },
    setting: "SET skein.distribution = 'force'",
    color: '#7c3aed',
  },
];

/**
 * The 103 statements of TPC-DS, whole on one worker of every core and with distribution forced on two workers of one core each, beside one
 * plain DuckDB process over the same files, in turn: after `warmUp` one more round that does not count, then `runs` measured ones. What a
 * mode gave is written before the next begins.
 * @throws when statements failed, after all others are measured
 */
export async function benchTpcds(options: TpcdsOptions): Promise<void> {
  const modes = MODES.filter(({ name }) => options.mode === undefined || name === options.mode);
  if (modes.length === 0) throw new Error(`--mode is one of ${MODES.map(({ name }) => name).join(', ')}`);
  const queries = await must(SUITES['tpcds'], 'the suite').queries();
  const failed: string[] = [];
  for (const mode of modes) {
    const measured = await measureMode(mode, queries, options);
    await report(options, mode, measured);
    failed.push(...measured.failed.map(({ name, error }) => `${mode.name} ${name}: ${error}`));
  }
  if (failed.length > 0) throw new Error(failed.join('\n'));
}

async function measureMode(
  mode: Mode,
  queries: readonly Query[],
  { scale, runs, withoutCopies }: TpcdsOptions,
): Promise<{ readonly measured: readonly Measured[]; readonly failed: readonly Failed[] }> {
  const suite = must(SUITES['tpcds'], 'the suite');
  const dataDir = join(projectRoot, '.cache/bench', `tpcds-${scale}`);
  await mkdir(dataDir, { recursive: true });
  const args = [...(mode.cluster.args ?? []), ...(withoutCopies ? WITHOUT_COPIES : [])];
  await using cluster = await startCluster({ dataDir, ...mode.cluster, args });
  await loadSuite(cluster, suite, scale);
  using peer = new DuckDbPeer();
  for (const table of suite.tables) {
    const files = (await tableFiles(cluster, suite.name, table)).map((file) => `'${file}'`);
    await peer.ask(`CREATE VIEW ${table} AS SELECT * FROM read_parquet([${files.join(', ')}])`);
  }
  const sessionId = randomUUID();
  for (const sql of ['USE lake.tpcds', mode.setting]) await cluster.sql(sql, { sessionId });
  const ask = async (sql: string, queryId: string): Promise<number> =>
    (await cluster.sql(sql, { sessionId, queryId, timeoutMs: QUERY_TIMEOUT_MS })).length;
  await warmUp(cluster, async () => {
    // One that fails does so again when it is measured.
    for (const { sql } of queries) await ask(sql, randomUUID()).catch(() => undefined);
  });
  const measured: (Times & { readonly lastId: string; readonly lastMs: number })[] = [];
  const failed: Failed[] = [];
  for (const { name, sql } of queries) {
    const skein: number[] = [];
    const duckdb: number[] = [];
    let lastId = '';
    try {
      for (let run = 0; run <= runs; run++) {
        const started = performance.now();
        lastId = randomUUID();
        const rows = await ask(sql, lastId);
        const skeinMs = performance.now() - started;
        const answer = await peer.ask(sql);
        if (rows !== answer.rows) throw new Error(`${rows} rows, DuckDB has ${answer.rows}`);
        // The first warms up.
        if (run === 0) continue;
        skein.push(skeinMs);
        duckdb.push(answer.elapsedMs);
      }
    } catch (error) {
      failed.push({ name, error: String(error).split('\n', 1).join('') });
      continue;
    }
    const [skeinMs, duckdbMs] = [median(skein), median(duckdb)];
    const lastMs = must(skein.at(-1), 'a measured run');
    measured.push({ name, skeinMs, duckdbMs, ratio: skeinMs / duckdbMs, lastId, lastMs });
  }
  const worst = new Set(measured.toSorted((a, b) => b.ratio - a.ratio).slice(0, WORST));
  const explain = async (one: (typeof measured)[number]): Promise<Measured> => {
    const { lastId, lastMs, ...times } = one;
    return { ...times, explained: worst.has(one) ? await whereTimeWent(cluster, lastId, lastMs) : '' };
  };
  return { measured: await Promise.all(measured.map(explain)), failed };
}

async function report(
  { scale, runs, withoutCopies }: TpcdsOptions,
  mode: Mode,
  { measured, failed }: Awaited<ReturnType<typeof measureMode>>,
): Promise<void> {
  const [skeinMs, duckdbMs] = [sum(measured.map((one) => one.skeinMs)), sum(measured.map((one) => one.duckdbMs))];
  const total = { name: 'total', skeinMs, duckdbMs, ratio: skeinMs / duckdbMs };
  const row = (one: Times): string[] => [
    one.name,
    one.duckdbMs.toFixed(1),
    one.skeinMs.toFixed(1),
    one.ratio.toFixed(2),
  ];
  const table = printTable(
    [`TPC-DS SF${scale}`, 'DuckDB ms', `Skein ${mode.name} ms`, 'ratio'],
    [...measured, total].map(row),
  );
  const ordered = measured.toSorted((a, b) => b.ratio - a.ratio).slice(0, WORST);
  const lines = [
    `highest ratios, ${mode.name}`,
    ...ordered.map((one) => `  ${one.name} ${one.ratio.toFixed(2)}, ${one.explained}`),
    ...failed.map(({ name, error }) => `${name} failed: ${error}`),
  ];
  await writeResult(`tpcds-sf${scale}-${mode.name}${withoutCopies ? '-without-copies' : ''}`, {
    table: `${table}\n\n${lines.join('\n')}`,
    figures: { scale, runs, total: { skein: [{ mode: mode.name, ...total }] }, queries: measured, failed },
    chart: {
      title: `TPC-DS at scale ${scale}, warm median of ${runs}, to plain DuckDB`,
      unit: 'x',
      labels: measured.map(({ name }) => name),
      series: [{ name: `Skein, ${mode.name}`, color: mode.color, values: measured.map(({ ratio }) => ratio) }],
    },
  });
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
