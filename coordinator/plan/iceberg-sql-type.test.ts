import { expect, test } from 'vitest';
import { duckDbType } from '#shared/iceberg/duckdb-type.ts';
import { parseType } from '#shared/iceberg/type.ts';
import type { Json } from '#shared/json.ts';
import { printSqlType } from './sql-type.ts';
import { icebergSqlType } from './iceberg-sql-type.ts';

const list: Json = { type: 'list', 'element-id': 3, element: 'decimal(38,9)', 'element-required': false };
const struct: Json = { type: 'struct', fields: [{ id: 1, name: 'a "b', required: true, type: list }] };

test.each<Json[]>([
  ...['boolean', 'int', 'long', 'float', 'double', 'date', 'time', 'timestamp', 'timestamptz', 'timestamp_ns'].map(
    (t) => [t],
  ),
  ...['timestamptz_ns', 'string', 'uuid', 'binary', 'unknown', 'fixed[4]', 'decimal(9,2)'].map((t) => [t]),
  [list],
  [struct],
  [{ type: 'map', 'key-id': 4, key: 'string', 'value-id': 5, value: struct, 'value-required': false }],
])('%j is what the worker prints', (type) => {
  expect(printSqlType(icebergSqlType(parseType(type)))).toBe(duckDbType(type));
});

test.each(['variant', 'geometry', 'geography'])('%s is not served', (type) => {
  expect(() => icebergSqlType(parseType(type))).toThrow('cannot be read');
});
