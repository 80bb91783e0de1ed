import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, expect, test } from 'vitest';
import { duckDbError } from '../duckdb-error.ts';
import type { SkeinError } from '../error.ts';
import { ARGUMENTS_MAX, BOUNDED_FAMILIES, boundedFamily, boundSql, unboundSql } from './bounded-functions.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

let plain: DuckDBConnection;
let bounded: DuckDBConnection;

beforeAll(async () => {
  plain = await (await DuckDBInstance.create(':memory:')).connect();
  bounded = await (await DuckDBInstance.create(':memory:')).connect();
  for (const sql of BOUNDED_FAMILIES.flatMap(boundSql)) await bounded.run(sql);
});

const rows = async (connection: DuckDBConnection, sql: string): Promise<unknown> =>
  (await connection.runAndReadAll(sql)).getRowsJson();

const TEXTS = [
  `['', 'a', 'abc', 'a%b', 'a_b', 'a\\b', 'aXbYc', 'über', 'a.b+c', '[x]{2}(y)|z^$', 'line\nbreak', NULL]`,
  `[repeat('ab', 200), repeat('é', 100) || 'x', repeat('a.b+c', 60), repeat('a', 200) || '\n' || 'b', repeat('XyZ', 99)]`,
];
const PATTERNS =
  `['', '%', '_', '%%', 'a%', '%c', '%b%', 'a%b%c', '%a%b%c%', '_b_', 'a\\%', '%.%+%', '[x]{2}(y)|z^$', '%é%x', '%A%B%',` +
  ` '%a%b%a%b%a_%', '___%_', '%a%\nb', '%x%Y%z%', '%.b+c%a.%+c', NULL]`;

test.each(['LIKE', 'NOT LIKE', 'ILIKE', 'NOT ILIKE'])('a bounded %s answers as DuckDB does', async (operator) => {
  for (const texts of TEXTS) {
    const sql =
      `SELECT t, p, t ${operator} p FROM (SELECT unnest(${texts}) AS t), (SELECT unnest(${PATTERNS}) AS p)` +
      ' ORDER BY ALL';
    expect(await rows(bounded, sql)).toEqual(await rows(plain, sql));
  }
});

test.each([
  `SELECT 'abc' GLOB 'a*c', 'abc' GLOB 'a[a-c]?', 'a%c' LIKE 'a$%%' ESCAPE '$', 'A%c' ILIKE 'a$%%' ESCAPE '$'`,
  `SELECT levenshtein('abc', 'abd'), editdist3('abc', 'abd'), damerau_levenshtein('abc', 'acb'), levenshtein(NULL, 'a')`,
  `SELECT [1, 2] && [2], [1, 2] @> [2], [2] <@ [1, 2], list_intersect([1, 2, 2], [2]), array_has_any(['a'], [NULL])`,
  `SELECT json_structure('{"a":[1]}'), json_contains('[1,2]', '1'), json_merge_patch('{"a":1}', '{"b":2}'), json_pretty('[]')`,
  `SELECT len(json_structure(list_transform(range(5000 + i), lambda x: {'a': [x], 'b': ':-[ "{'})::JSON)) > 0 FROM range(1) t(i)`,
  `SELECT generate_series(3), generate_series(1, 3), range(1, 9, 4), range(DATE '2020-01-01', DATE '2020-02-01', INTERVAL 1 WEEK)`,
  `SELECT * FROM range(3), generate_series(TIMESTAMP '2020-01-01', TIMESTAMP '2020-01-03', INTERVAL 1 DAY) ORDER BY ALL`,
  `SELECT MAP([1, 2], ['a', 'b']), MAP {'x': i}, MAP(NULL, NULL), MAP([], [])['a'] FROM range(2) t(i)`,
  `SELECT lpad('a', 5, 'b'), rpad('a', 5, 'bc'), regexp_extract_all('abab', '(a)b', 1), string_split_regex('a1b', '[0-9]')`,
  `SELECT regexp_matches('abc', 'B', 'i'), regexp_full_match('abc', 'a.*'), 'abc' SIMILAR TO 'a.*', 'aa' ~ 'a{2}'`,
  `SELECT timezone('Europe/Berlin', TIMESTAMP '2020-01-01'), TIMESTAMPTZ '2020-01-01 00:00:00+00' AT TIME ZONE 'UTC'`,
  `SELECT TRY(i::VARCHAR LIKE i || '_%x%y'), TRY(map([i], ['a'])), TRY(regexp_extract_all('abab', '(a)b', 0)) FROM range(2) t(i)`,
  `SELECT 'POINT(1 2)'::GEOMETRY && 'POINT(1 2)'::GEOMETRY, 'POINT(1 2)'::GEOMETRY && NULL, [1] && NULL, NULL && NULL`,
  `SELECT list_transform(['abc', 'b'], lambda x: levenshtein(x, 'abd')), list_filter(['abc', 'b'], lambda x: x LIKE '%b%_')`,
  `SELECT regexp_split_to_array(t, ','), regexp_split_to_array(t, 'X', 'i'), str_split_regex(t, 'x', 'i') FROM (VALUES ('axbX,c')) v(t)`,
  `SELECT string_split_regex(t, '[xX]'), string_split_regex(t, 'X.', 's'), string_split_regex(NULL, 'a', 'i') FROM (VALUES ('axbX,c')) v(t)`,
  `SELECT regexp_extract_all(t, 'x'), regexp_extract_all(t, '(X)', 1), regexp_extract_all(t, '(X)', 1, 'i') FROM (VALUES ('axbX,c')) v(t)`,
  `SELECT regexp_extract_all(t, '(?P<q>x)', ['q']), regexp_extract_all(t, '(?P<q>x)', ['q'], 'i'), regexp_extract_all(t, 'b') FROM (VALUES ('axbX,c')) v(t)`,
  `SELECT json_merge_patch('{"a":1}', '{"b":2}', '{"c":3}', j), json_merge_patch(j, '{"a":null}') FROM (VALUES ('{"d":[4]}')) v(j)`,
  `SELECT map(), map([k], ['x']), MAP {'x': k} FROM (VALUES (1)) v(k)`,
  `SELECT range(k), range(1, k), range(1, k, 2), generate_series(k), timezone(TIMESTAMP '2020-01-01') FROM (VALUES (4)) v(k)`,
  `SELECT date_trunc('month', t), datetrunc('day', t::DATE), date_trunc('hour', t::TIMESTAMPTZ), date_trunc('day', INTERVAL 30 HOUR),
     date_trunc('week', NULL::TIMESTAMP), date_trunc(p, t) FROM (VALUES (TIMESTAMP '2020-02-03 04:05:06', 'year'), ('infinity', 'day')) v(t, p)`,
])('bounded functions answer as DuckDB does: %s', async (sql) => {
  expect(await rows(bounded, sql)).toEqual(await rows(plain, sql));
});

test.each([
  `levenshtein(repeat('a', 30000 + i::INT), repeat('b', 30000))`,
  `repeat('a', 3000 + i::INT) LIKE repeat('%a', 1200 + i::INT) || 'b'`,
  `repeat('a', 3000 + i::INT) ILIKE repeat('%a', 1200 + i::INT) || 'b'`,
  `repeat('a', 3000 + i::INT) GLOB repeat('*a', 1200 + i::INT) || 'b'`,
  `json_structure(repeat('[', 900000 + i::INT) || repeat(']', 900000 + i::INT))`,
  `json_contains(repeat('[', 900000 + i::INT) || repeat(']', 900000 + i::INT), '1')`,
  `generate_series(TIMESTAMP '0001-01-01', TIMESTAMP '9999-01-01', to_microseconds(1 + i))`,
  `list_has_all(range(8000000 + i), list_reverse(range(8000000 + i)))`,
  `map(range(3000000 + i), range(3000000 + i))`,
  `lpad('a', 500000000 + i::INT, 'b')`,
  `string_split_regex(repeat('ab', 15000000 + i::INT), 'b')`,
  `regexp_split_to_array(repeat('ab', 15000000 + i::INT), 'B', 'i')`,
  `regexp_extract_all(repeat('ab', 15000000 + i::INT), '(b)', 1, 'i')`,
  `regexp_extract_all(repeat('ab', 15000000 + i::INT), '(?P<q>b)', ['q'])`,
  `json_merge_patch('{}', '{}', '{}', repeat('[', 900000 + i::INT) || repeat(']', 900000 + i::INT))`,
  `regexp_matches(repeat('a', 3000000 + i::INT), '(a?){0,900}b')`,
  `timezone(repeat('ab', 15000000 + i::INT), TIMESTAMP '2020-01-01')`,
])('what would take minutes, or the process, is a clear error, and NULL within TRY: %s', async (call) => {
  const error = await rows(bounded, `SELECT ${call} FROM range(1) t(i)`).catch((thrown: unknown) =>
    duckDbError((thrown as Error).message),
  );
  expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', position: undefined });
  expect((error as SkeinError).message).not.toMatch(/convert|skein/);
  expect(await rows(bounded, `SELECT TRY(${call}) FROM range(1) t(i)`)).toEqual([[null]]);
});

test('every number of arguments that a bounded function takes has a body', async () => {
  const takes = await rows(
    plain,
    `SELECT function_name, len(parameters), max(varargs IS NOT NULL) FROM duckdb_functions()
     WHERE function_type = 'scalar' GROUP BY ALL ORDER BY ALL`,
  );
  const missing = (takes as readonly (readonly [string, string, boolean])[]).filter(([name, count, isOpen]) => {
    const isBounded = Array.from({ length: ARGUMENTS_MAX }, (_, i) => i).some(
      (n) => boundedFamily(name, n) !== undefined,
    );
    const last = isOpen ? ARGUMENTS_MAX : Number(count);
    return isBounded && [Number(count), last].some((n) => boundedFamily(name, n) === undefined);
  });
  expect(missing).toEqual([]);
});

test('an error of the statement’s own is told from all others', async () => {
  for (const text of ['Failed to read the file', 'division by zero', `it's {"exception_type":"x"}`]) {
    const sql = `SELECT error(v) FROM (VALUES ('${text.replaceAll("'", "''")}')) t(v)`;
    const error = await rows(bounded, sql).catch((thrown: unknown) => duckDbError((thrown as Error).message));
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: text });
  }
  expect(await rows(bounded, 'SELECT error(NULL)')).toEqual([[null]]);
});

test('a long text is matched in a time that grows with it', async () => {
  const sql = `SELECT repeat('a', 30000 + i::INT) LIKE '%a%a%a%a%a_b' FROM range(1) t(i)`;
  const start = performance.now();
  expect(await rows(bounded, sql)).toEqual([[false]]);
  expect(performance.now() - start).toBeLessThan(2_000 * machineSlowness());
});

test('a family is taken back whole, and functions are found by the number of their arguments', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  for (const sql of [...boundSql('distance'), ...unboundSql('distance')]) await connection.run(sql);
  expect(await rows(connection, `SELECT levenshtein(repeat('a', 3000), repeat('b', 300))`)).toEqual([['3000']]);
  expect(boundedFamily('levenshtein', 2)).toBe('distance');
  expect(boundedFamily('lower', 1)).toBeUndefined();
  expect(boundedFamily('constructor', 1)).toBeUndefined();
});
