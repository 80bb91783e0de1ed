import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { compare, orderOf } from './order-values.ts';
import type { ResultSet } from './result-set.ts';

test.each(['INTEGER[]', 'STRUCT("a" INTEGER)', 'INTERVAL', 'TIME WITH TIME ZONE', 'BLOB', "ENUM('b', 'a')", 'BIT'])(
  'the order of %s is left to the server',
  (type) => {
    expect(orderOf(type)).toBeNull();
  },
);

test('numbers that come as texts are ordered as numbers, and NaN is the largest', () => {
  const texts = ['9', '10', '-1'];
  const result = { text: (row: number) => texts[row] ?? null } as unknown as ResultSet;
  const values = texts.map((_, row) => orderOf('UHUGEINT')?.(result, row, 0) ?? 0n);
  expect(values.toSorted(compare)).toEqual([-1n, 9n, 10n]);
  expect([Number.NaN, 1, Infinity, -Infinity].toSorted(compare)).toEqual([-Infinity, 1, Infinity, Number.NaN]);
});

test('texts have the order that DuckDB gives them', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const texts = ['', 'a', 'B', 'b', 'aa', 'ü', '\uff21', '\u{1f986}', '\ue000', 'Z', '1', '10', '2'];
  const list = texts.map((text) => `('${text}')`).join(', ');
  const rows = await connection.runAndReadAll(`SELECT t FROM (VALUES ${list}) v(t) ORDER BY t`);
  expect(texts.toSorted(compare)).toEqual(rows.getRows().map(([text]) => text));
});
