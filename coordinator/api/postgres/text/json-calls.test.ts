import { expect, test } from 'vitest';
import { readDriverLiterals } from './driver-literals.ts';

test.each([
  [`SELECT jsonb_agg(a ORDER BY b DESC), 1`, `SELECT to_json(list(a ORDER BY b DESC)) AS jsonb_agg, 1`],
  [
    `SELECT json_agg(DISTINCT f(a, b)) FILTER (WHERE (c)) OVER (PARTITION BY d) x`,
    `SELECT to_json(list(DISTINCT f(a, b)) FILTER (WHERE (c)) OVER (PARTITION BY d)) x`,
  ],
  [
    `SELECT every(a > 1) FILTER (WHERE b), btrim(c, 'xy') = 'x', t.btrim, every FROM t`,
    `SELECT bool_and(a > 1) FILTER (WHERE b) AS every, trim(c, 'xy') = 'x' AS "btrim(c, 'xy') = 'x'", t.btrim, every FROM t`,
  ],
  [`SELECT jsonb_agg(a) OVER w FROM t`, `SELECT to_json(list(a) OVER w) AS jsonb_agg FROM t`],
  // jOOQ's MULTISET.
  [
    `SELECT (SELECT coalesce(jsonb_agg(jsonb_build_array(t.v0)), jsonb_build_array()) FROM u AS t)`,
    `SELECT (SELECT coalesce(to_json(list(json_array(t.v0))), json_array()) AS coalesce FROM u AS t) AS "(SELECT coalesce(jsonb_agg(jsonb_build_array(t.v0)), jsonb_build_array()) FROM u AS t)"`,
  ],
  [`SELECT pg_catalog.jsonb_agg(json_agg(a))`, `SELECT pg_catalog.to_json(list(to_json(list(a)))) AS jsonb_agg`],
  [
    `SELECT json_object_agg(k, jsonb_agg(v) ORDER BY o) FROM t`,
    `SELECT CAST('{' || string_agg( coalesce(CAST(to_json(CAST(k AS VARCHAR)) AS VARCHAR), error('field name must not be null')) || ':' || coalesce(CAST(to_json( to_json(list(v))) AS VARCHAR), 'null'), ',' ORDER BY o) || '}' AS JSON) AS json_object_agg FROM t`,
  ],
  // The order of a subquery is that of its rows in Postgres.
  [
    `SELECT c.id, (SELECT coalesce(jsonb_agg(jsonb_build_array(t.v0)), jsonb_build_array()) FROM (SELECT k AS v0 FROM o WHERE o.c = c.id ORDER BY o.k DESC, lower(v0)) AS t) FROM c ORDER BY 1`,
    `SELECT c.id, (SELECT coalesce(to_json(list(json_array(t.v0) ORDER BY skein_order_25)), json_array()) AS coalesce FROM (SELECT k AS v0, row_number() OVER (ORDER BY o.k DESC, lower(v0)) AS skein_order_25 FROM o WHERE o.c = c.id ORDER BY o.k DESC, lower(v0)) AS t) AS "(SELECT coalesce(jsonb_agg(jsonb_build_array(t.v0)), jsonb_build_array()) FROM (SELECT k AS v0 FROM o WHERE o.c = c.id ORDER BY o.k DESC, lower(v0)) AS t)" FROM c ORDER BY 1`,
  ],
  [
    `WITH w AS (SELECT 1) SELECT count(*), json_agg(a), json_agg(b), json_agg(a ORDER BY b) FROM (SELECT a, b FROM u ORDER BY b LIMIT 3) t WHERE a > 1`,
    `WITH w AS (SELECT 1) SELECT count(*), to_json(list(a ORDER BY skein_order_32)) AS json_agg, to_json(list(b ORDER BY skein_order_32)) AS json_agg, to_json(list(a ORDER BY b)) AS json_agg FROM (SELECT a, b, row_number() OVER (ORDER BY b) AS skein_order_32 FROM u ORDER BY b LIMIT 3) t WHERE a > 1`,
  ],
  [
    `SELECT jsonb_build_object('a', 1, b || f(c, d), 2, 3, json_build_object(e, 4)), json_build_object()`,
    `SELECT json_object('a', 1, CAST( b || f(c, d) AS VARCHAR), 2, CAST( 3 AS VARCHAR), json_object( CAST(e AS VARCHAR), 4)) AS jsonb_build_object, json_object() AS json_build_object`,
  ],
  // Columns have Postgres' names unless they have their own.
  [
    `SELECT json_agg(a) AS b, json_agg(a) b, json_agg(a)::text, coalesce(json_agg(a), '[]'), x + 1, to_jsonb(a), (SELECT to_jsonb(b)) FROM t ORDER BY json_agg(a)`,
    `SELECT to_json(list(a)) AS b, to_json(list(a)) b, to_json(list(a))::text, coalesce(to_json(list(a)), '[]') AS coalesce, x + 1, to_json(a) AS to_jsonb, (SELECT to_json(b) AS to_jsonb) AS "(SELECT to_jsonb(b))" FROM t ORDER BY to_json(list(a))`,
  ],
  [
    `SELECT a::jsonb, cast($1 AS jsonb), CAST(b AS jsonb[])`,
    `SELECT a::JSON, cast($1 AS JSON) AS "cast($1 AS jsonb)", CAST(b AS JSON[]) AS "CAST(b AS jsonb[])"`,
  ],
  // Operators bind as in Postgres, also where what they take is made by others.
  [
    `SELECT a->'b'->>0 = 'c' AND NOT t.d[1]->>'$oid' = f(g->$1)::json->>'h' AND (i)->-1 IS NULL AND j->>'$.k' = l->m`,
    `SELECT ((a->'b')->>0) = 'c' AND NOT (t.d[1]->>'/$oid') = (f((g->$1))::json->>'h') AND ((i)-> (-1)) IS NULL AND (j->>'$.k') = l->m`,
  ],
  [
    `SELECT a #>> '{b,0,"c/~"}' x, a#>'{}', (a->'b') #> ARRAY['c', '1'], a::jsonb #> '{b}'::text[] #>> '{c}', a #> '{-1}', a #> $1`,
    `SELECT json_extract_string(a , '/b/0/c~1~0') x, json_extract(a,'') AS "a#>'{}'", json_extract(((a->'b')) , '/c/1' ) AS "(a->'b') #> ARRAY['c', '1']", json_extract_string(json_extract(a::JSON , '/b') , '/c') AS "a::jsonb #> '{b}'::text[] #>> '{c}'", a #> '{-1}', a #> $1`,
  ],
  [
    `SELECT jsonb_build_object('a', b->'c', d->>'e', json_agg(f->>'g' ORDER BY h->'i'))`,
    `SELECT json_object('a', (b->'c'), CAST( (d->>'e') AS VARCHAR), to_json(list((f->>'g') ORDER BY (h->'i')))) AS jsonb_build_object`,
  ],
  [
    `SELECT json_agg(t) FROM (SELECT a->>'b' AS c FROM u ORDER BY a->>'$d') t`,
    `SELECT to_json(list(t)) AS json_agg FROM (SELECT (a->>'b') AS c FROM u ORDER BY (a->>'/$d')) t`,
  ],
  [
    `SELECT json_agg(c) FROM (SELECT a->>'b' AS c FROM u ORDER BY a->>'$d') t`,
    `SELECT to_json(list(c ORDER BY skein_order_7)) AS json_agg FROM (SELECT (a->>'b') AS c, row_number() OVER (ORDER BY (a->>'/$d')) AS skein_order_7 FROM u ORDER BY (a->>'/$d')) t`,
  ],
  // Functions that give rows.
  [
    `SELECT e->>'a', f.value, g.*, k FROM t, jsonb_array_elements(t.b->'c') AS e JOIN json_array_elements_text(d) f ON true, jsonb_each(h) AS g, jsonb_object_keys(i) k`,
    `SELECT (e->>'a'), f.value, g.*, k FROM t, (SELECT unnest(json_extract((t.b->'c'), '$[*]')) AS "e") AS e JOIN (SELECT unnest(json_extract_string(d, '$[*]')) AS "value") f ON true, (SELECT "key", "value" FROM json_each(h)) AS g, (SELECT unnest(json_keys(i)) AS "k") k`,
  ],
  [
    `SELECT n FROM json_array_elements('[1]') WITH ORDINALITY AS e(v, n), jsonb_each_text('{}') WHERE v IN (SELECT jsonb_array_elements(w))`,
    `SELECT n FROM (SELECT unnest(l) AS "value", unnest(range(1, len(l) + 1)) AS "ordinality" FROM (SELECT json_extract('[1]', '$[*]') AS l))   AS e(v, n), (SELECT "key", "value" ->> '$' AS "value" FROM json_each('{}')) AS jsonb_each_text WHERE v IN (SELECT unnest(json_extract(w, '$[*]')) AS jsonb_array_elements)`,
  ],
  [
    `SELECT jsonb_extract_path(a, 'b', '0'), json_extract_path_text(f(a), 'c') AS d, row_to_json(t.*), to_jsonb(t.*), jsonb '[1]'`,
    `SELECT json_extract(a, '/b/0'  ) AS jsonb_extract_path, json_extract_string(f(a), '/c' ) AS d, row_to_json(t) AS row_to_json, to_json(t) AS to_jsonb, JSON '[1]' AS "jsonb '[1]'"`,
  ],
  [`SELECT jsonb_agg('{1}'::int[])`, `SELECT to_json(list(ARRAY['1']::int[])) AS jsonb_agg`],
])('%s', (sql, expected) => {
  const made = readDriverLiterals(sql);
  expect(made.text).toBe(expected);
});

test.each([
  `SELECT 'jsonb_agg(a)', "jsonb_agg"(a), s.jsonb_agg(a), jsonb_agg`,
  `INSERT INTO json_agg (a) VALUES (1)`,
  `SELECT jsonb_agg(a`,
  `SELECT list_transform(a, x -> 'b'), list_filter(a, (x, i) -> 1), array_filter(a, x->'b'), x -> y, a - 1 > 0, b < -1`,
  `SELECT jsonb_array_elements(a, b), jsonb_each(a), s.jsonb_each(a), jsonb_extract_path(a, b), jsonb_extract_path(a, '-1'), json_each(a)`,
  `CREATE OR REPLACE MASKING POLICY s.p AS (val VARCHAR) RETURNS VARCHAR -> '*'`,
  `CREATE ROW ACCESS POLICY IF NOT EXISTS s.p AS (a INT) RETURNS BOOLEAN -> 1 = a`,
  `ALTER MASKING POLICY s.p SET BODY -> 'x'`,
  `SELECT CASE WHEN a THEN b END -> 'c', count(*) FILTER (WHERE d) -> 'e' FROM jsonb_each(f) WITH ORDINALITY`,
  `SELECT (SELECT a AS jsonb), b AS jsonb, jsonb FROM jsonb`,
  `SELECT jsonb_object_agg(a), jsonb_object_agg(a, b, c)`,
])('%s stays', (sql) => {
  expect(readDriverLiterals(sql).text).toBe(sql);
});

test.each([
  ['SELECT json_agg(t) FROM (SELECT a, x.b FROM u x ORDER BY b DESC NULLS LAST, a) t', 't.b DESC NULLS LAST, t.a'],
  ['SELECT jsonb_agg(t.*) FROM (SELECT a + 1 AS "C", b FROM u ORDER BY "C" LIMIT 2) AS "T x"', '"T x"."C"'],
  ['SELECT jsonb_agg(a) FROM (SELECT DISTINCT a FROM u ORDER BY a) AS t', 't.a'],
  ['SELECT jsonb_agg(a) FROM (SELECT a FROM u UNION SELECT b FROM v ORDER BY a) AS t', 't.a'],
  ['SELECT jsonb_agg(c) FROM (SELECT f(a) c FROM u ORDER BY c) AS t', 't.c'],
])('%s sorts by columns of the result', (sql, order) => {
  const { text } = readDriverLiterals(sql);
  expect(text).toContain(` ORDER BY ${order})`);
  expect(text).not.toContain('skein_order');
});

test.each([
  'SELECT jsonb_agg(t) FROM (SELECT a FROM u ORDER BY b) AS t',
  'SELECT jsonb_agg(t.*) FROM (SELECT * FROM u ORDER BY b) AS t',
  'SELECT jsonb_agg(a) FROM (SELECT a, a FROM u UNION SELECT 1, 2 ORDER BY a) AS t',
  'SELECT jsonb_agg(a) FILTER (WHERE b) OVER () FROM (SELECT a, b FROM u ORDER BY a) AS t',
  'SELECT jsonb_agg(a) FROM (SELECT DISTINCT ON (a) a FROM u ORDER BY a + 1) AS t',
  'SELECT jsonb_agg(t) FROM (SELECT a FROM u ORDER BY u.a) AS t',
  'SELECT jsonb_agg(a) FROM (SELECT a FROM u ORDER BY b, 1) AS t',
  'SELECT jsonb_agg(a) FROM (SELECT a FROM u ORDER BY $1) AS t',
  'SELECT jsonb_agg(a) FROM (SELECT a FROM u ORDER BY ALL) AS t',
  'SELECT jsonb_agg(a) FROM (SELECT a, sum(c) FROM u GROUP BY ALL ORDER BY sum(c)) AS t',
  'SELECT jsonb_agg(a) FROM (SELECT a FROM u) AS t',
  'SELECT jsonb_agg(a) FROM (SELECT a FROM u ORDER BY b) AS t, v',
  'SELECT jsonb_agg(a) FROM (SELECT a FROM u ORDER BY b) AS t JOIN v ON true',
])('%s has no order to hand on', (sql) => {
  expect(readDriverLiterals(sql).text).not.toMatch(/skein_order|list\([^()]* ORDER BY/);
});

test('an error in what stays has its place in the statement', () => {
  const sql = 'SELECT jsonb_agg(jsonb_build_array(nothing)) FROM t';
  const made = readDriverLiterals(sql);
  expect(made.toSource(made.text.indexOf('nothing'))).toBe(sql.indexOf('nothing'));
});

test('subqueries by which subqueries are sorted do not double the text at each level', () => {
  const nested = (depth: number): string =>
    depth === 0
      ? '1'
      : `(SELECT json_agg(a) FROM (SELECT a FROM u ORDER BY ${nested(depth - 1)}) AS t WHERE b->>'c' = 'd')`;
  const sql = `SELECT ${nested(40)}`;
  expect(readDriverLiterals(sql).text.length).toBeLessThan(4 * sql.length);
});

test('chains and lists of operators are written in linear time', () => {
  const count = 20_000;
  expect(readDriverLiterals(`SELECT a${"->'b'".repeat(count)}`).text).toBe(
    `SELECT ${'('.repeat(count)}a${"->'b')".repeat(count)}`,
  );
  expect(readDriverLiterals(`SELECT a${'::json->b'.repeat(count)}`).text).toHaveLength(
    `SELECT a${'::json->b'.repeat(count)}`.length,
  );
  const sources = Array.from({ length: count }, (_, i) => `jsonb_each(a${i}) e${i}`).join(', ');
  expect(readDriverLiterals(`SELECT 1 FROM ${sources}`).text.length).toBeGreaterThan(sources.length);
});

test('calls within calls are written in linear time', () => {
  const deep = 20_000;
  const sql = `SELECT ${'jsonb_agg('.repeat(deep)}1${')'.repeat(deep)}`;
  expect(readDriverLiterals(sql).text).toBe(`SELECT ${'to_json(list('.repeat(deep)}1${'))'.repeat(deep)} AS jsonb_agg`);
});

test('the part of a value of 20,000 members is taken', () => {
  const value = `${'a[1].'.repeat(20_000)}b`;
  expect(readDriverLiterals(`SELECT ${value} -> 'x'`).text).toBe(`SELECT (${value} -> 'x')`);
});
