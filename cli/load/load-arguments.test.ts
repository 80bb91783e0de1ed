import { describe, expect, test } from 'vitest';
import { UsageError } from '../exit-code.ts';
import { parseLoadArguments, parseTableName } from './load-arguments.ts';
import { parsePartitionBy, partitionFields } from './partition-by.ts';
import { parseTransform, printTransform } from '#shared/iceberg/transform.ts';
import type { Field, IcebergType } from '#shared/iceberg/type.ts';

test('a command line', () => {
  const args = [
    'parquet',
    'a.parquet',
    'b/*.parquet',
    '--table',
    'lake.ns.t',
    '--create',
    '--partition-by',
    'month(ts)',
  ];
  expect(parseLoadArguments(args)).toStrictEqual({
    kind: 'parquet',
    globs: ['a.parquet', 'b/*.parquet'],
    table: { catalog: 'lake', namespace: ['ns'], table: 't' },
    mode: 'create',
    partitionBy: [{ column: 'ts', transform: { kind: 'month' } }],
    json: false,
  });
  expect(parseLoadArguments(['tpch', '--scale', '0.01', '--replace', '--json'])).toStrictEqual({
    kind: 'tpch',
    scale: '0.01',
    namespace: 'tpch',
    mode: 'replace',
    json: true,
  });
});

test.each<[string, readonly string[], string]>([
  ['lake.ns.t', ['ns'], 't'],
  ['lake.a.b.t', ['a', 'b'], 't'],
  ['lake."a.b".t', ['a', 'b'], 't'],
  ['lake.ns."My ""T"""', ['ns'], 'My "T"'],
])('table %s', (text, namespace, table) => {
  expect(parseTableName(text)).toStrictEqual({ catalog: 'lake', namespace, table });
});

test.each(['', 't', 'ns.t', 'lake..t', 'lake.ns.', '.ns.t', 'lake.ns.t x', 'lake."ns.t', 'lake.ns."t'])(
  'no table: %j',
  (text) => {
    expect(() => parseTableName(text)).toThrow(UsageError);
  },
);

describe('--partition-by', () => {
  const column = (id: number, name: string, type: IcebergType): Field => ({ id, name, required: false, type });
  const schema = {
    schemaId: 0,
    identifierFieldIds: [],
    fields: [
      column(1, 'ts', { kind: 'timestamp' }),
      column(2, 'User, Id', { kind: 'long' }),
      column(3, 'ts_day', { kind: 'string' }),
      column(4, 'd', { kind: 'date' }),
      column(5, 'x', { kind: 'double' }),
    ],
  };

  test.each<[string, readonly string[]]>([
    ['month(ts)', ['ts month ts_month']],
    ['days( ts ),bucket(16 , "User, Id")', ['ts day ts_day_part', 'User, Id bucket[16] User, Id_bucket']],
    ['TS_DAY', ['ts_day identity ts_day']],
    ['truncate(4, ts_day), ts_day', ['ts_day truncate[4] ts_day_truncate', 'ts_day identity ts_day']],
  ])('%s', (text, expected) => {
    const fields = partitionFields(parsePartitionBy(text), schema).map(({ sourceId, transform, name }) => {
      const source = schema.fields.find(({ id }) => id === sourceId)?.name;
      return `${source} ${printTransform(transform)} ${name}`;
    });
    expect(fields).toStrictEqual(expected);
  });

  test.each<[string, string]>([
    ['nowhere', 'COLUMN_NOT_FOUND'],
    ['hour(d)', 'INVALID_REQUEST'],
    ['bucket(4, x)', 'INVALID_REQUEST'],
  ])('%s does not fit the columns', (text, code) => {
    expect(() => partitionFields(parsePartitionBy(text), schema)).toThrow(expect.objectContaining({ code }));
  });

  test.each([
    'month(ts',
    'bucket(ts)',
    'bucket(0, ts)',
    'month(3, ts)',
    'zorder(ts)',
    'void(ts)',
    '"a',
    'a b',
    '(',
    '',
    'a,,b',
    'a,',
  ])('%s is no partition field', (text) => {
    expect(() => parsePartitionBy(text)).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
  });

  test('transforms print as they are parsed', () => {
    for (const text of ['bucket[7]', 'truncate[3]', 'hour']) expect(printTransform(parseTransform(text))).toBe(text);
  });
});
