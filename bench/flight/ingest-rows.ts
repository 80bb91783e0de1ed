import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster } from '#test/support/cluster.ts';
import { median } from '../report/statistics.ts';
import { DuckDbPeer } from '../tpch/duckdb-peer.ts';
import { putFiles } from '../writes/put-files.ts';
import { PeakGrowth } from './peak-growth.ts';
import { signIn, timedRows } from './timed-rows.ts';

const ROWS = 1_000_000;
const FILES = 4;
const COLUMNS = 'id BIGINT, customer BIGINT, price DECIMAL(12,2), ordered TIMESTAMP, comment VARCHAR';
const ORDERS = `SELECT i AS id, (hash(i) % 1000000)::BIGINT AS customer, ((hash(i + 1) % 10000000) / 100)::DECIMAL(12,2) AS price,
  TIMESTAMP '2020-01-01' + to_seconds(i) AS ordered, 'order ' || md5(i::VARCHAR) AS comment FROM range(${ROWS}) r(i)`;

const SCHEMA = 'flight_bench';
const STAGE = `lake.${SCHEMA}.box`;
const INGESTED = 'ingested';
const COPIED = 'copied';
const STATEMENT_TIMEOUT_MS = 600_000;

export type IngestFigures = {
  readonly rows: number;
  readonly bytes: number;
  readonly ingestMs: number;
  readonly copyMs: number;
  readonly ratio: number;
  readonly grownMB: number;
};

/** A million rows of five columns into a new table: out of a client's memory by ADBC's ingest, and out of Parquet files by COPY INTO, in turns. */
export async function ingestRows(cluster: Cluster, runs: number): Promise<IngestFigures> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-ingest-'));
  try {
    const source = join(folder, 'rows');
    await mkdir(source);
    await makeFiles(source);
    await cluster.sql(`CREATE SCHEMA IF NOT EXISTS lake.${SCHEMA}`);
    await cluster.sql(`CREATE STAGE IF NOT EXISTS ${STAGE}`);
    await putFiles(cluster, { folder: source, stage: STAGE, path: 'rows' });
    return await measure(cluster, source, runs);
  } finally {
    await rm(folder, { recursive: true });
    await cluster.query(`REMOVE @${STAGE}`);
  }
}

async function makeFiles(folder: string): Promise<void> {
  using peer = new DuckDbPeer();
  const format = "FORMAT parquet, PARTITION_BY (p), HIVE_FILE_PATTERN false, FILENAME_PATTERN '{uuid}'";
  await peer.ask(`COPY (SELECT *, id % ${FILES} AS p FROM (${ORDERS})) TO '${folder}' (${format})`);
}

/** One warm-up each, then `runs` measured rounds. */
async function measure(cluster: Cluster, source: string, runs: number): Promise<IngestFigures> {
  const growth = await PeakGrowth.startingNow(await cluster.pidOf('coordinator'));
  const args = [...signIn(cluster), 'lake', SCHEMA, INGESTED, source];
  const copy = `COPY INTO lake.${SCHEMA}.${COPIED} FROM @${STAGE}/rows FILE_FORMAT = (TYPE = PARQUET)`;
  const [ingestMs, copyMs]: [number[], number[]] = [[], []];
  let bytes = 0;
  for (let round = 0; round <= runs; round++) {
    const ingested = await intoTable(cluster, INGESTED, () =>
      growth.during(() => timedRows('flight', 'ingest_rows.py', args)),
    );
    const copied = await intoTable(cluster, COPIED, async () => {
      const started = performance.now();
      await cluster.sql(copy, { timeoutMs: STATEMENT_TIMEOUT_MS });
      return performance.now() - started;
    });
    ({ bytes } = ingested);
    if (round === 0) continue;
    ingestMs.push(...ingested.ms);
    copyMs.push(copied);
    process.stderr.write('.');
  }
  process.stderr.write('\n');
  const [ingest, copying] = [median(ingestMs), median(copyMs)];
  const ratio = ingest / copying;
  return { rows: ROWS, bytes, ingestMs: ingest, copyMs: copying, ratio, grownMB: growth.grownMB };
}

/** Makes a table, loads it, counts its rows, and drops it. */
async function intoTable<T>(cluster: Cluster, name: string, load: () => Promise<T>): Promise<T> {
  const table = `lake.${SCHEMA}.${name}`;
  await cluster.sql(`DROP TABLE IF EXISTS ${table} PURGE`);
  await cluster.sql(`CREATE TABLE ${table} (${COLUMNS})`);
  const loaded = await load();
  const [[count] = []] = await cluster.sql(`SELECT count(*)::INT FROM ${table}`);
  if (count !== ROWS) throw new Error(`${table} has ${JSON.stringify(count)} rows of ${ROWS}`);
  await cluster.sql(`DROP TABLE ${table} PURGE`);
  return loaded;
}
