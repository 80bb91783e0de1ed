import { expect, test } from 'vitest';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { Fragment } from '../distributor/fragment.ts';
import type { Plan } from '../plan/plan.ts';
import type { StageReport } from '../scheduler/stage-report.ts';
import { planTreeOf } from './plan-tree-of.ts';

const ONE: Plan = { kind: 'oneRow' };
const limited = (child: Plan, rows: number): Plan => ({
  kind: 'limit',
  child,
  limit: { kind: 'rows', rows },
  offset: { kind: 'none' },
});
const query = (plan: Plan | null): PreparedQuery => ({ plan, scans: [] }) as unknown as PreparedQuery;
const stage = (number: number, plan: Plan, more: Partial<Fragment> = {}): StageReport => {
  const fragment = { stage: number, plan, output: { kind: 'gather' }, scans: [], estimate: { rows: 7.4 }, ...more };
  return { fragment, scans: [], tasks: [] } as unknown as StageReport;
};
const reading = (number: number): Plan => ({ kind: 'stage', stage: number, read: 'all', columns: [] });

test('a query whose stages have begun is the tree of its stages, each with its number and the rows that it was expected to give', () => {
  const stages = [stage(1, ONE), stage(2, limited(reading(1), 5), { output: null })];
  expect(planTreeOf(query(ONE), stages, false)).toEqual({
    name: 'Limit 5',
    details: [],
    stage: 2,
    estimates: { rows: 7 },
    children: [
      {
        name: 'Stage 1 (all)',
        details: [],
        stage: 2,
        children: [{ name: 'OneRow', details: [], stage: 1, estimates: { rows: 7 }, children: [] }],
      },
    ],
  });
});

test('before that, and for one that runs whole, it is the plan as it was planned; values are hidden where `plan` hides them', () => {
  const plan = limited(ONE, 123);
  expect(planTreeOf(query(plan), [stage(1, ONE)], false)).toMatchObject({ name: 'Limit 123', stage: null });
  expect(JSON.stringify(planTreeOf(query(plan), [], true))).not.toContain('123');
  expect(planTreeOf(query(null), [], false)).toBeNull();
});

test('what a policy does is not told', () => {
  const policed = stage(1, limited(ONE, 4_711), { policed: { seesPolicies: true } });
  const tree = planTreeOf(query(ONE), [policed, stage(2, reading(1), { output: null })], false);
  expect(JSON.stringify(tree)).toContain('Policies applied');
  expect(JSON.stringify(tree)).not.toContain('4711');
});

test('a plan of thousands of nodes is cut to 500, and says what was left out', () => {
  const wide: Plan = {
    kind: 'union',
    all: true,
    columns: [],
    children: Array.from({ length: 2_000 }, () => ONE),
  } as unknown as Plan;
  const tree = planTreeOf(query(wide), [], false);
  expect([tree?.children.length, tree?.omitted]).toEqual([499, 1_501]);
});
