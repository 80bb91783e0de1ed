import { expect, test } from 'vitest';
import type { Plan } from '../../plan/plan.ts';
import { distribute } from '../distribute.ts';
import type { AggregatePlan } from './split-aggregate.ts';

const BIGINT = { kind: 'scalar', name: 'BIGINT' } as const;
const column = (index: number, name: string) => ({ kind: 'column', index, name, type: BIGINT }) as const;
const SLOTS = 8;

/** The exchanges of a plan that groups a table by its first column, which has `groups` distinct values; its second has `values`. */
function exchanged(
  groups: number,
  aggregates: AggregatePlan['aggregates'] = [],
  { values = 10, slots = SLOTS }: { readonly values?: number; readonly slots?: number } = {},
): unknown {
  const scan: Plan = {
    kind: 'scan',
    scan: 0,
    columns: ['g', 'v'].map((name, index) => ({ index, name, type: BIGINT })),
  };
  const facts = (distinctMax: number) => ({ distinctMax, nulls: 0, lower: 0, upper: distinctMax - 1, widthBytes: 8 });
  const made = distribute(
    { kind: 'aggregate', child: scan, groups: [column(0, 'g')], sets: [[0]], aggregates, groupings: [] },
    {
      scans: [{ rows: 1e9, bytes: 8e9, files: 100, columns: [facts(groups), facts(values)] }],
      stages: new Map(),
      cluster: { workers: ['a', 'b'].map((id) => ({ slots: slots / 2, machine: { id, cores: slots / 2 } })) },
      settings: { distribution: 'auto', joinDistribution: 'auto', partitions: null, stageWidth: 1 },
      nextStage: 0,
    },
  );
  if (made.kind === 'whole') throw new Error(made.reason);
  const [first] = made.fragments;
  return [first?.output?.kind, first?.partitions];
}

test('few groups come together in one task, more in one of each slot, and many in so many that none makes a big hash table', () => {
  expect(exchanged(1_000)).toEqual(['gather', 1]);
  expect(exchanged(2_000_000)).toEqual(['hash', SLOTS]);
  expect(exchanged(100_000_000)).toEqual(['hash', SLOTS * 4]);
  // At most as many partitions as a worker may make, however many slots there are.
  expect(exchanged(1_000_000_000, [], { slots: 4_000 })).toEqual(['hash', 1_024]);
});

test('with DISTINCT the values of each group come together: few groups of many values are divided', () => {
  const count = { name: 'count', children: [column(1, 'v')], distinct: true, filter: null, orders: [], type: BIGINT };
  expect(exchanged(1_000, [count], { values: 100_000 })).toEqual(['hash', SLOTS * 4]);
  expect(exchanged(100, [count])).toEqual(['gather', 1]);
});
