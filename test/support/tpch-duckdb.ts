import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { TPCH_TABLES } from '#cli/load/tpch.ts';
import { projectRoot } from './cluster.ts';
import { digest, KeptAnswers } from './kept-answers.ts';

const fileOf = (table: string): string => join(projectRoot, 'cli/load/tpch-0.01', `${table}.parquet`);

/** A plain DuckDB with TPC-H at scale 0.01 in schema `tpch`, which unqualified names mean. */
export async function tpchDuckdb(): Promise<DuckDBConnection> {
  const duckdb = await (await DuckDBInstance.create()).connect();
  await duckdb.run('CREATE SCHEMA tpch');
  for (const table of TPCH_TABLES) {
    await duckdb.run(`CREATE TABLE tpch.${table} AS FROM read_parquet('${fileOf(table)}')`);
  }
  await duckdb.run('USE tpch');
  return duckdb;
}

/** Plain DuckDB's answers over TPC-H at scale 0.01. */
export const tpchAnswers = (): KeptAnswers =>
  new KeptAnswers(digest(TPCH_TABLES.map((table) => digest(readFileSync(fileOf(table)))).join()), tpchDuckdb);
