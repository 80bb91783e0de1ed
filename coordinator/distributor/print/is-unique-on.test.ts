import { expect, test } from 'vitest';
import type { Plan } from '../../plan/plan.ts';
import { isUniqueOn } from './is-unique-on.ts';

const INTEGER = { kind: 'scalar', name: 'INTEGER' } as const;
const column = (index: number) => ({ kind: 'column', index, name: '', type: INTEGER }) as const;
const scan: Plan = {
  kind: 'scan',
  scan: 0,
  columns: [
    { index: 0, name: 'a', type: INTEGER },
    { index: 1, name: 'b', type: INTEGER },
  ],
};
const grouped = (groups: number, sets: readonly (readonly number[])[] = []): Plan => ({
  kind: 'aggregate',
  child: scan,
  groups: Array.from({ length: groups }, (_, i) => column(i)),
  sets,
  aggregates: [],
  groupings: [],
});
const swapped = (child: Plan): Plan => ({
  kind: 'project',
  child,
  expressions: [1, 0].map((index) => ({ name: '', expression: column(index) })),
});

test.each<[name: string, plan: Plan, keys: number[], unique: boolean]>([
  ['a table', scan, [0, 1], false],
  ['an aggregate by its groups', grouped(1), [0], true],
  ['by more than its groups', grouped(1), [0, 1], true],
  ['by some of its groups', grouped(2), [0], false],
  ['an aggregate of everything', grouped(0), [], true],
  ['grouping sets', grouped(1, [[0], []]), [0], false],
  ['below a projection', swapped(grouped(2)), [0, 1], true],
  ['below a projection, of another column', swapped(grouped(1)), [0], false],
  ['below a projection, of that column', swapped(grouped(1)), [1], true],
  ['one row', { kind: 'limit', child: scan, limit: { kind: 'rows', rows: 1 }, offset: { kind: 'none' } }, [], true],
  ['a filter', { kind: 'filter', child: grouped(1), conditions: [], projection: [0] }, [0], true],
  [
    'distinct rows',
    { kind: 'distinct', child: scan, on: [column(0), column(1)], orders: [], isOn: false },
    [0, 1],
    true,
  ],
  ['DISTINCT ON', { kind: 'distinct', child: scan, on: [column(0)], orders: [], isOn: true }, [0], false],
])('%s', (_name, plan, keys, unique) => {
  expect(isUniqueOn(plan, new Set(keys))).toBe(unique);
});
