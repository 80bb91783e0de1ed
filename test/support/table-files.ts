import { glob } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Cluster } from './cluster.ts';

/**
 * The data files of a table of `lake`, as local paths: every Parquet file below its location. Right for a table that was loaded once
 * into a fresh warehouse, where no file is left over.
 */
export async function tableFiles(cluster: Cluster, namespace: string, table: string): Promise<readonly string[]> {
  const { status, body } = await cluster.catalog('GET', `/v1/lake/namespaces/${namespace}/tables/${table}`);
  const location = (body as { metadata?: { location?: string } }).metadata?.location;
  if (status !== 200 || location === undefined) throw new Error(`${namespace}.${table}: HTTP ${status}`);
  const root = fileURLToPath(new URL(location));
  const files: string[] = [];
  for await (const file of glob('**/*.parquet', { cwd: root })) files.push(`${root}/${file}`);
  if (files.length === 0) throw new Error(`${namespace}.${table}: no Parquet files below ${root}`);
  return files.sort();
}
