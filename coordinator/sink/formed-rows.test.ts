import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, expect, test } from 'vitest';
import { unsoundOptimizers } from '#shared/sql/unsound-optimizers.ts';
import { TYPES } from '#test/support/duckdb-types.ts';
import { printSqlType } from '../plan/sql-type.ts';
import { fromDuckDbType } from '../planner/duckdb-type-of.ts';
import { formedRows, formedType, isPlainList, postgresIntervalText } from './formed-rows.ts';

let connection: DuckDBConnection;
beforeAll(async () => {
  connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect();
  await connection.run(`SET TimeZone = 'Asia/Tokyo'`);
});

const text = (parts: ReturnType<typeof formedRows>): string =>
  parts.map((part) => (typeof part === 'string' ? part : '')).join('');

/** Kinds that Postgres prints in another way, or that come as they are in both forms. */
const DIFFER = /^(BLOB|INTERVAL|BOOLEAN|FLOAT|DOUBLE)$/;

test.each(TYPES)('values of %s have the form that is said, and its text is DuckDB’s', async (type, values) => {
  for (const value of values) {
    const sql = `SELECT CAST(${value} AS ${type}) AS v, NULL::${type} AS n`;
    const prepared = await connection.prepare(sql);
    const types = [0, 1].map((i) => fromDuckDbType(prepared.columnType(i)));
    for (const isNative of [false, true]) {
      const formed = text(formedRows([sql], types, { isNative: () => isNative }));
      const bound = await connection.prepare(formed);
      expect(printSqlType(fromDuckDbType(bound.columnType(0)))).toBe(
        printSqlType(formedType(types[0] as (typeof types)[number], isNative)),
      );
      const [row] = (await connection.runAndReadAll(formed)).getRowsJson();
      expect(row?.[1]).toBeNull();
      expect(unsoundOptimizers({ sql: formed, process: 'worker', mentions: 1 })).toEqual(
        unsoundOptimizers({ sql, process: 'worker', mentions: 1 }),
      );
      const [own] = types;
      const isText = !isNative && own !== undefined && ['scalar', 'decimal', 'enum'].includes(own.kind);
      if (!isText || isPlainList(own) || DIFFER.test(type)) continue;
      const [plain] = (await connection.runAndReadAll(`SELECT CAST(v AS VARCHAR) FROM (${sql})`)).getRowsJson();
      const printed = plain?.[0] as string;
      expect(row?.[0]).toBe(printed.includes(' (BC)') ? `${printed.replace(' (BC)', '')} BC` : printed);
    }
  }
});

test.each([
  [`INTERVAL '1 year 2 months -3 days 4 seconds'`, '1 year 2 mons -3 days +00:00:04', '14 -3 4000000'],
  [`INTERVAL '1 month -4 hours'`, '1 mon -04:00:00', '1 0 -14400000000'],
  [`INTERVAL '-1 year' + INTERVAL '3 days' - INTERVAL '1 second'`, '-1 years +3 days -00:00:01', '-12 3 -1000000'],
  [
    `INTERVAL '-13 months' - INTERVAL '1 day' + INTERVAL '1 second'`,
    '-1 years -1 mons -1 days +00:00:01',
    '-13 -1 1000000',
  ],
  [`INTERVAL '-11 days' + INTERVAL '1 month'`, '1 mon -11 days', '1 -11 0'],
  [`'\\xAA\\x00'::BLOB`, '\\xaa00', '\\xAA\\x00'],
  [`DATE '0044-03-15 (BC)'`, '0044-03-15 BC', '0044-03-15 (BC)'],
  [`TIMESTAMP '0044-03-15 (BC) 12:00:00'`, '0044-03-15 12:00:00 BC', '0044-03-15 (BC) 12:00:00'],
  [`{'a': 1, 'b': [NULL]}`, '{"a":1,"b":[null]}', '{"a":1,"b":[null]}'],
  ['NULL::STRUCT(a INTEGER)', null, null],
  ['[[1], NULL]', '[[1],null]', '[[1],null]'],
] as const)('%s', async (value, asText, asNative) => {
  const sql = `SELECT ${value} AS v`;
  const prepared = await connection.prepare(sql);
  const types = [fromDuckDbType(prepared.columnType(0))];
  for (const [isNative, expected] of [
    [false, asText],
    [true, asNative],
  ] as const) {
    const formed = text(formedRows([sql], types, { isNative: () => isNative }));
    expect((await connection.runAndReadAll(formed)).getRowsJson()).toEqual([[expected]]);
  }
  if (!value.startsWith('INTERVAL')) return;
  // Kept values are printed without DuckDB.
  const [[plain] = []] = (await connection.runAndReadAll(`SELECT (${value})::VARCHAR`)).getRowsJson();
  expect(postgresIntervalText(plain as string)).toBe(asText);
});
