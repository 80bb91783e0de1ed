import { expect, test } from 'vitest';
import { castOnly } from './cast-parameters.ts';

test.each<[string, readonly number[]]>([
  ['SELECT cast($1 as text[]), $2 :: bytea, $3, x::int', [0, 1]],
  ['SELECT CAST ( ? AS bytea), ?, cast(? as int[])', [0, 2]],
  ['SELECT $1::int[], $2::int, $2', [0]],
  ['SELECT try_cast($1 AS int), f($2) AS a, ($3) AS b, $4 AS c', []],
  ["SELECT 'cast($1 as int)', $1", []],
])('%s casts %j alone', (sql, numbers) => {
  expect([...castOnly(sql)]).toEqual(numbers);
});
