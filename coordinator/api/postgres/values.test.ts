import { expect, test } from 'vitest';
import { splitStatements } from './split-statements.ts';
import { settingsOf } from './startup.ts';
import type { ValueKind } from './postgres-type.ts';
import { valueBinary } from './value-binary.ts';
import { valueText } from './value-text.ts';

/** The bytes by Postgres' sources (`numeric_send`, `date_send`, ...). */
test.each([
  ['numeric', '0', '0000000000000000'],
  ['numeric', '0.05', '0001ffff0000000201f4'],
  ['numeric', '-1234567.80', '0003000140000002007b11d71f40'],
  ['numeric', '10000', '00010001000000000001'],
  ['date', '2000-01-02', '00000001'],
  ['date', '0044-03-15 BC', 'fff49d7b'],
  ['date', 'infinity', '7fffffff'],
  ['timestamp', '1999-12-31 23:59:59.5', 'fffffffffff85ee0'],
  ['timestamptz', '2000-01-01 01:00:00+01', '0000000000000000'],
  ['int2', '-2', 'fffe'],
  ['bool', 't', '01'],
  ['bytea', '\\x00ff', '00ff'],
] as const)('%s %s in binary', (kind: ValueKind, text, hex) => {
  expect(valueBinary(text, kind).toString('hex')).toBe(hex);
});

test('values as Postgres prints them', () => {
  expect(valueText(['a', 'b c', '', 'null', 'x"\\', null], 'array', 'text')).toBe(
    '{a,"b c","","null","x\\"\\\\",NULL}',
  );
  expect(valueText('AP8=', 'bytea')).toBe('\\x00ff');
  expect(valueText('1 year 2 months 3 days', 'interval')).toBe('1 year 2 mons 3 days');
  expect(valueText('0044-03-15 (BC)', 'date')).toBe('0044-03-15 BC');
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
