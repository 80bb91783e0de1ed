import { expect, test } from 'vitest';
import { parseType } from '#shared/iceberg/type.ts';
import type { Json } from '#shared/json.ts';
import { sqlTypeName } from './sql-type-name.ts';

test.each<[Json, string]>([
  ['int', 'INT'],
  ['long', 'BIGINT'],
  ['string', 'VARCHAR'],
  ['timestamp', 'TIMESTAMP'],
  ['decimal(10,2)', 'DECIMAL(10, 2)'],
  ['fixed[16]', 'BINARY(16)'],
  [{ type: 'list', 'element-id': 2, element: 'long', 'element-required': false }, 'ARRAY<BIGINT>'],
  [
    { type: 'map', 'key-id': 2, key: 'string', 'value-id': 3, value: 'int', 'value-required': false },
    'MAP<VARCHAR, INT>',
  ],
  [
    {
      type: 'struct',
      fields: [
        { id: 2, name: 'a', required: false, type: 'int' },
        { id: 3, name: 'b', required: true, type: { type: 'list', 'element-id': 4, element: 'date' } },
      ],
    },
    'STRUCT<a: INT, b: ARRAY<DATE>>',
  ],
])('%j is %s', (json, name) => {
  expect(sqlTypeName(parseType(json))).toBe(name);
});
