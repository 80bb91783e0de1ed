import { beforeAll, expect, test } from 'vitest';
import { scriptedPlans, type ScriptedPlans } from '#test/support/scripted/plans.ts';
import { sideConditions } from './side-conditions.ts';

let plans: ScriptedPlans;
beforeAll(async () => {
  plans = await scriptedPlans();
});

/** The plan after the pass, printed, and whether the pass changed it. */
async function narrowed(sql: string): Promise<{ readonly text: string; readonly isNew: boolean }> {
  const { plan } = await plans.planOf(sql);
  const made = sideConditions(plan);
  return { text: plans.print(made), isNew: plans.print(plan) !== plans.print(made) };
}

/** The conditions of the filters directly above scans. */
const overScans = (text: string): string[] =>
  [...text.matchAll(/Filter\n +(\(.*\))\n +└─ Scan/g)].map(([, condition]) => condition ?? '').toSorted();

test('the pair', async () => {
  const { text } = await narrowed(
    'SELECT big.v FROM big JOIN small ON big.k = small.k WHERE (g = 1 AND name < 3::text) OR (g = 5 AND v > 7 AND name = 4::text)',
  );
  expect(text).toMatchInlineSnapshot(`
    "Project
           v
       └─ Filter
          └─ Filter
                 (((g = 1) AND (name < '3')) OR ((g = 5) AND (v > 7) AND (name = '4')))
             └─ Join INNER
                    k = k
                └─ Filter
                       ((g = 1) OR ((g = 5) AND (v > 7)))
                   └─ Scan 0
                └─ Filter
                       ((name < '3') OR (name = '4'))
                   └─ Scan 1"
  `);
});

test('through a join to the side of a side', async () => {
  const { text } = await narrowed(`SELECT h.v FROM huge h JOIN big b ON h.big_id = b.id JOIN small s ON s.k = b.k
    WHERE (h.v = 1 AND b.g = 2 AND s.name = 'a') OR (h.v = 3 AND b.g = 4 AND s.name = 'b')`);
  expect(overScans(text)).toEqual(['((g = 2) OR (g = 4))', "((name = 'a') OR (name = 'b'))", '((v = 1) OR (v = 3))']);
});

test('a stronger condition replaces the one that DuckDB has derived', async () => {
  const sql = `SELECT h.v FROM huge h JOIN big b ON h.big_id = b.id
    WHERE (h.k = 1 AND b.g = 2 AND b.id < 5) OR (h.k = 3 AND b.g = 4 AND b.id > 5) OR (h.k > 990 AND b.g = 7 AND b.v > b.id)`;
  const { plan } = await plans.planOf(sql);
  expect(overScans(plans.print(plan))).toContain('((k = 1) OR (k = 3) OR (k > 990))');
  expect(overScans((await narrowed(sql)).text)).toContain(
    '(((k = 1) AND (id < 5)) OR ((k = 3) AND (id > 5)) OR (k > 990))',
  );
});

test.each([
  ['left', 'big b LEFT JOIN small s', ['((g IS NULL) OR (g > 5))']],
  ['right', 'big b RIGHT JOIN small s', ["((name IS NULL) OR (name > 'x'))"]],
  ['full', 'big b FULL JOIN small s', []],
])('of an outer join the side that is not filled: %s', async (_type, from, expected) => {
  // True of some rows that are filled with NULLs, so the join stays an outer one.
  const { text } = await narrowed(`SELECT count(*) FROM ${from} ON b.k = s.k
    WHERE (b.g IS NULL AND s.name IS NULL) OR (b.g > 5 AND s.name > 'x')`);
  expect(overScans(text)).toEqual(expected);
});

test.each([
  ['an alternative that says nothing of a side', "(b.g = 1 AND s.name = 'a') OR (b.v > b.id AND s.k > b.v)"],
  ['what may fail', '(CAST(s.name AS INT) = 1 AND b.v + 1 = 3) OR (CAST(s.name AS INT) = 2 AND b.v + 1 = 5)'],
  ['no alternatives', "b.g = 1 AND s.name = 'a'"],
])('does not fire for %s', async (_name, where) => {
  expect((await narrowed(`SELECT b.v FROM big b JOIN small s ON b.k = s.k WHERE ${where}`)).isNew).toBe(false);
});
