import { beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { endEmpty } from './end-empty.ts';
import { firstRanks } from '../place/first-ranks.ts';
import { joinConditions } from './join-conditions.ts';
import { inlineCtes } from './inline-ctes.ts';
import { pruneColumns } from './prune-columns.ts';
import { runPasses } from './run-passes.ts';
import { scriptedPlans, type ScriptedPlans } from '#test/support/scripted/plans.ts';
import { SHAPE_PASSES } from './shape-plan.ts';
import { splitWindows } from './split-windows.ts';
import type { Expression } from '../../plan/expression.ts';
import { walkPlan } from '../../plan/plan-tree.ts';
import type { Plan } from '../../plan/plan.ts';

let plans: ScriptedPlans;
beforeAll(async () => {
  plans = await scriptedPlans();
});

const after = async (
  sql: string,
  pass: (plan: Plan) => Plan,
): Promise<{ readonly plan: Plan; readonly made: Plan }> => {
  const { plan } = await plans.planOf(sql);
  return { plan, made: pass(plan) };
};

describe('inlineCtes', () => {
  test('a common table expression that one scan reads is inlined', async () => {
    const sql = 'WITH c AS MATERIALIZED (SELECT k FROM small) SELECT * FROM c WHERE k > 3';
    const { plan, made } = await after(sql, inlineCtes);
    expect(plans.print(plan)).toMatchInlineSnapshot(`
      "Cte c (0)
         └─ Project
                k
            └─ Filter
                   (k > 3)
               └─ Scan 0
         └─ Project
                k
            └─ Filter
                   (k > 3)
               └─ CteScan (0)"
    `);
    expect(plans.print(made)).toMatchInlineSnapshot(`
      "Project
             k
         └─ Filter
                (k > 3)
            └─ Project
                   k
               └─ Filter
                      (k > 3)
                  └─ Scan 0"
    `);
  });

  test('does not fire for what two read', async () => {
    const sql = 'WITH c AS MATERIALIZED (SELECT k FROM small) SELECT * FROM c a JOIN c b ON a.k = b.k + 1';
    const { plan, made } = await after(sql, inlineCtes);
    expect(made).toBe(plan);
  });
});

describe('splitWindows', () => {
  test('windows by other keys', async () => {
    const sql = 'SELECT id, sum(v) OVER (PARTITION BY k), max(v) OVER (PARTITION BY g) FROM big';
    const { plan, made } = await after(sql, splitWindows);
    expect(plans.print(plan)).toMatchInlineSnapshot(`
      "Project
             id, #4, #5
         └─ Window
                sum(v) OVER (PARTITION BY k)
                max(v) OVER (PARTITION BY g)
            └─ Scan 0"
    `);
    expect(plans.print(made)).toMatchInlineSnapshot(`
      "Project
             id, #4, #5
         └─ Project
                id, v, k, g, sum, max
            └─ Window
                   max(v) OVER (PARTITION BY g)
               └─ Window
                      sum(v) OVER (PARTITION BY k)
                  └─ Scan 0"
    `);
  });

  test.each([
    'SELECT sum(v) OVER (PARTITION BY k, g), max(v) OVER (PARTITION BY g) FROM big',
    'SELECT sum(v) OVER (PARTITION BY k), max(v) OVER (ORDER BY g) FROM big',
    'SELECT sum(v) OVER (PARTITION BY k), max(v) OVER (PARTITION BY k ORDER BY v) FROM big',
  ])('does not fire: %s', async (sql) => {
    const { plan, made } = await after(sql, splitWindows);
    expect(made).toBe(plan);
  });
});

describe('pruneColumns', () => {
  test('keys and conditions go when they have done their work', async () => {
    const sql = 'SELECT s.name FROM big b JOIN small s ON b.k = s.k WHERE b.v > 3';
    const { plan, made } = await after(sql, pruneColumns);
    const width = (of: typeof plan): readonly (readonly [string, number])[] =>
      [...walkPlan(of)].flatMap((node) =>
        node.kind === 'join' ? [['join', node.leftProjection?.length ?? -1] as const] : [],
      );
    expect(width(plan)).toEqual([['join', -1]]);
    expect(width(made)).toEqual([['join', 0]]);
    expect(plans.print(made)).toMatchInlineSnapshot(`
      "Project
             name
         └─ Join INNER
                k = k
            └─ Filter
                   (v > 3)
               └─ Scan 0
            └─ Scan 1"
    `);
  });

  test('does not fire where every column is read', async () => {
    const { plan, made } = await after('SELECT k, name FROM small WHERE k > 3', pruneColumns);
    expect(made).toEqual(plan);
  });

  test('count(*) reads the column that is none', async () => {
    const { made } = await after('SELECT count(*) FROM big, small', pruneColumns);
    const scans = [...walkPlan(made)].flatMap((node) =>
      node.kind === 'scan' ? [node.columns.map(({ index }) => index)] : [],
    );
    expect(scans).toEqual([[-1], [-1]]);
  });
});

describe('joinConditions', () => {
  test('an equality within the condition of an outer join', async () => {
    const sql = 'SELECT b.v, h.v FROM big b FULL JOIN huge h ON b.id = h.big_id AND h.v > b.v + 3';
    const { plan, made } = await after(sql, joinConditions);
    expect(plans.print(plan)).toMatchInlineSnapshot(`
      "Project
             v, v
         └─ Join FULL
                id = big_id
                (v + 3) < v
            └─ Scan 0
            └─ Scan 1"
    `);
    expect(plans.print(made)).toMatchInlineSnapshot(`
      "Project
             v, v
         └─ Join FULL
                id = big_id
                (v + 3) < v
            └─ Scan 0
            └─ Scan 1"
    `);
  });

  test.each([
    'SELECT b.v, h.v FROM big b FULL JOIN huge h ON b.id = h.big_id OR h.v > 3',
    'SELECT b.v, h.v FROM big b FULL JOIN huge h ON b.id + h.id = h.big_id AND h.v > 3',
  ])('does not fire: %s', async (sql) => {
    const { plan, made } = await after(sql, joinConditions);
    expect(made).toBe(plan);
  });
});

describe('endEmpty', () => {
  test('a join that needs the rows ends, a union goes on', async () => {
    const sql = 'SELECT b.v FROM big b JOIN small s ON b.k = s.k UNION ALL SELECT k FROM small';
    const { plan } = await plans.planOf(sql);
    const made = endEmpty(plan, (leaf) => leaf.kind === 'scan' && leaf.scan === 0);
    expect(plans.print(plan)).toMatchInlineSnapshot(`
      "UnionAll
         └─ Project
                v
            └─ Join INNER
                   k = k
               └─ Scan 0
               └─ Scan 1
         └─ Project
                CAST(k AS BIGINT) AS k
            └─ Scan 2"
    `);
    expect(plans.print(made)).toMatchInlineSnapshot(`
      "Project
             CAST(k AS BIGINT) AS k
         └─ Scan 2"
    `);
  });

  test.each([
    'SELECT count(*) FROM small',
    'SELECT k, count(*) FROM small GROUP BY ROLLUP (k)',
    'SELECT * FROM big b LEFT JOIN small s ON b.k = s.k',
    'SELECT * FROM big b WHERE k NOT IN (SELECT k FROM small)',
  ])('does not end: %s', async (sql) => {
    const { plan, scans } = await plans.planOf(sql);
    const small = scans.findIndex(({ tableName }) => tableName.endsWith('small'));
    const made = endEmpty(plan, (leaf) => leaf.kind === 'scan' && leaf.scan === small);
    expect(made.kind).not.toBe('empty');
    expect(endEmpty(plan, () => false)).toBe(plan);
  });
});

describe('firstRanks', () => {
  const found = async (sql: string): Promise<boolean> => {
    const { plan } = await plans.planOf(sql);
    return [...walkPlan(plan)].some((node) => node.kind === 'filter' && firstRanks(node) !== null);
  };

  test('the first ranks of a partition', async () => {
    expect(await found('SELECT id FROM big QUALIFY rank() OVER (PARTITION BY k ORDER BY v) <= 3')).toBe(true);
  });

  test.each([
    'SELECT id FROM big QUALIFY rank() OVER (PARTITION BY k ORDER BY v) > 3',
    'SELECT id, sum(v) OVER (PARTITION BY k) FROM big QUALIFY rank() OVER (PARTITION BY k ORDER BY v) <= 3',
    'SELECT id FROM big QUALIFY sum(v) OVER (PARTITION BY k ORDER BY v) <= 3',
  ])('does not fire: %s', async (sql) => {
    expect(await found(sql)).toBe(false);
  });
});

describe('runPasses', () => {
  test('tells each pass with its time, leaves out what is disabled, stops when asked', async () => {
    const { plan } = await plans.planOf('SELECT k FROM small');
    const seen: string[] = [];
    runPasses(SHAPE_PASSES, plan, { disabled: new Set(['splitWindows']), onPass: (name) => seen.push(name) });
    expect(seen).toEqual(SHAPE_PASSES.map(({ name }) => name).filter((name) => name !== 'splitWindows'));
    expect(() => runPasses(SHAPE_PASSES, plan, { signal: AbortSignal.abort(new Error('stop')) })).toThrow('stop');
  });

  test('a pass that breaks the plan is named', async () => {
    const { plan } = await plans.planOf('SELECT k, name FROM small');
    const bad = { name: 'bad', reason: '', run: () => must([...walkPlan(plan)].at(-1), 'a leaf') };
    const narrower = { ...bad, run: () => ({ kind: 'oneRow' }) as const };
    expect(() => runPasses([narrower], plan, {})).toThrow('after bad the columns are INTEGER, not INTEGER,VARCHAR');
    const column = (index: number, name: string): Expression => ({
      kind: 'column',
      index,
      name: '',
      type: { kind: 'scalar', name },
    });
    const expressions = [column(1, 'INTEGER'), column(2, 'VARCHAR')].map((expression) => ({ name: '', expression }));
    const lost = { ...bad, run: (): Plan => ({ kind: 'project', child: { kind: 'oneRow' }, expressions }) };
    expect(() => runPasses([lost], plan, {})).toThrow('after bad column 1 of 1 is read');
  });
});
