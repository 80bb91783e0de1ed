import { expect, test } from 'vitest';
import { readDriverLiterals } from './driver-literals.ts';

test.each([
  [`SELECT '\\x00fF'::bytea, 1`, `SELECT from_hex('00ff')::bytea, 1`],
  [`SELECT '{1,NULL}'::int[] || '{}' :: INTEGER[]`, `SELECT ARRAY['1', NULL]::int[] || ARRAY[] :: INTEGER[]`],
  [`SELECT CAST('{"a,b"}' AS text[])`, `SELECT CAST(ARRAY['a,b'] AS text[])`],
  [
    `VALUES ('{1.5}'::double precision[], '{1}'::numeric(9,2)[])`,
    `VALUES (ARRAY['1.5']::double precision[], ARRAY['1']::numeric(9,2)[])`,
  ],
  [`SELECT len(('{a}')::text[], ('{1}')::int[])`, `SELECT len((ARRAY['a'])::text[], (ARRAY['1'])::int[])`],
])('%s', (sql, expected) => {
  const made = readDriverLiterals(sql);
  expect(made.text).toBe(expected);
  const at = sql.lastIndexOf('::');
  expect(made.toSource(expected.lastIndexOf('::'))).toBe(at);
});

test.each([
  `SELECT '{"a": 1}'::json, '\\x00'::blob, '\\xzz'::bytea, '{1'::int[]`,
  `SELECT '{1}'::text, a[1] FROM t`,
  `SELECT f('{1}')::int[], ('{1}', 2)::int[], ('{1}')`,
  `SELECT '{1}'::text ORDER BY a[1]`,
  `SELECT '''\\x00''::bytea', "'{1}'" -- '{1}'::int[]`,
  `SELECT '{1}`,
])('%s stays', (sql) => {
  expect(readDriverLiterals(sql).text).toBe(sql);
});

test.each([
  [
    `INSERT INTO t SELECT * FROM UNNEST($1::int[], f(a, ['b', 'c']))`,
    `INSERT INTO t SELECT * FROM (SELECT UNNEST($1::int[]) AS unnest, UNNEST( f(a, ['b', 'c'])) AS unnest)`,
  ],
  [
    `SELECT * FROM a JOIN unnest ((SELECT x FROM unnest(y, z)), '{1}'::int[]) AS u(i, j)`,
    `SELECT * FROM a JOIN (SELECT UNNEST((SELECT x FROM (SELECT UNNEST(y) AS unnest, UNNEST( z) AS unnest))) AS unnest, UNNEST( ARRAY['1']::int[]) AS unnest) AS u(i, j)`,
  ],
  [`SELECT unnest(a, b), x FROM unnest(c), unnest(a) WITH ORDINALITY`, null],
  [`SELECT * FROM unnest(a, b) WITH ORDINALITY`, null],
  [`SELECT * FROM "unnest"(a, b), x.unnest(a, b), 'FROM unnest(a, b)'`, null],
  [`SELECT * FROM unnest(a, b`, null],
])('lists in FROM: %s', (sql, expected) => {
  expect(readDriverLiterals(sql).text).toBe(expected ?? sql);
});

test.each([
  ['SELECT public.t.*, 1 FROM public.t', 'SELECT t.*, 1 FROM public.t'],
  ['SELECT "Lake" . public."T x".* FROM "Lake".public."T x" JOIN u', 'SELECT "T x".* FROM "Lake".public."T x" JOIN u'],
  ['SELECT public.t.* FROM PUBLIC.T', 'SELECT t.* FROM PUBLIC.T'],
  // Nothing says that the table is the one of that schema.
  ['SELECT public.t.* FROM other.t', null],
  ['SELECT public.t.* FROM t', null],
  ['SELECT t.*, 2 * a.b * 3 FROM public.t', null],
  ["SELECT 'public.t.*' FROM public.t", null],
])('a star behind a schema: %s', (sql, expected) => {
  expect(readDriverLiterals(sql).text).toBe(expected ?? sql);
});

test('a type is looked for in a few tokens', () => {
  const sql = `SELECT '{1}'::numeric(${'9,'.repeat(100)}9)[], CAST ('{1}' AS timestamp(6) with time zone[3])`;
  expect(readDriverLiterals(sql).text).toBe(sql.replace("CAST ('{1}'", "CAST (ARRAY['1']"));
});
