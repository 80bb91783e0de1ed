import { expect, test } from 'vitest';
import type { ScanFacts, StageFacts } from '../distributor/fragment.ts';
import type { Expression } from '../planner/expression.ts';
import type { JoinPlan, Plan } from '../planner/plan.ts';
import { findDynamicFilters, isSelective, keysFragment, parseKeys, withKeys } from './dynamic-filter.ts';

const BIGINT = { kind: 'scalar', name: 'BIGINT' } as const;
const column = (index: number): Expression => ({ kind: 'column', index, name: `x${index}`, type: BIGINT });
const columns = [0, 1].map((index) => ({ index: index + 3, name: `x${index}`, type: BIGINT }));
const scan: Plan = { kind: 'scan', scan: 0, columns };
const stage: Plan = { kind: 'stage', stage: 7, read: 'partition', columns: [{ index: 2, name: 'k', type: BIGINT }] };
const hashed = (child: Plan): Plan => ({
  kind: 'exchange',
  child,
  to: { kind: 'hash', keys: [], spreadNulls: false },
  stage: 9,
  partitions: 2,
  reason: '',
});
const join = (changes: Partial<JoinPlan> = {}): JoinPlan => ({
  kind: 'join',
  type: 'inner',
  left: hashed(scan),
  right: stage,
  conditions: [{ op: 'eq', left: column(1), right: column(0) }],
  residual: null,
  asof: false,
  distribution: 'partitioned',
  delim: null,
  delimFlipped: false,
  leftProjection: null,
  rightProjection: null,
  ...changes,
});
const facts = (rows: number): ScanFacts => ({
  rows,
  bytes: rows,
  files: 1,
  columns: [3, 4].map(() => ({ distinctMax: 1_000_000, nulls: 0, lower: 0, upper: 999_999 })),
});
const ran = (rows: number): ReadonlyMap<number, StageFacts> =>
  new Map([[7, { rows, bytes: rows, output: { kind: 'gather' }, partitions: [], tasks: 1 }]]);
const find = (plan: Plan, probe = 2_000_000, build = 100) => findDynamicFilters(plan, [facts(probe)], ran(build));

test('the scan below an exchange is narrowed by the stage that it is joined with', () => {
  expect(find(join())).toEqual([{ stage: 7, column: 2, scan: 0, position: 1 }]);
  const filtered: Plan = { kind: 'filter', child: scan, conditions: [], projection: [1] };
  const below = join({ left: hashed(filtered), conditions: [{ op: 'eq', left: column(0), right: column(0) }] });
  expect(find(below)).toEqual([{ stage: 7, column: 2, scan: 0, position: 1 }]);
  const flipped = join({
    left: stage,
    right: hashed(scan),
    conditions: [{ op: 'eq', left: column(0), right: column(1) }],
  });
  expect(find({ ...flipped, type: 'left' })).toHaveLength(1);
});

test('it does not fire for a small scan, a big build side, a broadcast join, or rows that must come anyway', () => {
  expect(find(join(), 1_000)).toEqual([]);
  expect(find(join(), 2_000_000, 1_500_000)).toEqual([]);
  expect(find(join({ left: scan }))).toEqual([]);
  for (const type of ['left', 'full', 'anti', 'mark', 'single'] as const) expect(find(join({ type }))).toEqual([]);
  expect(find(join({ conditions: [{ op: 'notDistinct', left: column(1), right: column(0) }] }))).toEqual([]);
  const computed: Expression = { kind: 'cast', child: column(1), type: BIGINT, tryCast: false };
  expect(find(join({ conditions: [{ op: 'eq', left: computed, right: column(0) }] }))).toEqual([]);
  const limited: Plan = {
    kind: 'limit',
    child: scan,
    limit: { kind: 'rows', rows: 5 },
    offset: { kind: 'none' },
  };
  expect(find(join({ left: hashed(limited) }))).toEqual([]);
});

test('a scan that two readers share is not narrowed for one of them', () => {
  expect(find({ kind: 'cross', left: join(), right: scan })).toEqual([]);
});

test('the keys come as one row of JSON, and big ones are kept exactly', () => {
  const build = { stage: 7, fields: [] } as never;
  expect(JSON.stringify(keysFragment(9, build, [2], 10).sql)).toContain('min(c2)');
  expect(JSON.stringify(keysFragment(9, build, [2], 4_000_000).sql)).not.toContain('DISTINCT');
  expect(
    parseKeys(',[["1","9223372036854775807",["9223372036854775807","1"]],[null,null,null],["2","3",null]]'),
  ).toEqual([
    { min: 1n, max: 9_223_372_036_854_775_807n, values: [1n, 9_223_372_036_854_775_807n] },
    null,
    { min: 2n, max: 3n, values: null },
  ]);
});

test('keys that cover what the column holds are no gain', () => {
  const known = facts(1).columns[0];
  expect(isSelective({ min: 0n, max: 999_999n, values: null }, known)).toBe(false);
  expect(isSelective({ min: 0n, max: 99_999n, values: null }, known)).toBe(true);
  expect(isSelective({ min: 0n, max: 999_999n, values: [0n, 999_999n] }, known)).toBe(true);
  expect(isSelective({ min: 0n, max: 1n, values: null }, undefined)).toBe(false);
});

test('the conditions stand right over the scan', () => {
  const [filter] = find(join());
  if (filter === undefined) throw new Error('no filter');
  const narrowed = withKeys(join({ left: scan }), filter, { min: 1n, max: 2n, values: null });
  expect(narrowed).toMatchObject({
    left: {
      kind: 'filter',
      child: scan,
      conditions: [
        { op: 'ge', left: { index: 1 }, right: { value: 1 } },
        { op: 'le', left: { index: 1 }, right: { value: 2 } },
      ],
    },
  });
  expect(withKeys(scan, filter, { min: 1n, max: 2n, values: [1n, 2n] })).toMatchObject({
    conditions: [{ kind: 'in', list: [{ value: 1 }, { value: 2 }] }],
  });
});
