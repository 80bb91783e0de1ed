import { expect, test } from 'vitest';
import type { DistributedPlan, Fragment, JoinSide, JoinSides } from '../distributor/fragment.ts';
import type { Plan } from '../plan/plan.ts';
import { chooseWave, isLastKnown } from './choose-wave.ts';

const MIB = 2 ** 20;
const leaf: Plan = { kind: 'oneRow' };
const fragment = (number: number, inputs: readonly number[], bytes: number): Fragment =>
  ({
    stage: number,
    output: { kind: 'gather' },
    inputs: inputs.map((input) => ({ stage: input, read: 'partition', fields: [], reads: 1 })),
    estimate: { rows: 1, bytes },
  }) as unknown as Fragment;
const side = (bytes: number, ...stages: readonly number[]): JoinSide => ({ bytes, stages });

function distributed(fragments: readonly Fragment[], joins: readonly JoinSides[] = []): DistributedPlan {
  const [last, ...others] = fragments.toReversed();
  if (last === undefined) throw new Error('no fragment');
  const all = [...others.toReversed(), { ...last, output: null }];
  return { kind: 'distributed', source: leaf, plan: leaf, fragments: all, joins, replacements: [], nextStage: 9 };
}

const wave = (plan: DistributedPlan, done: readonly number[] = []): readonly number[] =>
  chooseWave(plan, (number) => done.includes(number)).map(({ stage: number }) => number);

test('the small side of a join runs before a big other one', () => {
  const plan = distributed(
    [fragment(0, [], 100 * MIB), fragment(1, [], MIB), fragment(2, [0, 1], MIB)],
    [{ left: side(100 * MIB, 0), right: side(MIB, 1) }],
  );
  expect(wave(plan)).toEqual([1]);
  expect(wave(plan, [1])).toEqual([0]);
  expect(wave(plan, [0, 1])).toEqual([]);
});

test('a side is as small as what it gives, whatever it is made of', () => {
  // Stage 0 against a semi join of stage 1, which is bigger, with stage 2.
  const plan = distributed(
    [fragment(0, [], 100 * MIB), fragment(1, [], 200 * MIB), fragment(2, [], MIB), fragment(3, [0, 1, 2], MIB)],
    [
      { left: side(100 * MIB, 0), right: side(5 * MIB, 1, 2) },
      { left: side(200 * MIB, 1), right: side(MIB, 2) },
    ],
  );
  expect(wave(plan)).toEqual([2]);
  expect(wave(plan, [2])).toEqual([1]);
  expect(wave(plan, [1, 2])).toEqual([0]);
});

test('small sides run together, and so does what is not joined with each other', () => {
  const small = [fragment(0, [], 2 * MIB), fragment(1, [], MIB), fragment(2, [0, 1], MIB)];
  expect(wave(distributed(small, [{ left: side(2 * MIB, 0), right: side(MIB, 1) }]))).toEqual([0, 1]);
  expect(wave(distributed([fragment(0, [], 100 * MIB), fragment(1, [], MIB), fragment(2, [0, 1], MIB)]))).toEqual([
    0, 1,
  ]);
});

test('a wave is never empty while something is left, whoever waits for whom', () => {
  const plan = distributed(
    [fragment(0, [], 100 * MIB), fragment(1, [0], 20 * MIB), fragment(2, [0, 1], MIB)],
    [{ left: side(100 * MIB, 0), right: side(20 * MIB, 1) }],
  );
  expect(wave(plan)).toEqual([0]);
});

test('the last stage is known before the others end when it is one task that reads little, and no table', () => {
  const last = (changes: Partial<Fragment>, bytes = MIB): boolean => {
    const ended = { ...fragment(1, [0], MIB), tasks: { kind: 'single' }, scans: [], ...changes } as Fragment;
    return isLastKnown(distributed([fragment(0, [], bytes), ended]), (stage) => stage === 0);
  };
  expect(last({})).toBe(true);
  expect(last({ tasks: { kind: 'partitions' } })).toBe(false);
  expect(last({ scans: [{ scan: 0, read: 'all' }] })).toBe(false);
  expect(last({ inputs: [] })).toBe(false);
  expect(last({}, 5 * MIB)).toBe(false);
  const three = [
    fragment(0, [], MIB),
    fragment(1, [0], MIB),
    { ...fragment(2, [0], MIB), tasks: { kind: 'single' }, scans: [] },
  ];
  expect(isLastKnown(distributed(three as readonly Fragment[]), (stage) => stage === 0)).toBe(false);
});
