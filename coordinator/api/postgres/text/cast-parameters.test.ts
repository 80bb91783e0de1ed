import { expect, test } from 'vitest';
import { castTypes } from './cast-parameters.ts';

test.each<[string, readonly (readonly [number, string])[]]>([
  [
    'SELECT cast($1 as text[]), $2 :: bytea, $3, x::int',
    [
      [0, 'VARCHAR[]'],
      [1, 'BLOB'],
    ],
  ],
  [
    'SELECT CAST ( ? AS TIMESTAMP  WITH TIME ZONE), ?, cast(? as pg_catalog.int4[3])',
    [
      [0, 'TIMESTAMP WITH TIME ZONE'],
      [2, 'INTEGER[]'],
    ],
  ],
  ['SELECT $1::int[], $2::int, $2', [[0, 'INTEGER[]']]],
  [
    'SELECT $1::numeric(9,2)[], $2::double precision[], $3::regclass, $4::int[][], cast($5 as varchar(3))',
    [
      [0, 'VARCHAR[]'],
      [1, 'DOUBLE[]'],
      [2, ''],
      [3, ''],
      [4, ''],
    ],
  ],
  ['SELECT try_cast($1 AS int), f($2) AS a, ($3) AS b, $4 AS c', []],
  ["SELECT 'cast($1 as int)', $1", []],
])('%s', (sql, types) => {
  expect([...castTypes(sql)]).toEqual(types);
});
