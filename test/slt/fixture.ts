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

/** Loads the fixture's tables into `lake.t` and TPC-H at scale 0.01 into `lake.tpch`; DuckDB sees the same TPC-H files as views. */
export async function loadFixture(connection: DuckDBConnection, cluster: Cluster): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-fixture-'));
  try {
    const tables = await connection.runAndReadAll("SELECT table_name FROM duckdb_tables() WHERE schema_name = 't'");
    for (const [name] of tables.getRows()) {
      const file = join(folder, `${String(name)}.parquet`);
      await connection.run(`COPY t.${String(name)} TO '${file}' (ROW_GROUP_SIZE 20480)`);
      await cluster.cliOk(['load', 'parquet', file, '--table', `lake.t.${String(name)}`, '--create']);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  await loadTpch(connection, cluster);
}

/** `skein load tpch --scale 0.01`, and the same files as views of DuckDB's schema `tpch`. */
export async function loadTpch(
  connection: DuckDBConnection,
  cluster: Cluster,
  scale = '0.01',
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await cluster.cliOk(['load', 'tpch', '--scale', scale], env);
  for (const table of TPCH_TABLES) {
    const files = await tableFiles(cluster, 'tpch', table);
    const list = files.map((file) => `'${file}'`).join(', ');
    await connection.run(`CREATE VIEW tpch.${table} AS SELECT * FROM read_parquet([${list}])`);
  }
}
