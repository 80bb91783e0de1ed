// long file: one table, all targets
import { must } from '#shared/must.ts';
import type { Figures } from './figures.ts';

/** The target of a benchmark, for a figure of the file that it writes to `bench/results`. */
export type Target = {
  /** `<result>.json` */
  readonly result: ResultName;
  readonly what: string;
  readonly figure: (figures: Figures) => number;
  readonly atMost?: number;
  readonly atLeast?: number;
};

/** The results that have targets, and the arguments of `npm run bench --` that make them. */
export const COMMANDS = {
  'tpch-sf1': 'tpch',
  'tpch-sf1-distributed': 'tpch --distributed',
  'tpcds-sf1-whole': 'tpcds',
  'tpcds-sf10-whole': 'tpcds --scale 10',
  'tpcds-sf10-forced': 'tpcds --scale 10',
  'scale-sf1': 'scale',
  latency: 'latency',
  writes: 'writes',
  copy: 'copy',
  history: 'history',
  mixed: 'mixed',
  catalog: 'catalog',
  attack: 'attack',
  'first-minutes': 'first-minutes',
  browse: 'browse',
  flight: 'flight',
  postgres: 'postgres',
  'object-store-sf1': 'object-store',
} as const;

export type ResultName = keyof typeof COMMANDS;

const MIB = 2 ** 20;

const ratio =
  (mode: number) =>
  ({ total }: Figures): number =>
    must(total?.skein[mode], 'a mode').ratio;
const caseOf = ({ cases }: Figures, name: string, clients: number) =>
  must(
    cases?.find((one) => one.name === name && one.clients === clients),
    `the case ${name}`,
  );
const p50 =
  (name: string, clients: number) =>
  (figures: Figures): number =>
    caseOf(figures, name, clients).p50Ms;
const rate =
  (name: string, clients: number) =>
  (figures: Figures): number =>
    caseOf(figures, name, clients).perSecond;

const sizeOf = ({ sizes }: Figures, workers: number, slots: number) =>
  must(
    sizes?.find((one) => one.workers === workers && one.slots === slots),
    `${workers} workers of ${slots} slots`,
  );

const copyRatio =
  (index: number) =>
  ({ copies }: Figures): number =>
    must(copies?.[index], 'a copy').ratio;
const changeOf = ({ changes }: Figures, index: number) => must(changes?.[index], 'a change');
const insertsOf = ({ inserts }: Figures, index: number) => must(inserts?.[index], 'INSERTs');

const toolsOf = ({ tools }: Figures) => must(tools, 'figures of tools');
const flightOf = ({ flight }: Figures) => must(flight, 'figures of Flight SQL');

/** Ratios are to plain DuckDB over the same files and cores, in the same run. */
export const TARGETS: readonly Target[] = [
  { result: 'tpch-sf1', what: 'TPC-H at scale 1, default settings, to DuckDB', figure: ratio(0), atMost: 1.05 },
  {
    result: 'tpch-sf1-distributed',
    what: 'TPC-H at scale 1, two workers, default settings, to DuckDB',
    figure: ratio(0),
    atMost: 1.2,
  },
  { result: 'tpch-sf1-distributed', what: 'the same, distribution forced', figure: ratio(1), atMost: 1.3 },
  { result: 'tpch-sf1-distributed', what: 'the same, partitioned joins forced', figure: ratio(2), atMost: 1.7 },
  { result: 'tpcds-sf1-whole', what: 'TPC-DS at scale 1, whole, to DuckDB', figure: ratio(0), atMost: 1.1 },
  { result: 'tpcds-sf10-whole', what: 'TPC-DS at scale 10, whole, to DuckDB', figure: ratio(0), atMost: 1.1 },
  {
    result: 'tpcds-sf10-forced',
    what: 'TPC-DS at scale 10, two workers, distribution forced',
    figure: ratio(0),
    atMost: 1.5,
  },
  {
    result: 'scale-sf1',
    what: 'TPC-H, forced: time of one worker to that of two',
    figure: (figures) => sizeOf(figures, 1, 1).totalMs / sizeOf(figures, 2, 1).totalMs,
    atLeast: 1.3,
  },
  {
    result: 'scale-sf1',
    what: 'TPC-H, forced: CPU with eight slots a worker to that with one',
    figure: (figures) => sizeOf(figures, 2, 8).totalCpuSeconds / sizeOf(figures, 2, 1).totalCpuSeconds,
    atMost: 1.1,
  },
  { result: 'latency', what: 'SELECT 1, 1 client, ms', figure: p50('SELECT 1', 1), atMost: 3 },
  { result: 'latency', what: 'SELECT 1, 16 clients, a second', figure: rate('SELECT 1', 16), atLeast: 800 },
  { result: 'latency', what: 'point query, 1 client, ms', figure: p50('point query', 1), atMost: 8 },
  {
    result: 'latency',
    what: 'point query, 16 clients, to DuckDB in process',
    figure: ({ pointQueryRatio }) => must(pointQueryRatio, 'a ratio'),
    atLeast: 0.8,
  },
  {
    result: 'latency',
    what: 'point query, 16 clients, to DuckDB in process with its metadata cache',
    figure: ({ pointQueryRatioCached }) => must(pointQueryRatioCached, 'a ratio'),
    atLeast: 0.35,
  },
  { result: 'latency', what: 'point query, slots busy, ms', figure: p50('point query, slots busy', 1), atMost: 25 },
  {
    result: 'latency',
    what: 'ten groups of 100 files, time to DuckDB in process',
    figure: ({ groupsRatio }) => must(groupsRatio, 'a ratio'),
    atMost: 1.3,
  },
  { result: 'writes', what: 'CTAS of lineitem, to a COPY of DuckDB', figure: copyRatio(0), atMost: 1.25 },
  { result: 'writes', what: 'the same, partitioned by month', figure: copyRatio(2), atMost: 1.5 },
  {
    result: 'writes',
    what: 'unload of lineitem, scale 1, to Parquet, to DuckDB’s COPY',
    figure: copyRatio(1),
    atMost: 1.25,
  },
  {
    result: 'copy',
    what: 'COPY INTO of 1 GB of CSV, to a COPY of DuckDB’s read_csv',
    figure: copyRatio(0),
    atMost: 1.3,
  },
  { result: 'copy', what: 'COPY INTO of 100 Parquet files, to a COPY of DuckDB’s', figure: copyRatio(2), atMost: 1.2 },
  {
    result: 'writes',
    what: 'UPDATE of 1 % of orders, to DuckDB’s iceberg extension',
    figure: (all) => changeOf(all, 0).ratio,
    atMost: 0.7,
  },
  {
    result: 'writes',
    what: 'reading the table after the UPDATE, to DuckDB’s table',
    figure: (all) => changeOf(all, 0).readMs / changeOf(all, 0).readPeersMs,
    atMost: 1,
  },
  {
    result: 'writes',
    what: 'DELETE of 1 % of orders, to the same',
    figure: (all) => changeOf(all, 1).ratio,
    atMost: 0.7,
  },
  {
    result: 'writes',
    what: 'reading the table after the DELETE, to DuckDB’s table',
    figure: (all) => changeOf(all, 1).readMs / changeOf(all, 1).readPeersMs,
    atMost: 1,
  },
  {
    result: 'writes',
    what: 'MERGE, to UPDATE and INSERT of its rows',
    figure: (all) => changeOf(all, 2).ratio,
    atMost: 1.2,
  },
  {
    result: 'writes',
    what: 'REFRESH of an aggregate over lineitem after 1 % of new rows, to a full one',
    figure: ({ refresh }) => must(refresh, 'figures').ratio,
    atMost: 0.1,
  },
  {
    result: 'writes',
    what: 'OPTIMIZE of 300 files of 1,000 rows, ms',
    figure: ({ optimizeMs }) => must(optimizeMs, 'a figure'),
    atMost: 10_000,
  },
  { result: 'writes', what: 'INSERT of a row, 1 client, ms', figure: (all) => insertsOf(all, 0).p50Ms, atMost: 30 },
  {
    result: 'writes',
    what: 'INSERT of a row, 8 clients, 8 tables, a second',
    figure: (all) => insertsOf(all, 1).perSecond,
    atLeast: 60,
  },
  {
    result: 'writes',
    what: 'its rate in the last tenth to the first, to that of a probe',
    figure: (all) => insertsOf(all, 1).lastToFirst / insertsOf(all, 1).probeLastToFirst,
    atLeast: 0.8,
  },
  {
    result: 'writes',
    what: 'INSERT of a row, 16 clients, 1 table, a second',
    figure: (all) => insertsOf(all, 2).perSecond,
    atLeast: 60,
  },
  { result: 'writes', what: 'of these, failed', figure: (all) => insertsOf(all, 2).failed, atMost: 0 },
  { result: 'history', what: 'records that are lost', figure: ({ lost }) => must(lost, 'a count'), atMost: 0 },
  {
    result: 'history',
    what: 'SELECT 1 of 16 clients with history, to without',
    figure: ({ statements }) => {
      const { onMs, offMs } = must(
        statements?.find((one) => one.name === 'SELECT 1' && one.clients === 16),
        'a case',
      );
      return onMs / offMs;
    },
    atMost: 1.05,
  },
  {
    result: 'history',
    what: 'all small statements with history, to without',
    figure: (all) => must(all.ratio, 'a ratio'),
    atMost: 1.05,
  },
  {
    result: 'mixed',
    what: 'interactive p95 with batch load, to without',
    figure: ({ p95Ratio }) => must(p95Ratio, 'a ratio'),
    atMost: 2,
  },
  {
    result: 'mixed',
    what: 'batch throughput, to alone less the CPU of the others',
    figure: ({ throughput }) => must(throughput, 'a ratio'),
    atLeast: 0.85,
  },
  {
    result: 'mixed',
    what: 'a lone batch query, to workload management off',
    figure: ({ loneRatio }) => must(loneRatio, 'a ratio'),
    atMost: 1.05,
  },
  { result: 'mixed', what: 'queries that history lacks', figure: ({ missing }) => must(missing, 'a count'), atMost: 0 },
  {
    result: 'mixed',
    what: 'memory of the coordinator, MiB',
    figure: ({ coordinatorMB }) => must(coordinatorMB, 'a figure'),
    atMost: 500,
  },
  { result: 'catalog', what: 'loadTable, 16 clients, ms', figure: p50('loadTable', 16), atMost: 5 },
  { result: 'catalog', what: 'loadTable, 16 clients, a second', figure: rate('loadTable', 16), atLeast: 1_500 },
  {
    result: 'catalog',
    what: 'memory after all requests, MiB',
    figure: ({ memory = [] }) => must(memory.at(-1), 'samples').residentBytes / MIB,
    atMost: 512,
  },
  {
    result: 'browse',
    what: 'columns of one table of 10,000, beyond SELECT 1, ms',
    figure: (figures) => p50('columns of one table', 1)(figures) - p50('SELECT 1', 1)(figures),
    atMost: 10,
  },
  { result: 'browse', what: 'count of 300,000 columns, ms', figure: p50('count of all columns', 1), atMost: 300 },
  {
    result: 'browse',
    what: 'the same right behind a commit, ms',
    figure: ({ behindMs }) => must(behindMs, 'a figure'),
    atMost: 1_500,
  },
  {
    result: 'browse',
    what: 'growth of the coordinator by the lists, MiB',
    figure: ({ grown }) => must(grown, 'a figure').coordinator,
    atMost: 150,
  },
  {
    result: 'browse',
    what: 'growth of the catalog by the lists, MiB',
    figure: ({ grown }) => must(grown, 'a figure').catalog,
    atMost: 150,
  },
  {
    result: 'browse',
    what: 'p95 of SELECT 1 beside 50 browsing clients, to it alone',
    figure: ({ browsing }) => must(browsing, 'a figure').ratio,
    atMost: 2,
  },
  {
    result: 'browse',
    what: 'the slowest of psql’s tables and table, getTables, getColumns, count of pg_attribute, each asked first, ms',
    figure: (all) => Math.max(...toolsOf(all).questions.map(({ firstMs }) => firstMs)),
    atMost: 1_000,
  },
  {
    result: 'browse',
    what: 'count of pg_attribute right behind a commit, ms',
    figure: (all) => toolsOf(all).behindMs,
    atMost: 1_000,
  },
  {
    result: 'browse',
    what: 'p50 of the statements of Postgres’ tools, beyond SELECT 1, ms',
    figure: (all) => toolsOf(all).allMs - toolsOf(all).selectOneMs,
    atMost: 30,
  },
  {
    result: 'browse',
    what: 'p95 of SELECT 1 beside 50 clients that browse pg_catalog, to it alone',
    figure: (all) => toolsOf(all).browsing.ratio,
    atMost: 2,
  },
  {
    result: 'flight',
    what: 'lineitem over Flight SQL, to DuckDB’s fetch_arrow_table',
    figure: (all) => flightOf(all).lineitem.ratio,
    atMost: 2,
  },
  {
    result: 'flight',
    what: 'growth of the coordinator by it, MiB',
    figure: (all) => flightOf(all).lineitem.grownMB,
    atMost: 250,
  },
  { result: 'flight', what: 'batches that lie ready, GB/s', figure: (all) => flightOf(all).readyGBs, atLeast: 0.8 },
  {
    result: 'flight',
    what: 'SELECT 1 prepared over Flight SQL, to HTTP',
    figure: (all) => flightOf(all).selectOneRatio,
    atMost: 1.5,
  },
  {
    result: 'flight',
    what: 'SELECT 1 prepared over Flight SQL, ms',
    figure: (all) => flightOf(all).flight.p50Ms,
    atMost: 3,
  },
  {
    result: 'flight',
    what: 'ingest of a million rows, to COPY INTO',
    figure: (all) => flightOf(all).ingest.ratio,
    atMost: 3,
  },
  {
    result: 'flight',
    what: 'growth of the coordinator by ingest, MiB',
    figure: (all) => flightOf(all).ingest.grownMB,
    atMost: 150,
  },
  { result: 'postgres', what: 'COPY TO STDOUT in binary, to Postgres', figure: copyRatio(0), atMost: 1.5 },
  { result: 'postgres', what: 'COPY TO STDOUT in text, to Postgres', figure: copyRatio(1), atMost: 2.5 },
  {
    result: 'postgres',
    what: 'psycopg in binary, to the COPY',
    figure: ({ psycopgRatio }) => must(psycopgRatio, 'a ratio'),
    atMost: 1.5,
  },
  {
    result: 'postgres',
    what: 'point query of pgbench, 4 clients, to HTTP',
    figure: ({ point }) => must(point, 'a point query').ratio,
    atMost: 1.3,
  },
  {
    result: 'object-store-sf1',
    what: 'TPC-H at scale 1 over a bucket, warm, to the same over file:',
    figure: ({ warmRatio }) => must(warmRatio, 'a ratio'),
    atMost: 1.05,
  },
  {
    result: 'object-store-sf1',
    what: 'bytes fetched when warm, to those of the first round',
    figure: ({ warmShare }) => must(warmShare, 'a share'),
    atMost: 0.02,
  },
  {
    result: 'object-store-sf1',
    what: 'bytes fetched after a restart, to the same',
    figure: ({ restartShare }) => must(restartShare, 'a share'),
    atMost: 0.15,
  },
  {
    result: 'object-store-sf1',
    what: 'LIMIT 10 of lineitem in a bucket, MiB',
    figure: ({ limitBytes }) => must(limitBytes, 'bytes') / MIB,
    atMost: 64,
  },
  {
    result: 'object-store-sf1',
    what: 'CTAS of lineitem into a bucket, to the local one or a plain upload',
    figure: ({ ctasRatio }) => must(ctasRatio, 'a ratio'),
    atMost: 1.3,
  },
  {
    result: 'object-store-sf1',
    what: 'cold over a line of 20 ms and 25 MB/s, to a plain client',
    figure: ({ line }) => Math.max(...must(line, 'queries').map(({ ratio: one }) => one)),
    atMost: 1.5,
  },
  {
    result: 'attack',
    what: 'p95 beside attackers to p95 beside honest heavy clients',
    figure: ({ attackRatio }) => must(attackRatio, 'a ratio'),
    atMost: 1.5,
  },
  {
    result: 'first-minutes',
    what: 'point query from the start on, 16 clients: slowest second, to a second of one client',
    figure: ({ leastRateRatio }) => must(leastRateRatio, 'a ratio'),
    atLeast: 0.9,
  },
  {
    result: 'first-minutes',
    what: 'the same: p99 to p50',
    figure: ({ tailRatio }) => must(tailRatio, 'a ratio'),
    atMost: 10,
  },
  {
    result: 'first-minutes',
    what: 'memory of an idle cluster with two workers, MiB',
    figure: ({ idleMib }) => must(idleMib, 'a size'),
    atMost: 600,
  },
];

export type Judged = {
  readonly target: Target;
  readonly figure: string;
  readonly isMet: boolean;
};

/** The goal of a target, as tables print it. */
export const goalOf = ({ atMost, atLeast }: Target): string =>
  atMost === undefined ? `>= ${atLeast}` : `<= ${atMost}`;

/** Every target whose result is there, with its figure. Pure. */
export function judge(results: Partial<Readonly<Record<ResultName, Figures>>>): readonly Judged[] {
  return TARGETS.flatMap((target) => {
    const result = results[target.result];
    if (result === undefined) return [];
    const value = target.figure(result);
    const { atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY } = target;
    return [{ target, figure: value.toFixed(2), isMet: value <= atMost && value >= atLeast }];
  });
}
