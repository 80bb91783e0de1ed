import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PositionSet } from '../position-set.ts';
import { encodePositionDeletes } from './position-deletes.ts';

let folder: string;
let connection: DuckDBConnection;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-deletes-'));
  connection = await (await DuckDBInstance.create()).connect();
});
afterAll(async () => {
  connection.closeSync();
  await rm(folder, { recursive: true });
});

const rows = async (sql: string): Promise<readonly unknown[][]> => (await connection.runAndReadAll(sql)).getRowsJson();

test.each([1, 7, 64, 5_000, 300_000])(
  '%i positions are read by DuckDB, with field ids and statistics',
  async (count) => {
    const path = `file:///warehouse/ä/${'x'.repeat(200)}.parquet`;
    const positions = new PositionSet();
    for (let i = 0; i < count; i += 1) positions.add(5 + i * 3);
    const file = join(folder, `${count}.parquet`);
    await writeFile(file, encodePositionDeletes(path, positions));
    const last = 5 + (count - 1) * 3;
    const seen =
      'count(*)::INT, min(file_path), max(file_path), min(pos)::INT, max(pos)::INT, count(DISTINCT pos)::INT';
    expect(await rows(`SELECT ${seen} FROM '${file}'`)).toEqual([[count, path, path, 5, last, count]]);
    expect(await rows(`SELECT count(*)::INT FROM '${file}' WHERE pos = ${last} AND file_path = '${path}'`)).toEqual([
      [1],
    ]);
    expect(await rows(`SELECT name, type, field_id::INT FROM parquet_schema('${file}') OFFSET 1`)).toEqual([
      ['file_path', 'BYTE_ARRAY', 2_147_483_546],
      ['pos', 'INT64', 2_147_483_545],
    ]);
    const statistics = 'stats_min_value, stats_max_value, stats_null_count::INT, total_compressed_size::INT > 0';
    expect(await rows(`SELECT ${statistics} FROM parquet_metadata('${file}')`)).toEqual([
      [path, path, 0, true],
      ['5', String(last), 0, true],
    ]);
  },
);
