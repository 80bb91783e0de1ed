import { expect, test } from 'vitest';
import { machineSlowness } from '#test/support/run/machine-speed.ts';
import { anyLists, mayHaveLists } from './any-lists.ts';

test.each([
  ['SELECT * FROM t WHERE id = ANY($1)', 'SELECT * FROM t WHERE list_contains($1, id)', [0]],
  ['DELETE FROM t WHERE t."Id"=any ($2) AND b=$1', 'DELETE FROM t WHERE list_contains($2, t."Id") AND b=$1', [1]],
  ['SELECT 1 WHERE NOT lower(a) <> ALL($1)', 'SELECT 1 WHERE NOT list_contains($1, lower(a))', [0]],
  [
    'SELECT a::date >= SOME($1), (b+1) = ANY($2)',
    'SELECT list_contains($1, a::date), list_contains($2, (b+1))',
    [0, 1],
  ],
])('%s', (sql, written, numbers) => {
  const found = anyLists(sql);
  expect([found?.sql.replaceAll(/ +(?=[ ,)])/g, ''), found?.numbers]).toEqual([
    written.replaceAll(/ +(?=[ ,)])/g, ''),
    numbers,
  ]);
});

test.each([
  'SELECT id = ANY($1::int[])',
  "SELECT 'id = ANY($1)'",
  'SELECT CASE WHEN a THEN 1 END = ANY($1)',
  'SELECT any($1)',
  'SELECT id = ANY($1, $2)',
  "SELECT id = ANY($1) || 'never ends",
])('nothing is looked for in %s', (sql) => {
  expect(anyLists(sql)).toBeUndefined();
});

test('a long list of comparisons is read in linear time', () => {
  const sql = `SELECT 1 WHERE ${Array.from({ length: 6_000 }, (_, i) => `a = ANY($${i + 1})`).join(' OR ')}`;
  const begunMs = performance.now();
  expect(anyLists(sql)?.numbers).toHaveLength(6_000);
  expect(performance.now() - begunMs).toBeLessThan(2_000 * machineSlowness());
});

test.each(['a[1].', 'f(1).'])('a value of 20,000 members is one value: %s', (member) => {
  const sql = `SELECT ${member.repeat(20_000)}b = ANY($1)`;
  expect(mayHaveLists(sql)).toBe(true);
  expect(anyLists(sql)?.numbers).toEqual([0]);
});
