import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { TPCH_TABLES, type TpchTable } from '#cli/load/tpch.ts';
import { projectRoot, startCluster, type ClusterOptions, type StartedCluster } from '#test/support/cluster.ts';
import { pythonBin } from '#test/support/python.ts';
import { tableFiles } from '#test/support/table-files.ts';

export type TpchFiles = Readonly<Record<TpchTable, readonly string[]>>;

/** Where a benchmark's cluster keeps its data, so that a second run loads nothing. */
export const benchDataDir = (scale: string): string => join(projectRoot, '.cache/bench', `tpch-${scale}`);

/**
 * A cluster, with Skein's default settings unless told otherwise, that holds TPC-H at `scale`, and the tables' Parquet files for the peer.
 * `isSecond`: another cluster with the same tables, to run beside the first.
 */
export async function startBenchCluster(
  scale: string,
  { isSecond = false, ...options }: Pick<ClusterOptions, 'workers' | 'args'> & { readonly isSecond?: boolean } = {},
): Promise<{ readonly cluster: StartedCluster; readonly files: TpchFiles }> {
  const dataDir = `${benchDataDir(scale)}${isSecond ? '-second' : ''}`;
  await mkdir(dataDir, { recursive: true });
  const cluster = await startCluster({ dataDir, ...options });
  const loaded = await cluster.query('SELECT 1 FROM lake.tpch.lineitem LIMIT 1');
  if (loaded.status !== 200) {
    process.stderr.write(`loading TPC-H at scale ${scale} ...\n`);
    const tools = scale === '0.01' ? {} : { PATH: `${await pythonBin()}:/usr/local/bin:/usr/bin:/bin` };
    await cluster.cliOk(['load', 'tpch', '--scale', scale], tools);
  }
  const files = await Promise.all(
    TPCH_TABLES.map(async (table) => [table, await tableFiles(cluster, 'tpch', table)] as const),
  );
  return { cluster, files: Object.fromEntries(files) as TpchFiles };
}

/** `CREATE VIEW` statements that give DuckDB the same files under the tables' names. */
export const createViews = (files: TpchFiles): string =>
  TPCH_TABLES.map(
    (table) => `CREATE VIEW ${table} AS SELECT * FROM read_parquet([${files[table].map((f) => `'${f}'`).join(', ')}]);`,
  ).join('\n');
