import type { Cluster } from '#test/support/cluster.ts';
import { tableFiles } from '#test/support/table-files.ts';

const FILES = 300;
const FILE_ROWS = 1_000;

/** Writes a table of many small files, and measures OPTIMIZE of it, in ms. */
export async function benchOptimize(cluster: Cluster, schema: string): Promise<number> {
  const table = `${schema}.small`;
  await cluster.sql(`CREATE OR REPLACE TABLE ${table} (a BIGINT, b VARCHAR)`);
  for (let i = 0; i < FILES; i++) {
    await cluster.sql(`INSERT INTO ${table} SELECT i, 'row ' || i FROM range(${FILE_ROWS}) AS r(i)`);
  }
  const started = performance.now();
  const metrics = await cluster.sql(`OPTIMIZE ${table}`);
  const elapsedMs = performance.now() - started;
  const rewritten = Number(metrics[0]?.[1]);
  if (rewritten !== FILES) throw new Error(`OPTIMIZE rewrote ${rewritten} files`);
  if ((await tableFiles(cluster, 'writes', 'small')).length === FILES) throw new Error('OPTIMIZE wrote no file');
  return elapsedMs;
}
