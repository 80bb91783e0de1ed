import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { must } from '#shared/must.ts';
import { pythonBin } from './python.ts';

/** The file of an extension of DuckDB; its releases are on PyPI as wheels that hold just that. An instance must allow unsigned extensions. */
export async function duckdbExtension(name: 'avro' | 'httpfs' | 'iceberg'): Promise<string> {
  const packages = join(await pythonBin(), '../lib/python*/site-packages');
  const files: string[] = [];
  for await (const file of glob(`${packages}/duckdb_extension_${name}/extensions/v*/${name}.duckdb_extension`)) {
    files.push(file);
  }
  return must(files[0], `the wheel of ${name} holds its extension`);
}

/** `LOAD` statements of the iceberg extension and of those that it needs. */
export const loadIceberg = async (): Promise<readonly string[]> =>
  Promise.all((['avro', 'httpfs', 'iceberg'] as const).map(async (name) => `LOAD '${await duckdbExtension(name)}'`));
