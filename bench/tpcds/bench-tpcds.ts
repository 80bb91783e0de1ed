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
};
/** `withoutCopies`: workers copy no files, so that every query unpacks what it reads. */
type TpcdsOptions = { readonly scale: string; readonly runs: number; readonly withoutCopies: boolean };
type Query = { readonly name: string; readonly sql: string };
type Times = { readonly name: string; readonly skeinMs: number; readonly duckdbMs: number; readonly ratio: number };
/** `explained`: where the time of its last run went, of the queries with the highest ratios. */
type Measured = Times & { readonly explained: string };

const MODES: readonly Mode[] = [
  { name: 'whole', cluster: { workers: 1 }, setting: "SET skein.distribution = 'single'" },
  {
    name: 'forced',
    cluster: { workers: 2, args: ['--worker-cores', '1'] },
    setting: "SET skein.distribution = 'force'",
  },
];

/**
 * The 103 statements of TPC-DS, whole on one worker of every core and with distribution forced on two workers of one core each, beside one
 * plain DuckDB process over the same files, in turn: after `warmUp` one more round that does not count, then `runs` measured ones.
 */
export async function benchTpcds(options: TpcdsOptions): Promise<void> {
  const queries = await must(SUITES['tpcds'], 'the suite').queries();
  const measured = new Map<string, readonly Measured[]>();
  for (const mode of MODES) measured.set(mode.name, await measureMode(mode, queries, options));
  await report(options, measured);
}

async function measureMode(
  mode: Mode,
  queries: readonly Query[],
  { scale, runs, withoutCopies }: TpcdsOptions,
): Promise<readonly Measured[]> {
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
  await warmUp(cluster, async () => {
    for (const { sql } of queries) await cluster.sql(sql, { sessionId, timeoutMs: QUERY_TIMEOUT_MS });
  });
  const measured: (Times & { readonly lastId: string; readonly lastMs: number })[] = [];
  for (const { name, sql } of queries) {
    const skein: number[] = [];
    const duckdb: number[] = [];
    let lastId = '';
    for (let run = 0; run <= runs; run++) {
      const started = performance.now();
      lastId = randomUUID();
      const rows = await cluster.sql(sql, { sessionId, queryId: lastId, timeoutMs: QUERY_TIMEOUT_MS });
      const skeinMs = performance.now() - started;
      const answer = await peer.ask(sql);
      if (rows.length !== answer.rows) throw new Error(`${name}: ${rows.length} rows, DuckDB has ${answer.rows}`);
      // The first warms up.
      if (run === 0) continue;
      skein.push(skeinMs);
      duckdb.push(answer.elapsedMs);
    }
    const [skeinMs, duckdbMs] = [median(skein), median(duckdb)];
    const lastMs = must(skein.at(-1), 'a measured run');
    measured.push({ name, skeinMs, duckdbMs, ratio: skeinMs / duckdbMs, lastId, lastMs });
  }
  process.stderr.write(`${mode.name} done\n`);
  const worst = new Set(measured.toSorted((a, b) => b.ratio - a.ratio).slice(0, WORST));
  const explain = async (one: (typeof measured)[number]): Promise<Measured> => {
    const { lastId, lastMs, ...times } = one;
    return { ...times, explained: worst.has(one) ? await whereTimeWent(cluster, lastId, lastMs) : '' };
  };
  return await Promise.all(measured.map(explain));
}

async function report(
  { scale, runs, withoutCopies }: TpcdsOptions,
  measured: ReadonlyMap<string, readonly Measured[]>,
): Promise<void> {
  const modes = [...measured].map(([mode, queries]) => {
    const [skeinMs, duckdbMs] = [sum(queries.map((one) => one.skeinMs)), sum(queries.map((one) => one.duckdbMs))];
    return { mode, queries, total: { name: 'total', skeinMs, duckdbMs, ratio: skeinMs / duckdbMs } };
  });
  const cells = ({ duckdbMs, skeinMs, ratio }: Times): string[] => [
    duckdbMs.toFixed(1),
    skeinMs.toFixed(1),
    ratio.toFixed(2),
  ];
  const names = modes[0]?.queries.map(({ name }) => name) ?? [];
  const rows = names.map((name, q) => [name, ...modes.flatMap(({ queries }) => cells(must(queries[q], 'a query')))]);
  const table = printTable(
    [`TPC-DS SF${scale}`, ...modes.flatMap(({ mode }) => ['DuckDB ms', `Skein ${mode} ms`, 'ratio'])],
    [...rows, ['total', ...modes.flatMap(({ total }) => cells(total))]],
  );
  const worst = modes.map(({ mode, queries }) => {
    const ordered = queries.toSorted((a, b) => b.ratio - a.ratio).slice(0, WORST);
    const lines = ordered.map((one) => `  ${one.name} ${one.ratio.toFixed(2)}, ${one.explained}`);
    return [`highest ratios, ${mode}`, ...lines].join('\n');
  });
  await writeResult(`tpcds-sf${scale}${withoutCopies ? '-without-copies' : ''}`, {
    table: `${table}\n\n${worst.join('\n')}`,
    figures: {
      scale,
      runs,
      total: { skein: modes.map(({ mode, total }) => ({ mode, ...total })) },
      queries: Object.fromEntries(measured),
    },
    chart: {
      title: `TPC-DS at scale ${scale}, warm median of ${runs}, to plain DuckDB`,
      unit: 'x',
      labels: [...names],
      series: modes.map(({ mode, queries }, i) => ({
        name: `Skein, ${mode}`,
        color: i === 0 ? '#2563eb' : '#7c3aed',
        values: queries.map(({ ratio }) => ratio),
      })),
    },
  });
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
