import { beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { walkPlan } from '../plan/plan-tree.ts';
import { advance } from './advance.ts';
import { distribute } from './distribute.ts';
import type { DistributedPlan, DistributionSettings, ScanFacts, StageFacts, WholePlan } from './fragment.ts';
import { scriptedPlans, type ScriptedPlans } from '#test/support/scripted/plans.ts';
import { shapePlan } from './shape/shape-plan.ts';

let plans: ScriptedPlans;
beforeAll(async () => {
  plans = await scriptedPlans();
});

const settings = (some: Partial<DistributionSettings>): { readonly settings: DistributionSettings } => ({
  settings: { distribution: 'auto', joinDistribution: 'auto', partitions: null, stageWidth: 1, ...some },
});

/** How each join of the plan runs, parents first. */
const joinsOf = (plan: DistributedPlan | WholePlan): readonly (string | null)[] =>
  plan.kind === 'whole'
    ? ['whole']
    : plan.fragments
        .toReversed()
        .flatMap((fragment) => [...walkPlan(fragment.plan)])
        .flatMap((node) => (node.kind === 'join' ? [node.distribution] : []));

describe('the picture of each kind', () => {
  test.each([
    ['groups', 'SELECT k, sum(v), avg(v) FROM big GROUP BY k'],
    ['as many groups as a column may have values', 'SELECT id, sum(v) FROM big GROUP BY id'],
    ['nearly as many groups as rows', 'SELECT id, k, sum(v) FROM big GROUP BY id, k'],
    ['top-N', 'SELECT id FROM big ORDER BY v LIMIT 10 OFFSET 5'],
    ['a join by keys', 'SELECT b.v, h.v FROM big b JOIN huge h ON b.id = h.big_id'],
    ['a small side', 'SELECT b.v, s.name FROM big b JOIN small s ON b.k = s.k'],
    [
      'a common table expression',
      'WITH c AS MATERIALIZED (SELECT k, sum(v) s FROM big GROUP BY k) SELECT * FROM c a JOIN c b ON a.k = b.s',
    ],
    ['distinct values', 'SELECT count(DISTINCT id) FROM big'],
    ['a union', 'SELECT v FROM big UNION ALL SELECT count(*) FROM huge'],
    ['first ranks', 'SELECT id FROM big QUALIFY rank() OVER (PARTITION BY k ORDER BY v) <= 3'],
  ])('%s', async (name, sql) => {
    const { text } = await plans.distributed(sql);
    await expect(`${sql}\n\n${text}\n`).toMatchFileSnapshot(`golden/${name.replaceAll(' ', '-')}.txt`);
  });
});

describe('joins', () => {
  const join = (type: string): string => `SELECT * FROM big b ${type} JOIN huge h ON b.id = h.big_id AND h.v > 3`;

  test.each([
    ['INNER', ['broadcastLeft'], ['partitioned']],
    ['LEFT', ['broadcastRight'], ['partitioned']],
    ['RIGHT', ['broadcastLeft'], ['partitioned']],
    ['FULL', ['partitioned'], ['partitioned']],
    ['SEMI', ['broadcastRight'], ['partitioned']],
    ['ANTI', ['broadcastRight'], ['partitioned']],
  ])('%s: what may be forced is', async (type, broadcast, partitioned) => {
    const sql =
      type === 'SEMI' || type === 'ANTI' ? `SELECT * FROM big b ${type} JOIN huge h ON b.id = h.big_id` : join(type);
    expect(joinsOf((await plans.distributed(sql, settings({ joinDistribution: 'broadcast' }))).plan)).toEqual(
      broadcast,
    );
    expect(joinsOf((await plans.distributed(sql, settings({ joinDistribution: 'partitioned' }))).plan)).toEqual(
      partitioned,
    );
  });

  test.each([
    [
      'NOT IN needs all of the right side',
      'SELECT id FROM big WHERE v NOT IN (SELECT v FROM huge)',
      ['broadcastRight'],
    ],
    ['nothing to meet by', 'SELECT * FROM big b LEFT JOIN huge h ON b.v < h.v', ['broadcastRight']],
    ['all of both sides, and nothing to meet by', 'SELECT * FROM big b FULL JOIN huge h ON b.v < h.v', ['single']],
    [
      'an as-of join sees all of the right side',
      'SELECT * FROM big b ASOF JOIN huge h ON b.v >= h.v',
      ['broadcastRight'],
    ],
  ])('%s', async (_why, sql, expected) => {
    expect(joinsOf((await plans.distributed(sql, settings({ joinDistribution: 'partitioned' }))).plan)).toEqual(
      expected,
    );
  });

  test('an input that is already partitioned by the keys stays in place', async () => {
    const sql = `SELECT b.id, count(*) FROM big b JOIN huge h ON b.id = h.big_id GROUP BY b.id`;
    const { plan } = await plans.distributed(sql, settings({ joinDistribution: 'partitioned' }));
    expect(plan.kind === 'distributed' && plan.fragments.length).toBe(3);
  });

  test('NULL keys of the preserved side are spread when there are many', async () => {
    const sql = 'SELECT * FROM big b LEFT JOIN huge h ON b.k = h.k';
    const { plan, scans } = await plans.planOf(sql);
    const facts = scans.map(({ columns }) => ({
      rows: 1e8,
      bytes: 1e9,
      files: 10,
      columns: columns.map(() => ({ distinctMax: null, nulls: 5e7 })),
    }));
    const made = distribute(shapePlan(plan), {
      scans: facts,
      stages: new Map(),
      cluster: CLUSTER,
      nextStage: 1,
      ...settings({ joinDistribution: 'partitioned' }),
    });
    const spread = (made.kind === 'distributed' ? made.fragments : []).map(
      ({ output }) => output?.kind === 'hash' && output.spreadNulls,
    );
    expect(spread).toEqual([true, false, false]);
  });
});

const CLUSTER = {
  workers: [
    { slots: 4, machine: { id: 'a', cores: 4 } },
    { slots: 4, machine: { id: 'b', cores: 4 } },
  ],
} as const;

describe('whole on one worker', () => {
  test.each([
    ['SELECT count(*) FROM huge', settings({ distribution: 'single' }), 'skein.distribution is single'],
    ['SELECT * FROM small', {}, 'there is little to read'],
    ['SELECT random() FROM huge', settings({ distribution: 'force' }), 'random() is computed once, in one place'],
    ['SELECT * FROM big POSITIONAL JOIN huge', {}, 'rows side by side have an order of their own'],
    [
      'SELECT count(*) FROM huge',
      { cluster: { workers: CLUSTER.workers.slice(0, 1) } },
      'one worker has every core that there is',
    ],
    [
      'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r, huge WHERE id = n) SELECT * FROM r',
      {},
      'a recursive common table expression is computed in one place',
    ],
    [
      'SELECT id, x FROM (SELECT id, v::VARIANT AS x, v FROM big) ORDER BY v LIMIT 10',
      {},
      'values of type VARIANT cannot travel between workers',
    ],
    [
      'SELECT id, x FROM (SELECT id, v::UNION(n BIGINT) AS x, v FROM big) ORDER BY v LIMIT 10',
      {},
      'values of type UNION("n" BIGINT) cannot travel between workers',
    ],
  ])('%s', async (sql, facts, reason) => {
    expect((await plans.distributed(sql, facts)).plan).toEqual({ kind: 'whole', reason });
  });

  test('force distributes what is little', async () => {
    const { plan } = await plans.distributed('SELECT count(*) FROM small', settings({ distribution: 'force' }));
    expect(plan.kind).toBe('distributed');
  });
});

describe('rows that travel with the task', () => {
  const inline = (rows: number): ScanFacts => ({ rows, bytes: rows * 20, files: 0, columns: [], isInline: true });
  const big: ScanFacts = { rows: 10_000_000, bytes: 1e9, files: 10, columns: [] };

  test('are read whole by every task of a table that is divided', async () => {
    const sql = 'SELECT b.g, count(s.name) FROM big b JOIN small s ON b.k = s.k GROUP BY b.g';
    const { scans } = await plans.planOf(sql);
    const isBig = scans.map(({ tableName }) => tableName.endsWith('big'));
    const { plan } = await plans.distributed(sql, { scans: isBig.map((one) => (one ? big : inline(10))) });
    if (plan.kind === 'whole') throw new Error(plan.reason);
    const read = plan.fragments.flatMap((fragment) => fragment.scans.map(({ scan, read }) => [isBig[scan], read]));
    expect(read).toEqual(
      expect.arrayContaining([
        [true, 'split'],
        [false, 'all'],
      ]),
    );
    expect(read).toHaveLength(2);
  });

  test('that are none make a scan of no rows', async () => {
    const { plan } = await plans.distributed('SELECT k FROM small', {
      scans: [inline(0)],
      ...settings({ distribution: 'force' }),
    });
    expect(plan).toEqual({ kind: 'whole', reason: 'everything is in one task' });
  });
});

describe('planned again with true counts', () => {
  const SQL = 'SELECT b.k, sum(h.v) FROM huge h JOIN big b ON b.id = h.big_id WHERE b.v = 17 GROUP BY b.k';

  /** Plans the rest again, as if the stage that reads `big` had run and given `rows` rows. */
  async function again(rows: number): Promise<DistributedPlan | WholePlan> {
    const forced = settings({ joinDistribution: 'partitioned' });
    const { plan: first } = await plans.distributed(SQL, forced);
    if (first.kind === 'whole') throw new Error(first.reason);
    const { scans } = await plans.planOf(SQL);
    const isBig = (scan: number): boolean => scans[scan]?.tableName.endsWith('big') === true;
    const ran = must(
      first.fragments.find((one) => one.scans.some(({ scan }) => isBig(scan))),
      'a stage',
    );
    const each = { rows: rows / ran.partitions, bytes: (rows * 12) / ran.partitions };
    const facts: StageFacts = {
      rows,
      bytes: rows * 12,
      output: must(ran.output, 'an output'),
      partitions: Array.from({ length: ran.partitions }, () => each),
      tasks: 8,
    };
    const rest = advance(first, new Set([ran.stage]));
    expect([...walkPlan(rest)].some((node) => node.kind === 'scan' && isBig(node.scan))).toBe(false);
    return distribute(rest, {
      scans: scans.map(({ rowCount }) => ({ rows: rowCount ?? 0, bytes: 1e9, files: 10, columns: [] })),
      stages: new Map([[ran.stage, facts]]),
      cluster: CLUSTER,
      nextStage: first.nextStage,
      ...settings({}),
    });
  }

  test('a side that turned out small is read by everyone, without another stage', async () => {
    const made = await again(1_000);
    expect(joinsOf(made)).toEqual([expect.stringMatching(/^broadcast/)]);
    expect(made.kind === 'distributed' && made.fragments.length).toBe(2);
  });

  test('one that turned out big stays where it is', async () => {
    expect(joinsOf(await again(50_000_000))).toEqual(['partitioned']);
  });

  test('one without rows ends the query', async () => {
    const made = await again(0);
    expect(made.kind === 'distributed' && made.fragments.map(({ plan }) => plan.kind)).toEqual(['empty']);
  });
});
