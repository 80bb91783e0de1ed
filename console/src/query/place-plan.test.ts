import { expect, test } from 'vitest';
import { placePlan, planOfExplain, type ShownNode } from './place-plan.ts';

const node = (name: string, ...children: readonly ShownNode[]): ShownNode => ({ name, details: [], children });

test('each operator has a place, and what lies below a folded one is counted', () => {
  const plan = node('a', node('b', node('c'), node('d')), node('e'));
  expect(placePlan(plan, new Set()).map(({ id, parent }) => [id, parent])).toEqual([
    ['0', null],
    ['0.0', '0'],
    ['0.0.0', '0.0'],
    ['0.0.1', '0.0'],
    ['0.1', '0'],
  ]);
  expect(placePlan(plan, new Set(['0.0'])).map(({ node: { name }, folded }) => [name, folded])).toEqual([
    ['a', 0],
    ['b', 2],
    ['e', 0],
  ]);
});

test('an answer of EXPLAIN without a plan, or another text, has none', () => {
  expect(
    planOfExplain(JSON.stringify({ plan: node('a'), workload_class: 'medium', class_reasons: ['1 join'] })),
  ).toEqual({ plan: node('a'), about: 'Class medium: 1 join' });
  expect(['{"plan":null}', '{"plan":7}', 'Scan', ''].map(planOfExplain)).toEqual([null, null, null, null]);
});
