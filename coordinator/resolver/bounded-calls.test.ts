import { beforeAll, expect, test } from 'vitest';
import type { StatementContext } from '#shared/sql/statement-context.ts';
import { PlannerSession } from '../planner/planner-session.ts';

let session: PlannerSession;
const context: StatementContext = {
  nowMicros: '0',
  timeZone: 'UTC',
  currentUser: 'u',
  currentCatalog: 'c',
  currentSchema: 's',
};

beforeAll(async () => {
  session = await PlannerSession.open(2 ** 28);
});

const bounds = async (expression: string): Promise<readonly string[]> =>
  (
    await session.parse({
      sql: `SELECT ${expression} FROM range(3) t(i), (SELECT 'x' AS a, 'y' AS b, [1] AS l, TIMESTAMP '2020-01-01' AS s)`,
      defaults: { catalog: 'c', schema: 's' },
      context,
    })
  ).bounds;

test.each([
  ["a LIKE '%x%y%z%'", []],
  ["a NOT LIKE 'x%'", []],
  ["a ILIKE '%x%'", []],
  ["a SIMILAR TO 'x.*'", []],
  ["a LIKE '%x_y%' ESCAPE '$'", []],
  ["lpad(a, 20, '0')", []],
  ["s AT TIME ZONE 'Europe/Berlin'", []],
  ['range(1, 10, 2)', []],
  ['lower(a)', []],
  ["date_trunc('month', s)", []],
  ["MAP {'a': i, 'b': i}", []],
  ['MAP([i], [a])', []],
])('a call whose arguments say that it is cheap runs as it stands: %s', async (expression, expected) => {
  expect(await bounds(expression)).toEqual(expected);
});

test.each([
  ['a LIKE b', ['like']],
  ["a LIKE '%x%y%z_'", ['like']],
  ["a ILIKE '%x%y%z%'", ['like']],
  ["a GLOB '*x*y*z*'", ['like']],
  ['list_filter([a], lambda x: x NOT ILIKE b)', ['like']],
  ["regexp_matches(a, '(x?){0,900}')", ['regexp']],
  ['a ~ b', ['regexp']],
  ['l && l', ['lists']],
  ['MAP(l, l)', ['map']],
  ['levenshtein(a, b) + damerau_levenshtein(a, b)', ['distance']],
  ['rpad(a, i::INT, b)', ['pad']],
  ['s AT TIME ZONE b', ['zone']],
  ['range(s, s, INTERVAL 1 DAY)', ['series']],
  ['json_structure(a), regexp_extract_all(a, b)', ['json', 'split']],
  ["regexp_split_to_array(a, b), regexp_split_to_array(a, b, 'i')", ['split']],
  ["regexp_extract_all(a, b, 0, 'i')", ['split']],
  ['json_merge_patch(a, a, a, a)', ['json']],
  ['CASE WHEN i = 7 THEN error(a) END', ['raise']],
])('any other is bounded: %s', async (expression, expected) => {
  expect(await bounds(expression)).toEqual(expected);
});

test('a function of any number of arguments takes as many as its bounded form', async () => {
  const call = (count: number): string => `json_merge_patch(${Array.from({ length: count }, () => 'a').join(', ')})`;
  expect(await bounds(call(8))).toEqual(['json']);
  await expect(bounds(call(9))).rejects.toMatchObject({
    code: 'NOT_SUPPORTED',
    message: 'json_merge_patch takes up to 8 arguments',
  });
});

test('a function that is bounded is not reached through a schema that has no bounds', async () => {
  await expect(bounds('pg_catalog.levenshtein(a, b)')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
});
