import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import type { Cluster } from '#test/support/cluster.ts';
import { tableFiles } from '#test/support/table-files.ts';

const NAMESPACE = 'bench';
const TABLE = 'hundred_files';
const ROWS = 1_000_000;
const FILES = 100;

/** Ten groups out of a table. */
export const tenGroups = (table: string): string => `SELECT g, count(*), sum(v) FROM ${table} GROUP BY g ORDER BY g`;
export const HUNDRED_FILES = `lake.${NAMESPACE}.${TABLE}`;

/** Loads a table of a million rows in 100 files, one per partition, unless it is there; answers its files. */
export async function hundredFiles(cluster: Cluster): Promise<readonly string[]> {
  const loaded = await cluster.query(`SELECT 1 FROM ${HUNDRED_FILES} LIMIT 1`);
  if (loaded.status !== 200) await load(cluster);
  return tableFiles(cluster, NAMESPACE, TABLE);
}

async function load(cluster: Cluster): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-bench-'));
  const path = join(folder, 'rows.parquet');
  try {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    const rows = `SELECT i % ${FILES} AS p, i // ${FILES} % 10 AS g, i AS v FROM range(${ROWS}) AS r(i)`;
    await connection.run(`COPY (${rows}) TO '${path}' (FORMAT parquet)`);
    connection.closeSync();
    await cluster.cliOk(['load', 'parquet', path, '--table', HUNDRED_FILES, '--create', '--partition-by', 'p']);
  } finally {
    await rm(folder, { recursive: true });
  }
}
