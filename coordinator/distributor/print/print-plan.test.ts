import { describe, expect, test } from 'vitest';
import type { Plan } from '../../plan/plan.ts';
import { printPlan } from './print-plan.ts';

const INTEGER = { kind: 'scalar', name: 'INTEGER' } as const;
const scan: Extract<Plan, { kind: 'scan' }> = {
  kind: 'scan',
  scan: 3,
  columns: [
    { index: 1, name: 'a"b', type: INTEGER },
    { index: 0, name: 'select', type: INTEGER },
  ],
};
const stage: Plan = { kind: 'stage', stage: 7, read: 'all', columns: [{ index: 1, name: 'x', type: INTEGER }] };
const column = (index: number) => ({ kind: 'column', index, name: '', type: INTEGER }) as const;
const leaves = { scan: () => 0, stage: () => 1 };

describe('leaves', () => {
  test('a scan has its binding’s names, a stage numbers; an exchange is its child', () => {
    const plan: Plan = {
      kind: 'join',
      type: 'inner',
      left: { kind: 'exchange', child: scan, to: { kind: 'broadcast' }, stage: 1, partitions: 1, reason: '' },
      right: stage,
      conditions: [{ op: 'eq', left: column(1), right: column(0) }],
      residual: null,
      asof: false,
      distribution: null,
      delim: null,
      delimFlipped: false,
      leftProjection: [0],
      rightProjection: null,
    };
    expect(printPlan(plan, leaves)).toEqual([
      'SELECT t1."a""b" AS c0, t2.c1 AS c1 FROM ',
      { scan: 0 },
      ' AS t1 INNER JOIN ',
      { input: 1 },
      ' AS t2 ON (t1."select" = t2.c1)',
    ]);
  });
});

describe('partitions', () => {
  const print = (spreadNulls: boolean) =>
    printPlan(scan, leaves, { partition: { keys: [column(1)], count: 4, spreadNulls } }).at(0);
  test('by the hash of the keys', () => {
    expect(print(false)).toBe(
      'SELECT t1."a""b" AS c0, t1."select" AS c1, CAST(((hash(t1."select")) >> 32) % 4 AS UINTEGER) AS c2 FROM ',
    );
  });
  test('a row with a NULL key by all of its columns', () => {
    expect(print(true)).toContain(
      'CAST(((CASE WHEN t1."select" IS NULL THEN hash(t1."a""b", t1."select") ELSE hash(t1."select") END) >> 32) % 4 AS UINTEGER)',
    );
  });
});

test('a plan that SQL cannot express is not printed', () => {
  expect(() => printPlan({ kind: 'delimScan', columns: [] }, leaves)).toThrow('not printable: correlation columns');
});

test('a plan that is too deep is refused, not a stack that overflows', () => {
  let plan: Plan = scan;
  for (let i = 0; i < 100_000; i += 1)
    plan = { kind: 'limit', child: plan, limit: { kind: 'rows', rows: 1 }, offset: { kind: 'none' } };
  expect(() => printPlan(plan, leaves)).toThrow('not printable: it is nested too deeply');
});
