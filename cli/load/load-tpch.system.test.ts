import { readdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { currentSchema } from '#shared/iceberg/table-metadata.ts';
import { localPath } from '#shared/storage/location.ts';
import { LoadHarness } from '#test/support/load-harness.ts';
import { pythonBin } from '#test/support/python.ts';
import { TPCH_TABLES } from './tpch.ts';

let harness: LoadHarness;
beforeAll(async () => {
  harness = await LoadHarness.start();
});
afterAll(() => harness[Symbol.asyncDispose]());

describe('TPC-H 0.01', () => {
  test('all eight tables, once', async () => {
    const { code, events } = await harness.load(['tpch', '--scale', '0.01']);
    expect(events).toStrictEqual(
      TPCH_TABLES.map((name): unknown => ({
        event: 'committed',
        table: `lake.tpch.${name}`,
        snapshot_id: expect.stringMatching(/^\d+$/),
        rows: expect.any(Number),
        files: 1,
      })),
    );
    expect(code).toBe(0);
    const before = await harness.warehouse();
    const again = await harness.load(['tpch', '--scale', '0.01']);
    expect(again).toMatchObject({ code: 1, events: [{ event: 'failed', code: 'TABLE_EXISTS' }] });
    expect(await harness.warehouse()).toStrictEqual(before);
  });

  test.each(TPCH_TABLES)('%s: rows, order, field ids and bounds are those of the input', async (name) => {
    const { files, sql: loaded } = await harness.plan(`lake.tpch.${name}`);
    const source = `read_parquet('cli/load/tpch-0.01/${name}.parquet')`;
    const [difference] = await harness.sql(
      `SELECT count(*) AS n FROM (SELECT row_number() OVER () AS r, * FROM ${loaded}) a
       FULL JOIN (SELECT row_number() OVER () AS r, * FROM ${source}) b USING (r) WHERE a IS DISTINCT FROM b`,
    );
    expect(difference).toStrictEqual({ n: '0' });
    const metadata = await harness.table(`lake.tpch.${name}`);
    const ids = await harness.sql(
      `SELECT name, field_id::INT AS id FROM parquet_schema('${localPath(files[0]?.path ?? '')}') WHERE field_id IS NOT NULL`,
    );
    expect(ids).toStrictEqual(currentSchema(metadata).fields.map((field) => ({ name: field.name, id: field.id })));
    expect(metadata.snapshots.get(metadata.currentSnapshotId ?? 0n)?.summary).toMatchObject({
      operation: 'append',
      'added-records': String(files[0]?.recordCount),
      'total-records': String(files[0]?.recordCount),
      'total-files-size': String(files[0]?.sizeBytes),
      'added-data-files': '1',
    });
  });

  test('PyIceberg sees bounds and counts that are those of DuckDB', async () => {
    const inspected = await harness.inspect(...TPCH_TABLES.map((name) => `tpch.${name}`));
    for (const name of TPCH_TABLES) {
      const source = `read_parquet('cli/load/tpch-0.01/${name}.parquet')`;
      const found = inspected[`tpch.${name}`];
      const columns = Object.keys(found?.files[0]?.columns ?? {});
      expect(columns).toHaveLength(currentSchema(await harness.table(`lake.tpch.${name}`)).fields.length);
      for (const column of columns) {
        const [expected] = await harness.sql(
          `SELECT min(${column})::VARCHAR AS lower_bound, max(${column})::VARCHAR AS upper_bound, count(*)::VARCHAR AS value_count,
             (count(*) - count(${column}))::VARCHAR AS null_value_count FROM ${source}`,
        );
        expect({ column, ...found?.files[0]?.columns[column] }).toMatchObject({ column, ...expected });
        expect(Number(found?.files[0]?.columns[column]?.['column_size'])).toBeGreaterThan(0);
      }
      expect(found?.rows).toBe(found?.files[0]?.rows);
      expect(found?.files[0]?.split_offsets).toBeGreaterThan(0);
    }
  });

  test('--replace keeps the table and its history', async () => {
    const before = await harness.table('lake.tpch.nation');
    const { code } = await harness.load(['tpch', '--scale', '0.01', '--replace']);
    const after = await harness.table('lake.tpch.nation');
    expect(code).toBe(0);
    expect(after.tableUuid).toBe(before.tableUuid);
    expect(after.snapshots.size).toBe(2);
    expect(after.schemas.length).toBe(1);
    expect((await harness.plan('lake.tpch.nation')).report.rows).toBe(25);
  });

  async function withPath<T>(path: string, work: () => Promise<T>): Promise<T> {
    const before = process.env['PATH'];
    process.env['PATH'] = path;
    try {
      return await work();
    } finally {
      process.env['PATH'] = before;
    }
  }

  test('another scale without the generator says how to get it', async () => {
    const args = ['tpch', '--scale', '0.02', '--namespace', 'other'];
    const { code, events } = await withPath('/nowhere', () => harness.load(args));
    expect(code).toBe(1);
    expect(events[0]?.message).toContain('pip install tpchgen-cli');
  });

  test('another scale is generated, and the generated files are removed', async () => {
    const path = `${await pythonBin()}${delimiter}${process.env['PATH'] ?? ''}`;
    const args = ['tpch', '--scale', '0.002', '--namespace', 'generated'];
    expect(await withPath(path, () => harness.load(args))).toMatchObject({ code: 0 });
    expect((await harness.plan('lake.generated.orders')).report.rows).toBe(3_000);
    expect(await readdir(join(harness.folder, 'tmp'))).toStrictEqual([]);
  });
});
