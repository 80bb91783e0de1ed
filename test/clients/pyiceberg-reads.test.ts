import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { parseJson } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { python } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { TPCH_TABLES } from '#cli/load/tpch.ts';
import { viewTpch } from '#test/slt/fixture.ts';

type Seen = {
  readonly rows: number;
  readonly scanned: number;
  readonly bounds: Readonly<Record<string, readonly [string, string, number]>>;
};

/** Iceberg allows truncated text bounds: they are compared as prefixes, bounds of other types exactly. */
const TEXT_BOUND_CHARACTERS = 16;

test('PyIceberg reads what skein load tpch wrote, and its bounds are DuckDB’s min and max for all eight tables', async () => {
  const { cluster } = await sharedCluster();
  const duckdb = await (await DuckDBInstance.create()).connect();
  await duckdb.run('CREATE SCHEMA tpch');
  await viewTpch(duckdb, cluster);
  const seen = parseJson(
    await python('test/clients/read_tpch.py', cluster.catalogUrl, await cluster.token()),
  ) as unknown as Readonly<Record<string, Seen>>;
  expect(Object.keys(seen).sort()).toEqual([...TPCH_TABLES].sort());
  for (const table of TPCH_TABLES) {
    const { rows, scanned, bounds } = must(seen[table], table);
    const [counted] = (await duckdb.runAndReadAll(`SELECT count(*)::INTEGER FROM tpch.${table}`)).getRows();
    expect([table, rows, scanned]).toEqual([table, counted?.[0], counted?.[0]]);
    for (const [column, type] of (
      await duckdb.runAndReadAll(`SELECT column_name, column_type FROM (DESCRIBE tpch.${table})`)
    ).getRows()) {
      const name = String(column);
      const sql = `SELECT min(${name})::VARCHAR, max(${name})::VARCHAR, count(*) FILTER (WHERE ${name} IS NULL)::INTEGER FROM tpch.${table}`;
      const [expected] = (await duckdb.runAndReadAll(sql)).getRows();
      const [lower, upper, nulls] = must(bounds[name], `${table}.${name} has bounds`);
      if (type === 'VARCHAR') {
        const [low, high] = [String(expected?.[0]), String(expected?.[1])];
        expect(
          low.startsWith(lower.slice(0, TEXT_BOUND_CHARACTERS)) && lower <= low,
          `${table}.${name} lower ${lower} ${low}`,
        ).toBe(true);
        expect(upper >= high, `${table}.${name} upper ${upper} ${high}`).toBe(true);
      } else {
        expect([table, name, lower, upper, nulls]).toEqual([table, name, ...(expected ?? [])]);
      }
    }
  }
  duckdb.closeSync();
}, 300_000);
