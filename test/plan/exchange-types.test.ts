import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exchangeType, fromExchange, toExchange } from '#coordinator/distributor/print/exchange-form.ts';
import { travels } from '#coordinator/distributor/place/travels.ts';
import { fromDuckDbType } from '#coordinator/planner/duckdb-type-of.ts';
import { printSqlType, type SqlType } from '#coordinator/plan/sql-type.ts';
import { must } from '#shared/must.ts';
import { queryArrow } from '#test/support/duckdb-ipc.ts';
import { LONG_INTERVALS, TYPES } from '#test/support/duckdb-types.ts';
import { ArrowInput } from '#worker/duckdb/arrow-in.ts';
import { Instance, type Connection } from '#worker/duckdb/instance.ts';

/**
 * Tests that values keep their type and text on the way from fragment to fragment: the producer's SQL, Arrow, the reader's table, the
 * reader's SQL.
 */
let types: DuckDBConnection;
let instance: Instance;
let producer: Connection;
let reader: Connection;
let other: Instance;

beforeAll(async () => {
  types = await (await DuckDBInstance.create(':memory:')).connect();
  instance = Instance.open({ threads: '1' });
  producer = instance.connect();
  other = Instance.open({ threads: '1' });
  reader = other.connect();
  for (const each of [producer, reader]) {
    each.run("SET arrow_lossless_conversion = true; SET arrow_output_version = '1.5'; SET TimeZone = 'UTC'");
  }
});
afterAll(() => {
  for (const each of [producer, reader, instance, other]) each[Symbol.dispose]();
  types.closeSync();
});

/** A value by itself, NULL, and both inside of other values; ENUMs do not travel inside of others. */
function sourceOf(type: string, values: readonly string[]): string {
  const list = `[${[...values.map((value) => `CAST(${value} AS ${type})`), 'NULL'].join(', ')}]`;
  if (type.startsWith('ENUM')) return `SELECT v FROM (SELECT unnest(${list}) AS v)`;
  const fixed = `CAST([v, NULL] AS ${type}[2])`;
  const nested = [
    '[NULL, v]',
    'CASE WHEN v IS NOT NULL THEN [[v], [], NULL] END',
    // DuckDB's CASE takes no ARRAY.
    `[${fixed}, NULL][CASE WHEN v IS NULL THEN 2 ELSE 1 END]`,
    `{'a': ${fixed}}`,
    `[{'a': ${fixed}}, NULL][CASE WHEN v IS NULL THEN 2 ELSE 1 END]`,
    "{'a': v, 'b': [v, NULL]}",
    "[{'a': v}, {'a': NULL}, NULL]",
    'CASE WHEN v IS NOT NULL THEN MAP {v: [v]} END',
    'MAP {1: v}',
    '[row(1, v, row([v])), NULL][CASE WHEN v IS NULL THEN 2 ELSE 1 END]',
  ];
  return `SELECT v, ${nested.map((value, i) => `${value} AS n${i}`).join(', ')} FROM (SELECT unnest(${list}) AS v)`;
}

/** The type of each column and its values as DuckDB prints them. */
const printed = (from: Connection, values: readonly string[], rows: string): readonly unknown[] =>
  tableFromIPC(
    queryArrow(
      from,
      `SELECT ${values.map((value, i) => `typeof(${value}) || ' ' || coalesce((${value})::VARCHAR, '~') AS v${i}`).join(', ')} FROM ${rows}`,
    ).stream,
  )
    .toArray()
    .map((row: { toJSON(): unknown }) => row.toJSON());

async function typesOf(source: string): Promise<readonly SqlType[]> {
  return (await types.runAndReadAll(`SELECT * FROM (${source}) LIMIT 0`)).columnTypes().map(fromDuckDbType);
}

test.each([...TYPES.filter(([type]) => !type.includes('UNION')), ['INTERVAL', LONG_INTERVALS] as const])(
  '%s: %j',
  async (type, values) => {
    const source = `(${sourceOf(type, values)})`;
    const columns = await typesOf(source);
    expect(columns.filter((column) => !travels(column)).map(printSqlType)).toEqual([]);
    const names = columns.map((_, i) => (i === 0 ? 'v' : `n${i - 1}`));
    const given = columns.map((column, i) => `${toExchange(column, must(names[i], 'a name'))} AS c${i}`);
    const sent = queryArrow(producer, `SELECT ${given.join(', ')} FROM ${source}`, instance);
    using input = new ArrowInput(reader, sent);
    void [
      ...input.fillTable(
        'input',
        columns.map((column) => printSqlType(exchangeType(column))),
      ),
    ];
    const read = columns.map((column, i) => fromExchange(column, `c${i}`));
    expect(printed(reader, read, 'input')).toEqual(printed(producer, names, source));
  },
);
