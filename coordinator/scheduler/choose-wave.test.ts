import { expect, test } from 'vitest';
import type { DistributedPlan, Fragment } from '../distributor/fragment.ts';
import type { JoinPlan, Plan } from '../planner/plan.ts';
import { chooseWave } from './choose-wave.ts';

const MIB = 2 ** 20;
const stage = (number: number): Plan => ({ kind: 'stage', stage: number, read: 'partition', columns: [] });
const join = (left: Plan, right: Plan): Plan =>
  ({ kind: 'join', type: 'inner', left, right, conditions: [] }) as unknown as JoinPlan;
const fragment = (number: number, plan: Plan, inputs: readonly number[], bytes: number): Fragment =>
  ({
    stage: number,
    plan,
    output: { kind: 'gather' },
    inputs: inputs.map((input) => ({ stage: input, read: 'partition', fields: [], reads: 1 })),
    estimate: { rows: 1, bytes },
  }) as unknown as Fragment;
const distributed = (...fragments: readonly Fragment[]): DistributedPlan => {
  const last = fragments.at(-1);
  if (last === undefined) throw new Error('no fragment');
  const all = [...fragments.slice(0, -1), { ...last, output: null }];
  return { kind: 'distributed', source: last.plan, plan: last.plan, fragments: all, replacements: [], nextStage: 9 };
};
const wave = (plan: DistributedPlan, done: readonly number[] = []): readonly number[] =>
  chooseWave(plan, (number) => done.includes(number)).map(({ stage: number }) => number);

const leaf: Plan = { kind: 'oneRow' };

test('the small side of a join runs before a big other one', () => {
  const plan = distributed(
    fragment(0, leaf, [], 100 * MIB),
    fragment(1, leaf, [], MIB),
    fragment(2, join(stage(0), stage(1)), [0, 1], MIB),
  );
  expect(wave(plan)).toEqual([1]);
  expect(wave(plan, [1])).toEqual([0]);
  expect(wave(plan, [0, 1])).toEqual([]);
});

test('small sides run together, and so does what is not joined with each other', () => {
  const small = distributed(
    fragment(0, leaf, [], 2 * MIB),
    fragment(1, leaf, [], MIB),
    fragment(2, join(stage(0), stage(1)), [0, 1], MIB),
  );
  expect(wave(small)).toEqual([0, 1]);
  const apart = distributed(
    fragment(0, leaf, [], 100 * MIB),
    fragment(1, leaf, [], MIB),
    fragment(2, { kind: 'cross', left: stage(0), right: stage(1) }, [0, 1], MIB),
  );
  expect(wave(apart)).toEqual([0, 1]);
});

test('a wave is never empty while something is left, whoever waits for whom', () => {
  const plan = distributed(
    fragment(0, leaf, [], 100 * MIB),
    fragment(1, stage(0), [0], 20 * MIB),
    fragment(2, join(stage(0), stage(1)), [0, 1], MIB),
  );
  expect(wave(plan)).toEqual([0]);
});
