import { expect, test } from 'vitest';
import type { JoinPlan, Partitioning, Plan } from '../planner/plan.ts';
import { distribute } from './distribute.ts';
import type { DistributedPlan, DistributionSettings } from './fragment.ts';

const BIGINT = { kind: 'scalar', name: 'BIGINT' } as const;
const KEY = { kind: 'column', index: 0, name: 'k', type: BIGINT } as const;
const COLUMNS = [{ index: 0, name: 'k', type: BIGINT }];
const SCAN: Plan = { kind: 'scan', scan: 0, columns: COLUMNS };
const STAGE: Plan = { kind: 'stage', stage: 1, read: 'all', columns: COLUMNS };

const semi = (distribution: JoinPlan['distribution']): JoinPlan => ({
  kind: 'join',
  type: 'semi',
  left: SCAN,
  right: STAGE,
  conditions: [{ op: 'eq', left: KEY, right: KEY }],
  residual: null,
  asof: false,
  distribution,
  delim: null,
  delimFlipped: false,
  leftProjection: null,
  rightProjection: null,
});

/** A big scan, and a stage that gave much and put it so. */
function distributed(plan: Plan, output: Partitioning, settings: Partial<DistributionSettings> = {}): DistributedPlan {
  const half = { rows: 5_000_000, bytes: 100e6 };
  const made = distribute(plan, {
    scans: [{ rows: 1e8, bytes: 1e9, files: 100, columns: [{ distinctMax: null, nulls: 0 }] }],
    stages: new Map([[1, { rows: 10_000_000, bytes: 200e6, output, partitions: [half, half], tasks: 4 }]]),
    cluster: { workers: ['a', 'b'].map((id) => ({ slots: 4, machine: { id, cores: 4 } })) },
    settings: { distribution: 'auto', joinDistribution: 'auto', partitions: null, ...settings },
    nextStage: 2,
  });
  if (made.kind === 'whole') throw new Error(made.reason);
  return made;
}

const HASH: Partitioning = { kind: 'hash', keys: [KEY], spreadNulls: false };
const shapeOf = ({ fragments, plan }: DistributedPlan): unknown => ({
  join: plan.kind === 'join' ? plan.distribution : plan.kind,
  reads: fragments.at(-1)?.inputs.map(({ read }) => read),
  tasks: fragments.map(({ tasks }) => tasks.kind),
});

test('a preset join stays: no side moves, whatever is forced and however much the other side has', () => {
  const preset = { join: 'broadcastRight', reads: ['all'], tasks: ['splits'] };
  for (const joinDistribution of ['auto', 'broadcast', 'partitioned'] as const) {
    const made = distributed(semi('broadcastRight'), { kind: 'broadcast' }, { joinDistribution });
    expect(shapeOf(made)).toEqual(preset);
  }
  const forced = { joinDistribution: 'partitioned' } as const;
  expect(shapeOf(distributed(semi(null), { kind: 'broadcast' }, forced))).toMatchObject({ join: 'partitioned' });
});

test('it leaves the scan with its files, for the exchange that comes next', () => {
  const groups: Plan = {
    kind: 'aggregate',
    child: semi('broadcastRight'),
    groups: [KEY],
    sets: [[0]],
    aggregates: [],
    groupings: [],
  };
  const made = distributed(groups, { kind: 'broadcast' });
  expect(made.fragments).toHaveLength(2);
  expect(made.fragments[0]).toMatchObject({
    tasks: { kind: 'splits' },
    scans: [{ scan: 0, read: 'split' }],
    inputs: [{ stage: 1, read: 'all' }],
  });
});

test('a side that is not everywhere is placed as that of any other join', () => {
  const forced = { joinDistribution: 'partitioned' } as const;
  expect(shapeOf(distributed(semi('broadcastRight'), HASH, forced))).toMatchObject({ join: 'partitioned' });
});
