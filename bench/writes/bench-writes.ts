import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from '#test/support/cluster.ts';
import { tableFiles } from '#test/support/table-files.ts';
import { createViews, startBenchCluster } from '../bench-cluster.ts';
import { printTable } from '../report/print-table.ts';
import { median } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';
import { DuckDbPeer } from '../tpch/duckdb-peer.ts';
import { benchChanges, type ChangeFigures } from './changes.ts';
import { benchInserts, type InsertFigures } from './inserts.ts';
import { benchOptimize } from './optimize.ts';
import { benchRefresh, type RefreshFigures } from './refresh.ts';

/** Files that are written as a whole, of a table or of a stage, and the COPY of plain DuckDB that writes the same rows. */
type Copy = {
  readonly name: string;
  readonly create: string;
  readonly files: (cluster: Cluster) => Promise<number>;
  readonly drop: string;
  readonly copy: (folder: string) => string;
};

type CopyFigures = {
  readonly name: string;
  readonly skeinMs: number;
  readonly duckdbMs: number;
  readonly ratio: number;
  /** Files that each side wrote. */
  readonly skeinFiles: number;
  readonly duckdbFiles: number;
};

const SCHEMA = 'lake.writes';
const TABLE = `${SCHEMA}.copied`;
const STAGE = `@${SCHEMA}.unloaded`;
/** The format that Skein writes by default. */
const FORMAT = 'FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 122880';

const OF_TABLE = {
  files: async (cluster: Cluster) => (await tableFiles(cluster, 'writes', 'copied')).length,
  drop: `DROP TABLE ${TABLE} PURGE`,
};

const COPIES: readonly Copy[] = [
  {
    ...OF_TABLE,
    name: 'CTAS of lineitem',
    create: `CREATE TABLE ${TABLE} AS SELECT * FROM lake.tpch.lineitem`,
    copy: (folder) => `COPY (FROM lineitem) TO '${folder}/copied' (${FORMAT}, PER_THREAD_OUTPUT)`,
  },
  {
    name: 'unload of lineitem to Parquet',
    create: `COPY INTO ${STAGE}/lineitem/ FROM lake.tpch.lineitem FILE_FORMAT = (TYPE = PARQUET)`,
    files: async (cluster) => (await cluster.sql(`LIST ${STAGE}`)).length,
    drop: `REMOVE ${STAGE}`,
    copy: (folder) => `COPY (FROM lineitem) TO '${folder}/copied' (${FORMAT}, PER_THREAD_OUTPUT)`,
  },
  {
    ...OF_TABLE,
    name: 'CTAS of lineitem, partitioned by month',
    create: `CREATE TABLE ${TABLE} PARTITIONED BY (month(l_shipdate)) AS SELECT * FROM lake.tpch.lineitem`,
    copy: (folder) =>
      `COPY (SELECT *, date_trunc('month', l_shipdate) AS m FROM lineitem) TO '${folder}/copied' (${FORMAT}, PARTITION_BY (m))`,
  },
];

const STATEMENT_TIMEOUT_MS = 600_000;

export type WritesOptions = { readonly scale: string; readonly runs: number; readonly seconds: number };

/**
 * Measures writes: tables, and files of a stage, made from TPC-H's lineitem beside plain DuckDB's COPY of the same rows, by the same codec, to row groups of the
 * same size; UPDATE, DELETE and MERGE beside DuckDB’s iceberg extension and each other; REFRESH after new rows beside a full one; OPTIMIZE of a table of small files; and INSERTs of one row each, by one client, by eight into a table each, and by sixteen into one table.
 */
export async function benchWrites(options: WritesOptions): Promise<void> {
  const { cluster, files } = await startBenchCluster(options.scale);
  using peer = new DuckDbPeer();
  try {
    await peer.ask(createViews(files));
    await cluster.sql(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
    await cluster.sql(`CREATE STAGE IF NOT EXISTS ${STAGE.slice(1)}`);
    const copies: CopyFigures[] = [];
    for (const copy of COPIES) {
      copies.push(await measure(cluster, peer, copy, options.runs));
      process.stderr.write('.');
    }
    const changes = await benchChanges(cluster, SCHEMA, options.runs);
    const refresh = await benchRefresh(cluster, SCHEMA, options.runs);
    const optimizeMs = await benchOptimize(cluster, SCHEMA);
    process.stderr.write('.');
    const inserts = await benchInserts(cluster, SCHEMA, options.seconds);
    process.stderr.write('\n');
    await report(options, { copies, changes, refresh, optimizeMs, inserts });
  } finally {
    await cluster.stop();
  }
}

/** Takes turns: one warm-up each, then `runs` measured rounds. */
async function measure(cluster: Cluster, peer: DuckDbPeer, copy: Copy, runs: number): Promise<CopyFigures> {
  const skeinMs: number[] = [];
  const duckdbMs: number[] = [];
  const filesOf = { skein: 0, duckdb: 0 };
  for (let round = 0; round <= runs; round++) {
    const started = performance.now();
    await cluster.sql(copy.create, { timeoutMs: STATEMENT_TIMEOUT_MS });
    if (round > 0) skeinMs.push(performance.now() - started);
    filesOf.skein = await copy.files(cluster);
    await cluster.sql(copy.drop);
    const folder = await mkdtemp(join(tmpdir(), 'skein-bench-'));
    try {
      const { elapsedMs } = await peer.ask(copy.copy(folder));
      if (round > 0) duckdbMs.push(elapsedMs);
      filesOf.duckdb = (await peer.ask(`FROM glob('${folder}/copied/**/*.parquet')`)).rows;
    } finally {
      await rm(folder, { recursive: true });
    }
  }
  const [skein, duckdb] = [median(skeinMs), median(duckdbMs)];
  return {
    name: copy.name,
    skeinMs: skein,
    duckdbMs: duckdb,
    ratio: skein / duckdb,
    skeinFiles: filesOf.skein,
    duckdbFiles: filesOf.duckdb,
  };
}

type WritesFigures = {
  readonly copies: readonly CopyFigures[];
  readonly changes: readonly ChangeFigures[];
  readonly refresh: RefreshFigures;
  readonly optimizeMs: number;
  readonly inserts: readonly InsertFigures[];
};

const printRefresh = ({ groups, fullMs, incrementalMs, ratio }: RefreshFigures): string =>
  `REFRESH of ${groups} groups over lineitem: ${fullMs.toFixed(0)} ms, after 1 % of new rows ${incrementalMs.toFixed(0)} ms (${ratio.toFixed(3)})`;

async function report(
  { scale, runs }: WritesOptions,
  { copies, changes, refresh, optimizeMs, inserts }: WritesFigures,
): Promise<void> {
  const copied = printTable(
    ['table', 'Skein ms', 'files', 'DuckDB COPY ms', 'files', 'ratio'],
    copies.map((one) => [
      one.name,
      one.skeinMs.toFixed(0),
      String(one.skeinFiles),
      one.duckdbMs.toFixed(0),
      String(one.duckdbFiles),
      one.ratio.toFixed(2),
    ]),
  );
  const changed = printTable(
    ['of orders', 'Skein ms', 'beside', 'ms', 'ratio', 'read after, ms', 'after the other, ms'],
    changes.map((one) => [
      one.name,
      one.skeinMs.toFixed(0),
      one.peer,
      one.peerMs.toFixed(0),
      one.ratio.toFixed(2),
      one.readMs.toFixed(0),
      one.readPeersMs.toFixed(0),
    ]),
  );
  const inserted = printTable(
    [
      'INSERT of one row',
      'p50 ms',
      'p99 ms',
      'per second',
      'failed',
      'last tenth to first',
      'the same of the probe',
      'metadata bytes',
    ],
    inserts.map((one) => [
      one.name,
      one.p50Ms.toFixed(1),
      one.p99Ms.toFixed(1),
      one.perSecond.toFixed(0),
      String(one.failed),
      one.lastToFirst.toFixed(2),
      one.probeLastToFirst.toFixed(2),
      one.metadataBytesPerCommit.toFixed(0),
    ]),
  );
  await writeResult('writes', {
    table: `${copied}\n\n${changed}\n\n${printRefresh(refresh)}\n\nOPTIMIZE of 300 files of 1,000 rows: ${optimizeMs.toFixed(0)} ms\n\n${inserted}`,
    figures: { scale, runs, copies, changes, refresh, optimizeMs, inserts },
    chart: {
      title: `Tables made from lineitem at scale ${scale}, median of ${runs}`,
      unit: 'ms',
      labels: copies.map(({ name }) => name),
      series: [
        { name: 'Skein', color: '#2563eb', values: copies.map(({ skeinMs }) => skeinMs) },
        { name: 'DuckDB COPY', color: '#f59e0b', values: copies.map(({ duckdbMs }) => duckdbMs) },
      ],
    },
  });
}
