import { existsSync } from 'node:fs';
import { glob, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { must } from '#shared/must.ts';
import { projectRoot, type Cluster } from '#test/support/cluster.ts';
import { pythonBin } from '#test/support/python.ts';
import { SECOND_PARTS } from './second-parts.ts';

/**
 * TPC-DS from DuckDB's own extension, which PyPI has as a wheel: its data and its statements. (Its answers cannot be read in this release:
 * `tpcds_answers()` fails for want of those of scale 10.)
 */
const CACHE = join(projectRoot, '.cache/tpcds');

export const TPCDS_TABLES: readonly string[] = (
  'call_center catalog_page catalog_returns catalog_sales customer customer_address customer_demographics date_dim ' +
  'household_demographics income_band inventory item promotion reason ship_mode store store_returns store_sales time_dim ' +
  'warehouse web_page web_returns web_sales web_site'
).split(' ');

export type TpcdsQuery = { readonly name: string; readonly sql: string };

/** A folder with `<table>.parquet` for each of the 24 tables at a scale, generated when it is first asked for. */
export async function tpcdsData(scale: string): Promise<string> {
  const folder = join(CACHE, `sf${Number(scale)}`);
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  const making = await mkdtemp(join(CACHE, 'making-'));
  try {
    const parquet = join(making, 'parquet');
    await mkdir(parquet);
    await withExtension(join(making, 'tpcds.duckdb'), async (duckdb) => {
      await duckdb.run(`CALL dsdgen(sf = ${Number(scale)})`);
      for (const table of TPCDS_TABLES) {
        await duckdb.run(`COPY ${table} TO '${join(parquet, table)}.parquet' (COMPRESSION zstd)`);
      }
    });
    await rename(parquet, folder).catch((error: unknown) => {
      // Another process may have been faster.
      if (!existsSync(folder)) throw error;
    });
    return folder;
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

/** The 103 statements of the specification (99, four of them in two parts), with the extension's parameters, by name. */
export const tpcdsQueries = (): Promise<readonly TpcdsQuery[]> =>
  withExtension(':memory:', async (duckdb) => {
    const rows = (await duckdb.runAndReadAll('SELECT query_nr, query FROM tpcds_queries()')).getRows();
    const first = rows.map(([number, sql]) => ({
      name: `q${String(number).padStart(2, '0')}`,
      sql: String(sql).trim().replace(/;$/, ''),
    }));
    const second = Object.entries(SECOND_PARTS).map(([name, { of, query }]) => {
      const { sql } = must(
        first.find((one) => one.name === of),
        `the statement ${of}`,
      );
      return { name, sql: `${definitions(sql)}\n${query}` };
    });
    return [...first, ...second].sort((a, b) => (a.name < b.name ? -1 : 1));
  });

/** The text before the main SELECT, which begins a line. */
const definitions = (sql: string): string => sql.slice(0, sql.indexOf('\nSELECT'));

async function withExtension<T>(database: string, work: (duckdb: DuckDBConnection) => Promise<T>): Promise<T> {
  const instance = await DuckDBInstance.create(database, {
    allow_unsigned_extensions: 'true',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const duckdb = await instance.connect();
  try {
    await duckdb.run(`LOAD '${await extensionFile()}'`);
    return await work(duckdb);
  } finally {
    duckdb.closeSync();
    instance.closeSync();
  }
}

async function extensionFile(): Promise<string> {
  const packages = join(await pythonBin(), '../lib/python*/site-packages');
  for await (const file of glob(`${packages}/duckdb_extension_tpcds/extensions/v*/tpcds.duckdb_extension`)) return file;
  throw new Error('the wheel of TPC-DS holds no extension');
}

type Loaded = { readonly cluster: Cluster; readonly duckdb: DuckDBConnection; readonly sessionId: string };

/** Loads the tables into `lake.tpcds` and into plain DuckDB, each of which then names them without a schema; the cluster in this session. */
export async function loadTpcds(scale: string, { cluster, duckdb, sessionId }: Loaded): Promise<void> {
  const folder = await tpcdsData(scale);
  await duckdb.run('CREATE SCHEMA tpcds');
  for (const table of TPCDS_TABLES) {
    const file = join(folder, `${table}.parquet`);
    await duckdb.run(`CREATE TABLE tpcds.${table} AS FROM read_parquet('${file}')`);
    await cluster.load(['parquet', file, '--table', `lake.tpcds.${table}`, '--create']);
  }
  await duckdb.run('USE tpcds');
  await cluster.sql('USE lake.tpcds', { sessionId });
}
