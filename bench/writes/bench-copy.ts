import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster, type StartedCluster } from '#test/support/cluster.ts';
import { printTable } from '../report/print-table.ts';
import { median } from '../report/statistics.ts';
import { writeResult } from '../report/write-result.ts';
import { DuckDbPeer } from '../tpch/duckdb-peer.ts';
import { putFiles } from './put-files.ts';

/** Rows of the files: they make about 1 GB of CSV. */
const ROWS = 10_500_000;
const COLUMNS = [
  ['id', 'BIGINT'],
  ['customer', 'BIGINT'],
  ['quantity', 'INTEGER'],
  ['price', 'DECIMAL(12,2)'],
  ['discount', 'DOUBLE'],
  ['ordered', 'DATE'],
  ['shipped', 'TIMESTAMP'],
  ['status', 'VARCHAR'],
  ['comment', 'VARCHAR'],
] as const;
const ORDERS = `SELECT i AS id, (hash(i) % 1000000)::BIGINT AS customer, (i % 50)::INTEGER AS quantity,
  ((hash(i + 1) % 10000000) / 100)::DECIMAL(12,2) AS price, (i % 11) / 100.0::DOUBLE AS discount,
  DATE '2020-01-01' + (i % 2000)::INTEGER AS ordered, TIMESTAMP '2020-01-01' + to_seconds(i) AS shipped,
  ['open', 'shipped', 'returned'][i % 3 + 1] AS status, 'order ' || md5(i::VARCHAR) AS comment FROM range(${ROWS}) r(i)`;

const SCHEMA = 'lake.copies';
const TABLE = `${SCHEMA}.copied`;
const FORMAT = 'FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 122880, PER_THREAD_OUTPUT';
const STATEMENT_TIMEOUT_MS = 600_000;

type Load = {
  readonly name: string;
  /** Folder of the files, in the stage and on the disk. */
  readonly folder: string;
  readonly fileFormat: string;
  readonly make: (folder: string) => string;
  /** The relation that DuckDB reads, as text for FROM. */
  readonly read: (folder: string) => string;
};

const csv = (folder: string): string =>
  `read_csv('${folder}/*', header = false, auto_detect = false, columns = {${COLUMNS.map(([name, type]) => `'${name}': '${type}'`).join(', ')}})`;

const LOADS: readonly Load[] = [
  {
    name: '1 GB of CSV in 16 files',
    folder: 'csv',
    fileFormat: 'TYPE = CSV',
    make: (folder) =>
      `COPY (SELECT *, id % 16 AS p FROM (${ORDERS})) TO '${folder}' (FORMAT csv, HEADER false, PARTITION_BY (p), HIVE_FILE_PATTERN false, FILENAME_PATTERN '{uuid}')`,
    read: csv,
  },
  {
    name: '1 GB of CSV in one file',
    folder: 'one',
    fileFormat: 'TYPE = CSV',
    make: (folder) => `COPY (${ORDERS}) TO '${folder}/one.csv' (FORMAT csv, HEADER false)`,
    read: csv,
  },
  {
    name: '100 Parquet files',
    folder: 'parquet',
    fileFormat: 'TYPE = PARQUET',
    make: (folder) =>
      `COPY (SELECT *, id % 100 AS p FROM (${ORDERS})) TO '${folder}' (FORMAT parquet, PARTITION_BY (p), HIVE_FILE_PATTERN false, FILENAME_PATTERN '{uuid}')`,
    read: (folder) => `read_parquet('${folder}/*')`,
  },
];

type LoadFigures = {
  readonly name: string;
  readonly bytes: number;
  readonly skeinMs: number;
  readonly duckdbMs: number;
  readonly ratio: number;
};

/** Measures COPY INTO of files of a stage beside plain DuckDB, which writes the same files to Parquet, on two workers. */
export async function benchCopy({ runs }: { readonly runs: number }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-copy-'));
  const cluster = await startCluster({ workers: 2 });
  using peer = new DuckDbPeer();
  try {
    await cluster.sql(`CREATE SCHEMA ${SCHEMA}`);
    await cluster.sql(`CREATE STAGE ${SCHEMA}.box`);
    const copies: LoadFigures[] = [];
    for (const load of LOADS) {
      copies.push(await measure(load, { cluster, peer, folder, runs }));
      process.stderr.write('.');
    }
    process.stderr.write('\n');
    await report(copies, runs);
  } finally {
    await cluster.stop();
    await rm(folder, { recursive: true });
  }
}

type Place = {
  readonly cluster: StartedCluster;
  readonly peer: DuckDbPeer;
  readonly folder: string;
  readonly runs: number;
};

/** Takes turns: one warm-up each, then `runs` measured rounds. The files go when it is done. */
async function measure(load: Load, { cluster, peer, folder, runs }: Place): Promise<LoadFigures> {
  const source = join(folder, load.folder);
  await mkdir(source);
  await peer.ask(load.make(source));
  const bytes = await putFiles(cluster, { folder: source, stage: `${SCHEMA}.box`, path: load.folder });
  const [skeinMs, duckdbMs]: [number[], number[]] = [[], []];
  for (let round = 0; round <= runs; round++) {
    await cluster.sql(`CREATE TABLE ${TABLE} (${COLUMNS.map((column) => column.join(' ')).join(', ')})`);
    const started = performance.now();
    const copy = `COPY INTO ${TABLE} FROM @${SCHEMA}.box/${load.folder} FILE_FORMAT = (${load.fileFormat})`;
    await cluster.sql(copy, { timeoutMs: STATEMENT_TIMEOUT_MS });
    if (round > 0) skeinMs.push(performance.now() - started);
    const [[count] = []] = await cluster.sql(`SELECT count(*)::INT FROM ${TABLE}`);
    if (count !== ROWS) throw new Error(`COPY INTO loaded ${JSON.stringify(count)} rows of ${ROWS}`);
    await cluster.sql(`DROP TABLE ${TABLE} PURGE`);
    const target = join(folder, 'written');
    const { elapsedMs } = await peer.ask(`COPY (FROM ${load.read(source)}) TO '${target}' (${FORMAT})`);
    if (round > 0) duckdbMs.push(elapsedMs);
    await rm(target, { recursive: true });
  }
  await cluster.sql(`REMOVE @${SCHEMA}.box`);
  await rm(source, { recursive: true });
  const [skein, duckdb] = [median(skeinMs), median(duckdbMs)];
  return { name: load.name, bytes, skeinMs: skein, duckdbMs: duckdb, ratio: skein / duckdb };
}

async function report(copies: readonly LoadFigures[], runs: number): Promise<void> {
  const table = printTable(
    ['files', 'MB', 'COPY INTO ms', 'DuckDB COPY ms', 'ratio'],
    copies.map((one) => [
      one.name,
      (one.bytes / 1e6).toFixed(0),
      one.skeinMs.toFixed(0),
      one.duckdbMs.toFixed(0),
      one.ratio.toFixed(2),
    ]),
  );
  await writeResult('copy', {
    table,
    figures: { runs, copies },
    chart: {
      title: `COPY INTO of ${ROWS / 1e6} million rows, two workers, median of ${runs}`,
      unit: 'ms',
      labels: copies.map(({ name }) => name),
      series: [
        { name: 'Skein', color: '#2563eb', values: copies.map(({ skeinMs }) => skeinMs) },
        { name: 'DuckDB COPY', color: '#f59e0b', values: copies.map(({ duckdbMs }) => duckdbMs) },
      ],
    },
  });
}
