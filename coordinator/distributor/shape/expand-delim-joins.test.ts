import { expect, test } from 'vitest';
import type { JoinPlan, Plan } from '../../plan/plan.ts';
import { walkPlan } from '../../plan/plan-tree.ts';
import { expandDelimJoins } from './expand-delim-joins.ts';

const INTEGER = { kind: 'scalar', name: 'INTEGER' } as const;
const columns = [
  { index: 0, name: 'a', type: INTEGER },
  { index: 1, name: 'b', type: INTEGER },
];
const column = (index: number) => ({ kind: 'column', index, name: '', type: INTEGER }) as const;
const scan = (number: number): Plan => ({ kind: 'scan', scan: number, columns });
const delimScan: Plan = { kind: 'delimScan', columns: columns.slice(0, 1) };
const join = (left: Plan, right: Plan, more: Partial<JoinPlan> = {}): JoinPlan => ({
  kind: 'join',
  type: 'single',
  left,
  right,
  conditions: [{ op: 'notDistinct', left: column(1), right: column(0) }],
  residual: null,
  asof: false,
  distribution: null,
  delim: null,
  delimFlipped: false,
  leftProjection: null,
  rightProjection: null,
  ...more,
});
const cross = (left: Plan, right: Plan): Plan => ({ kind: 'cross', left, right });
const cteScan = (index: number): Plan => ({ kind: 'cteScan', index, columns });
const distinctOf = (index: number): Plan => ({
  kind: 'aggregate',
  child: cteScan(index),
  groups: [column(1)],
  sets: [],
  aggregates: [],
  groupings: [],
});
const delim = [column(1)];

test('the side with the columns becomes a definition, its distinct columns stand for the scans', () => {
  expect(expandDelimJoins(join(scan(0), cross(delimScan, scan(1)), { delim }))).toEqual({
    kind: 'cte',
    index: 0,
    name: 'delim0',
    definition: scan(0),
    body: join(cteScan(0), cross(distinctOf(0), scan(1))),
  });
});

test('flipped, the right side has the columns', () => {
  expect(expandDelimJoins(join(delimScan, scan(0), { delim, delimFlipped: true }))).toMatchObject({
    definition: scan(0),
    body: join(distinctOf(0), cteScan(0)),
  });
});

test('one in another: each scan is that of the join right above it', () => {
  const inner = join(cross(delimScan, scan(1)), cross(delimScan, scan(2)), { delim });
  const expanded = expandDelimJoins(join(scan(0), inner, { delim }));
  expect(expanded).toMatchObject({
    index: 0,
    definition: scan(0),
    body: {
      left: cteScan(0),
      right: {
        kind: 'cte',
        index: 1,
        definition: cross(distinctOf(0), scan(1)),
        body: { right: cross({ kind: 'aggregate', child: { kind: 'cteScan', index: 1 } } as unknown as Plan, scan(2)) },
      },
    },
  });
  expect([...walkPlan(expanded)].some((node) => node.kind === 'delimScan')).toBe(false);
});

test('its number is free in the plan', () => {
  const plan: Plan = {
    kind: 'cte',
    index: 7,
    name: 'x',
    definition: scan(3),
    body: join(scan(0), delimScan, { delim }),
  };
  expect(expandDelimJoins(plan)).toMatchObject({ index: 7, body: { kind: 'cte', index: 8 } });
});

test('a plan without them stays the same', () => {
  const plan = join(scan(0), scan(1));
  expect(expandDelimJoins(plan)).toBe(plan);
});
