import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { TPCH_TABLES } from '#cli/load/tpch.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { tableFiles } from '#test/support/table-files.ts';

/** Plain DuckDB with the tables of `fixture.sql` in schema `t`. */
export async function openFixture(): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'; CREATE SCHEMA t; CREATE SCHEMA tpch");
  await connection.run(await readFile(join(import.meta.dirname, 'fixture.sql'), 'utf8'));
  return connection;
}

/** Loads the tables of `fixture.sql` into `lake.t`. */
export async function loadFixture(cluster: Cluster): Promise<void> {
  const connection = await openFixture();
  const folder = await mkdtemp(join(tmpdir(), 'skein-fixture-'));
  try {
    const tables = await connection.runAndReadAll("SELECT table_name FROM duckdb_tables() WHERE schema_name = 't'");
    for (const [name] of tables.getRows()) {
      const file = join(folder, `${String(name)}.parquet`);
      await connection.run(`COPY t.${String(name)} TO '${file}' (ROW_GROUP_SIZE 20480)`);
      await cluster.load(['parquet', file, '--table', `lake.t.${String(name)}`, '--create']);
    }
  } finally {
    connection.closeSync();
    await rm(folder, { recursive: true, force: true });
  }
}

/** `skein load tpch --scale 0.01`, and the same files as views of DuckDB's schema `tpch`. */
export async function loadTpch(connection: DuckDBConnection, cluster: Cluster, scale = '0.01'): Promise<void> {
  await cluster.load(['tpch', '--scale', scale]);
  await viewTpch(connection, cluster);
}

/** The files of `lake.tpch` as views of DuckDB's schema `tpch`. */
export async function viewTpch(connection: DuckDBConnection, cluster: Cluster): Promise<void> {
  for (const table of TPCH_TABLES) {
    const files = await tableFiles(cluster, 'tpch', table);
    const list = files.map((file) => `'${file}'`).join(', ');
    await connection.run(`CREATE VIEW tpch.${table} AS SELECT * FROM read_parquet([${list}])`);
  }
}
