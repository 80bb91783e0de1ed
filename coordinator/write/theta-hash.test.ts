import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import type { IcebergType } from '#shared/iceberg/type.ts';
import { hashQuery, isHashed } from './theta-hash.ts';

const D = 'DECIMAL(9, 2)';
/** The hashes are those of mmh3 5.3.1: `hash64(bytes, seed=9001, x64arch=True, signed=False)[0] >> 1`. */
const CASES: readonly (readonly [type: IcebergType, values: Readonly<Record<string, string>>])[] = [
  [
    { kind: 'long' },
    {
      '0::BIGINT': '2325124908111195109',
      '1::BIGINT': '405753591161026837',
      '(-1)::BIGINT': '1043656188210950764',
      '34::BIGINT': '2969606663411317205',
    },
  ],
  [
    { kind: 'string' },
    {
      "'a'": '8863373810831573271',
      "'abcdefgh'": '8014791471988879733',
      "'abcdefghi'": '8561427749686064233',
      "'0123456789abcdef'": '1350429197554960912',
      "'0123456789abcdefg'": '1920697921434171861',
      [`'${'x'.repeat(1_000)}'`]: '5733448841734850023',
      "'Ä€😀'": '6540926551451426145',
    },
  ],
  [
    { kind: 'decimal', precision: 9, scale: 2 },
    {
      [`0::${D}`]: '288748328603632468',
      [`14.20::${D}`]: '7374947148555238755',
      [`-1.29::${D}`]: '2001036892895120030',
      [`1.28::${D}`]: '396707896016918782',
      [`-0.01::${D}`]: '8879938112102662295',
    },
  ],
  [{ kind: 'double' }, { '1.5::DOUBLE': '1115031845194776849' }],
  [{ kind: 'date' }, { "DATE '1969-12-31'": '8644936227275798609' }],
  [{ kind: 'uuid' }, { "'f79c3e09-677c-4bbd-a479-3f349cb785e7'::UUID": '1995853427287261821' }],
];

test.each(CASES)('the hash of $kind is that of DataSketches', async (type, values) => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const from = `FROM (SELECT unnest([${Object.keys(values).join(', ')}]) AS v)`;
  const rows = (await connection.runAndReadAll(hashQuery(type, 'v', from))).getRows();
  expect(rows.map(String)).toEqual(Object.values(values));
  connection.closeSync();
});

test('neither NULL nor an empty value has one', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const rows = await connection.runAndReadAll(
    hashQuery({ kind: 'string' }, 'v', "FROM (SELECT unnest(['', NULL, 'a']) AS v)"),
  );
  expect(rows.getRows()).toHaveLength(1);
  const [[none = 0] = []] = (
    await connection.runAndReadAll(hashQuery({ kind: 'int' }, 'v', 'FROM (SELECT NULL::INTEGER AS v)'))
  ).getRows();
  expect(none).toBeNull();
  connection.closeSync();
});

test('a nested column has none', () => {
  expect(isHashed({ kind: 'struct', fields: [] })).toBe(false);
});
