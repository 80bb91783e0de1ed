import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Partitioning, Plan } from '../../plan/plan.ts';
import { walkPlan } from '../../plan/plan-tree.ts';
import { distribute } from '../distribute.ts';
import type { DistributedPlan, DistributionFacts, DistributionSettings, StageFacts } from '../fragment.ts';
import { DISTRIBUTION_LIMITS } from '../limits.ts';

const BIGINT = { kind: 'scalar', name: 'BIGINT' } as const;
const COLUMNS = [{ index: 0, name: 'k', type: BIGINT }];
const KEY = { kind: 'column', index: 0, name: 'k', type: BIGINT } as const;
const SLOTS = 8;
const LITTLE_BYTES = DISTRIBUTION_LIMITS.repeatedBytesMax / SLOTS;
const HASH: Partitioning = { kind: 'hash', keys: [KEY], spreadNulls: false };

const ran = (bytes: number, output: Partitioning, tasks = 4): StageFacts => ({
  rows: 10_000_000,
  bytes,
  output,
  partitions: Array.from({ length: output.kind === 'hash' ? 4 : 1 }, () => ({ rows: 2_500_000, bytes: bytes / 4 })),
  tasks,
});

/** Distributes a plan that groups the output of stage 1 before its last step. */
function groupsOf(stage: StageFacts, settings: Partial<DistributionSettings> = {}): DistributedPlan {
  const groups: Plan = {
    kind: 'aggregate',
    child: { kind: 'stage', stage: 1, read: 'share', columns: COLUMNS },
    groups: [KEY],
    sets: [[0]],
    aggregates: [],
    groupings: [],
  };
  const facts: DistributionFacts = {
    scans: [],
    stages: new Map([[1, stage]]),
    cluster: {
      workers: ['a', 'b'].map((id) => ({ slots: SLOTS / 2, machine: { id, cores: SLOTS / 2 } })),
    },
    settings: { distribution: 'auto', joinDistribution: 'auto', partitions: null, stageWidth: 1, ...settings },
    nextStage: 2,
  };
  const made = distribute(groups, facts);
  if (made.kind === 'whole') throw new Error(made.reason);
  return made;
}

const readsOf = ({ plan }: DistributedPlan): readonly string[] =>
  [...walkPlan(plan)].flatMap((node) => (node.kind === 'stage' ? [node.read] : []));

test('a small output that a stage kept is read whole, without a further stage', () => {
  const made = groupsOf(ran(LITTLE_BYTES, { kind: 'keep' }));
  expect(readsOf(made)).toEqual(['all']);
  expect(made.fragments.map(({ tasks }) => tasks.kind)).toEqual(['single']);
});

test.each<[string, StageFacts, Partial<DistributionSettings>]>([
  ['that is more', ran(LITTLE_BYTES + 1, { kind: 'keep' }), {}],
  ['when partitions are asked for', ran(LITTLE_BYTES, { kind: 'keep' }), { partitions: 4 }],
  ['when a kind of join is', ran(LITTLE_BYTES, { kind: 'keep' }), { joinDistribution: 'partitioned' }],
])('what a stage kept is divided: %s', (_why, stage, settings) => {
  const made = groupsOf(stage, settings);
  expect(readsOf(made)).toEqual(['share']);
  expect(made.fragments.length).toBeGreaterThan(1);
  expect(made.fragments[0]?.tasks.kind).toBe('splits');
});

test('a small hashed output stays in its partitions: read whole it would be hashed again, for ever', () => {
  const made = groupsOf(ran(LITTLE_BYTES, HASH));
  expect(readsOf(made)).toEqual(['partition']);
  expect(made.fragments.map(({ tasks }) => tasks.kind)).toEqual(['partitions']);
  expect(must(made.fragments[0], 'a fragment').output).toBeNull();
});

test('a stage of one task that kept its rows is read whole, however much that is', () => {
  expect(readsOf(groupsOf(ran(1e9, { kind: 'keep' }, 1)))).toEqual(['all']);
});
