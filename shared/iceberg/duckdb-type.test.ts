import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { duckDbType } from './duckdb-type.ts';

const field = (id: number, name: string, type: Json): Json => ({ id, name, type, required: false });

describe('duckDbType', () => {
  test.each([
    ['boolean', 'BOOLEAN'],
    ['int', 'INTEGER'],
    ['long', 'BIGINT'],
    ['decimal(15, 2)', 'DECIMAL(15,2)'],
    ['timestamptz', 'TIMESTAMP WITH TIME ZONE'],
    ['fixed[16]', 'BLOB'],
    [{ type: 'list', 'element-id': 2, element: 'string', 'element-required': false }, 'VARCHAR[]'],
    [{ type: 'map', 'key-id': 2, key: 'string', 'value-id': 3, value: 'date' }, 'MAP(VARCHAR, DATE)'],
    [
      { type: 'struct', fields: [field(1, 'a', 'int'), field(2, 'b "x"', 'uuid')] },
      'STRUCT("a" INTEGER, "b ""x""" UUID)',
    ],
  ] as const)('%j is %s', (type, expected) => {
    expect(duckDbType(type as Json)).toBe(expected);
  });

  test('every primitive names a type that DuckDB has', async () => {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    const types =
      'boolean int long float double date time timestamp timestamptz timestamp_ns timestamptz_ns string uuid binary unknown'.split(
        ' ',
      );
    for (const type of types) await connection.run(`SELECT CAST(NULL AS ${duckDbType(type)})`);
    connection.closeSync();
  });

  test.each(['variant', 'geometry(srid:4326)', 'text'])('%s is refused', (type) => {
    expect(() => duckDbType(type)).toThrow(expect.objectContaining({ code: 'NOT_SUPPORTED' }));
  });
});
