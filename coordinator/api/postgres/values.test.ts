import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { ValueKind } from '../../arrival/postgres/value-kind.ts';
import { postgresType, type PostgresType } from '../../binding/pg-types.ts';
import type { SqlType } from '../../plan/sql-type.ts';
import { booleans, columnBatch, int32s, int64s, lists, texts, type ColumnData } from '../../binding/column-data.ts';
import { arrowColumns } from './value/arrow-columns.ts';
import { castParameters } from './text/cast-parameters.ts';
import { cellForm, cellsOf, cellLayout, type CellForm } from './value/cells.ts';
import { dataRows } from './value/data-rows.ts';
import { printFloat4, printFloat8 } from './value/float-text.ts';
import { postgresColumn } from './message/postgres-type.ts';
import { splitStatements } from './text/split-statements.ts';
import { settingsOf } from './entry/startup.ts';

/** The values of a column as the protocol has them, in hexadecimal digits; null = NULL. */
function values(data: ColumnData, form: CellForm, rows: number): readonly (string | null)[] {
  const [column] = arrowColumns(columnBatch(rows, [data]), [cellLayout(form)]);
  const bytes = dataRows([cellsOf(must(column, 'there is one'), form, 0, rows)], rows);
  const found: (string | null)[] = [];
  for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    const length = bytes.readInt32BE(at + 7);
    found.push(length < 0 ? null : bytes.toString('hex', at + 11, at + 11 + length));
  }
  return found;
}

const binary = (kind: ValueKind): CellForm => ({ kind, element: null, isBinary: true });

/** The bytes by Postgres' sources (`numeric_send`, `date_send`, ...). */
test.each([
  ['numeric', '0', '0000000000000000'],
  ['numeric', '0.05', '0001ffff0000000201f4'],
  ['numeric', '-1234567.80', '0003000140000002007b11d71f40'],
  ['numeric', '10000', '00010001000000000001'],
  ['uuid', '0a000000-0000-0000-0000-00000000000F', '0a00000000000000000000000000000f'],
  ['interval', '14 -3 4000000', '00000000003d0900fffffffd0000000e'],
  ['jsonb', '{}', '017b7d'],
] as const)('%s %s in binary', (kind, text, hex) => {
  expect(values(texts([null, text]), binary(kind), 2)).toEqual([null, hex]);
});

test('numbers and times in binary, from another epoch', () => {
  expect(values(int32s([1, null, -2]), binary('int4'), 3)).toEqual(['00000001', null, 'fffffffe']);
  expect(values(int32s([10_958, -735_599, 2 ** 31 - 1, 1 - 2 ** 31]), binary('date'), 4)).toEqual([
    '00000001',
    'fff49bc4',
    '7fffffff',
    '80000000',
  ]);
  const micros = [946_684_799_500_000n, 946_684_800_000_000n, 0n, 2n ** 63n - 1n, 1n - 2n ** 63n];
  expect(values(int64s(micros), binary('timestamp'), 5)).toEqual([
    'fffffffffff85ee0',
    '0000000000000000',
    (-946_684_800_000_000n + 2n ** 64n).toString(16),
    '7fffffffffffffff',
    '8000000000000000',
  ]);
  expect(values(booleans([true, null, false]), binary('bool'), 3)).toEqual(['01', null, '00']);
});

test('arrays, in text and in binary', () => {
  const asText = { kind: 'array', element: 'text', isBinary: false } as const;
  const items = lists([['a', 'b c', '', 'null', 'x"\\', null], null, []], texts);
  expect(values(items, asText, 3).map((hex) => hex && Buffer.from(hex, 'hex').toString())).toEqual([
    '{a,"b c","","null","x\\"\\\\",NULL}',
    null,
    '{}',
  ]);
  const ints = lists([[], [7, null]], int32s);
  expect(values(ints, { kind: 'array', element: 'int4', isBinary: true }, 2)).toEqual([
    '000000000000000000000017',
    '00000001000000010000001700000002000000010000000400000007ffffffff',
  ]);
});

test('vectors of the catalog in binary are arrays that count from 0', () => {
  const vector = (type: 'int2vector' | 'oidvector'): CellForm => ({ ...binary('text'), vector: type });
  expect(values(texts(['1 -2', '', null]), vector('int2vector'), 3)).toEqual([
    '000000010000000000000015000000020000000000000002000100000002fffe',
    '0000000100000000000000150000000000000000',
    null,
  ]);
  expect(values(texts(['23 4294967295']), vector('oidvector'), 1)).toEqual([
    '00000001000000000000001a0000000200000000000000040000001700000004ffffffff',
  ]);
});

test('an array of names says so in binary; the name of an object has no binary form', () => {
  const name = postgresColumn({ name: 'n', type: listOf('VARCHAR'), typeName: '', postgres: typeOf('_name') });
  expect(name).toMatchObject({ oid: 1003, elementOid: 19 });
  const type = { kind: 'scalar', name: 'VARCHAR' } as const;
  const relation = postgresColumn({ name: 'r', type, typeName: '', postgres: typeOf('regclass') });
  expect(cellForm(relation, false)).toMatchObject({ kind: 'text', isBinary: false });
  expect(() => cellForm(relation, true)).toThrow('no binary form');
});

const typeOf = (name: string): PostgresType => must(postgresType(name), 'it is known');
const listOf = (name: string): SqlType => ({ kind: 'list', element: { kind: 'scalar', name } });

test.each([
  [1, '1'],
  [-0, '-0'],
  [0.1, '0.1'],
  [1e14, '100000000000000'],
  [1e15, '1e+15'],
  [1.5e-5, '1.5e-05'],
  [1e-4, '0.0001'],
  [-1.234e300, '-1.234e+300'],
  [Infinity, 'Infinity'],
])('the double %d as Postgres prints it', (value, text) => {
  expect(printFloat8(value)).toBe(text);
});

test('floats have their own shortest digits', () => {
  expect([0.1, 16_777_216, 1e6, 3.4028235e38, 1e-45].map((value) => printFloat4(Math.fround(value)))).toEqual([
    '0.1',
    '1.6777216e+07',
    '1e+06',
    '3.4028235e+38',
    '1e-45',
  ]);
});

test('a text is divided into its statements, with their places', () => {
  expect(splitStatements(" ;SELECT ';' ; -- a; b\n SELECT 2;")).toEqual([
    { sql: "SELECT ';' ", offset: 2 },
    { sql: 'SELECT 2', offset: 24 },
  ]);
  expect(splitStatements('SELECT 1; SELECT "open')).toEqual([
    { sql: 'SELECT 1', offset: 0 },
    { sql: 'SELECT "open', offset: 10 },
  ]);
  expect(splitStatements(' -- nothing')).toEqual([]);
});

test('settings among the options of a start', () => {
  expect([...settingsOf('-c tenant=a\\ b --x=1 -cy=2')]).toEqual([
    ['tenant', 'a b'],
    ['x', '1'],
    ['y', '2'],
  ]);
});

test('parameters are of the types that they are cast to', () => {
  const types = (sql: string): readonly (readonly [number, number])[] => [...castParameters(sql)];
  expect(types('SELECT * FROM pg_type WHERE oid = any($1::oid[]) OR oid = $2 :: pg_catalog.OID')).toEqual([
    [0, 1028],
    [1, 26],
  ]);
  expect(types('SELECT $1::INTEGER, $2 ::bool, $3::smallint, $4::pg_catalog.int8, $5::int[]')).toEqual([
    [0, 23],
    [1, 16],
    [2, 21],
    [3, 20],
  ]);
  expect(types("SELECT '$1::oid', $2::oidvector, $3::VARCHAR, $4::interval, x::oid FROM t")).toEqual([]);
});
