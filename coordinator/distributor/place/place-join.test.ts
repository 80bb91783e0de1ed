import { expect, test } from 'vitest';
import type { JoinPlan, Partitioning, Plan } from '../../plan/plan.ts';
import { distribute } from '../distribute.ts';
import type { DistributedPlan, DistributionSettings } from '../fragment.ts';

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

/** Distributes a plan over a big scan and a stage whose large output is placed as `output` says. */
function distributed(plan: Plan, output: Partitioning, settings: Partial<DistributionSettings> = {}): DistributedPlan {
  const half = { rows: 5_000_000, bytes: 100e6 };
  const made = distribute(plan, {
    scans: [{ rows: 1e8, bytes: 1e9, files: 100, columns: [{ distinctMax: null, nulls: 0 }] }],
    stages: new Map([[1, { rows: 10_000_000, bytes: 200e6, output, partitions: [half, half], tasks: 4 }]]),
    cluster: { workers: ['a', 'b'].map((id) => ({ slots: 4, machine: { id, cores: 4 } })) },
    settings: { distribution: 'auto', joinDistribution: 'auto', partitions: null, stageWidth: 1, ...settings },
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

/** Distributes a join of two tables over eight slots; the right one has `rows` rows of `widthBytes` bytes. */
function ofTables(rows: number, widthBytes: number): unknown {
  const table = (scan: number): Plan => ({ kind: 'scan', scan, columns: COLUMNS });
  const column = { distinctMax: null, nulls: 0, lower: null, upper: null };
  const made = distribute(
    { ...semi(null), type: 'inner', left: table(0), right: table(1) },
    {
      scans: [
        { rows: 3e7, bytes: 1e9, files: 100, columns: [{ ...column, widthBytes: 8 }] },
        { rows, bytes: rows * widthBytes, files: 100, columns: [{ ...column, widthBytes }] },
      ],
      stages: new Map(),
      cluster: { workers: ['a', 'b'].map((id) => ({ slots: 4, machine: { id, cores: 4 } })) },
      settings: { distribution: 'auto', joinDistribution: 'auto', partitions: null, stageWidth: 1 },
      nextStage: 1,
    },
  );
  if (made.kind === 'whole') throw new Error(made.reason);
  return made.plan.kind === 'join' ? made.plan.distribution : made.plan.kind;
}

test('a side of few long rows is broadcast; one of as many bytes in many short rows, whose hash table each task would build, is partitioned', () => {
  expect(ofTables(200_000, 180)).toBe('broadcastRight');
  expect(ofTables(4_000_000, 9)).toBe('partitioned');
});

test('a table that every task would read again is divided, and the few rows that it meets go to every task', () => {
  const wide = { distinctMax: null, nulls: 0, lower: null, upper: null, widthBytes: 200 };
  const half = { rows: 25_000, bytes: 500_000 };
  const few: Plan = { ...semi(null), type: 'inner', left: STAGE, right: { ...SCAN, scan: 1 } };
  const made = distribute(
    { ...semi(null), type: 'inner', left: SCAN, right: few },
    {
      scans: [
        { rows: 40_000, bytes: 8e6, files: 100, columns: [wide] },
        { rows: 3e7, bytes: 1e9, files: 100, columns: [{ ...wide, distinctMax: 3e7, widthBytes: 8 }] },
      ],
      stages: new Map([
        [1, { rows: 50_000, bytes: 1e6, output: { kind: 'broadcast' }, partitions: [half, half], tasks: 2 }],
      ]),
      cluster: { workers: ['a', 'b'].map((id) => ({ slots: 4, machine: { id, cores: 4 } })) },
      settings: { distribution: 'auto', joinDistribution: 'auto', partitions: null, stageWidth: 1 },
      nextStage: 2,
    },
  );
  if (made.kind === 'whole') throw new Error(made.reason);
  expect(made.plan.kind === 'join' ? made.plan.distribution : made.plan.kind).toBe('broadcastRight');
  expect(made.fragments.map(({ scans }) => scans)).toEqual([
    [{ scan: 1, read: 'split' }],
    [{ scan: 0, read: 'split' }],
  ]);
});

test('the one task that needs all rows reads a little table itself, when something has been distributed already', () => {
  const options = { sample_size: { value: 5 }, method: 'Reservoir' };
  const sample: Plan = { kind: 'sample', child: SCAN, options };
  const of = (rows: number, isFirst: boolean): readonly string[] => {
    const half = { rows: 1, bytes: 8 };
    const stage = { ...half, output: { kind: 'gather' }, partitions: [half], tasks: 2 } as const;
    const made = distribute(sample, {
      scans: [{ rows, bytes: rows * 8, files: 4, columns: [] }],
      stages: new Map(isFirst ? [] : [[1, stage]]),
      cluster: { workers: ['a', 'b'].map((id) => ({ slots: 4, machine: { id, cores: 4 } })) },
      settings: { distribution: 'force', joinDistribution: 'auto', partitions: null, stageWidth: 1 },
      nextStage: 2,
    });
    if (made.kind === 'whole') throw new Error(made.reason);
    return made.fragments.map(({ tasks }) => tasks.kind);
  };
  expect(of(10_000, true)).toEqual(['splits', 'single']);
  expect(of(10_000, false)).toEqual(['single']);
  expect(of(1_000_000, false)).toEqual(['splits', 'single']);
});
