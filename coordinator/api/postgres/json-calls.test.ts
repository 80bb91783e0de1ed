import { expect, test } from 'vitest';
import { readDriverLiterals } from './driver-literals.ts';

test.each([
  [`SELECT jsonb_agg(a ORDER BY b DESC), 1`, `SELECT to_json(list(a ORDER BY b DESC)), 1`],
  [
    `SELECT json_agg(DISTINCT f(a, b)) FILTER (WHERE (c)) OVER (PARTITION BY d) x`,
    `SELECT to_json(list(DISTINCT f(a, b)) FILTER (WHERE (c)) OVER (PARTITION BY d)) x`,
  ],
  [`SELECT jsonb_agg(a) OVER w FROM t`, `SELECT to_json(list(a) OVER w) FROM t`],
  // jOOQ's MULTISET.
  [
    `SELECT (SELECT coalesce(jsonb_agg(jsonb_build_array(t.v0)), jsonb_build_array()) FROM u AS t)`,
    `SELECT (SELECT coalesce(to_json(list(json_array(t.v0))), json_array()) FROM u AS t)`,
  ],
  [`SELECT pg_catalog.jsonb_agg(json_agg(a))`, `SELECT pg_catalog.to_json(list(to_json(list(a))))`],
  [
    `SELECT json_object_agg(k, jsonb_agg(v) ORDER BY o) FROM t`,
    `SELECT CAST('{' || string_agg( coalesce(CAST(to_json(CAST( k AS VARCHAR)) AS VARCHAR), error('field name must not be null')) || ':' || coalesce(CAST(to_json( to_json(list(v))) AS VARCHAR), 'null'), ',' ORDER BY o) || '}' AS JSON) FROM t`,
  ],
  [`SELECT jsonb_agg('{1}'::int[])`, `SELECT to_json(list(ARRAY['1']::int[]))`],
])('%s', (sql, expected) => {
  const made = readDriverLiterals(sql);
  expect(made.text).toBe(expected);
});

test.each([
  `SELECT 'jsonb_agg(a)', "jsonb_agg"(a), s.jsonb_agg(a), jsonb_agg`,
  `INSERT INTO json_agg (a) VALUES (1)`,
  `SELECT jsonb_agg(a`,
  `SELECT jsonb_object_agg(a), jsonb_object_agg(a, b, c)`,
])('%s stays', (sql) => {
  expect(readDriverLiterals(sql).text).toBe(sql);
});

test('an error in what stays has its place in the statement', () => {
  const sql = 'SELECT jsonb_agg(jsonb_build_array(nothing)) FROM t';
  const made = readDriverLiterals(sql);
  expect(made.toSource(made.text.indexOf('nothing'))).toBe(sql.indexOf('nothing'));
});

test('calls within calls are written in linear time', () => {
  const deep = 20_000;
  const sql = `SELECT ${'jsonb_agg('.repeat(deep)}1${')'.repeat(deep)}`;
  expect(readDriverLiterals(sql).text).toBe(`SELECT ${'to_json(list('.repeat(deep)}1${'))'.repeat(deep)}`);
});
