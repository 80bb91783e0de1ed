import { beforeAll, describe, expect, test } from 'vitest';
import type { DistributedPlan } from './fragment.ts';
import { scriptedPlans, type ScriptedPlans } from '#test/support/scripted/plans.ts';

let plans: ScriptedPlans;
beforeAll(async () => {
  plans = await scriptedPlans();
});

async function cut(sql: string): Promise<DistributedPlan> {
  const { plan } = await plans.distributed(sql, {
    settings: { distribution: 'force', joinDistribution: 'partitioned', partitions: 4, stageWidth: 1 },
  });
  if (plan.kind === 'whole') throw new Error(plan.reason);
  return plan;
}

test('a table that is read twice has two scans, each pruned by its own filter', async () => {
  const { scans } = await plans.planOf('SELECT id FROM big WHERE k < 3 UNION ALL SELECT id FROM big WHERE k > 8');
  expect(scans.map(({ tableName, predicate }) => [tableName, predicate])).toEqual([
    ['lake.s.big', { kind: 'compare', op: 'lt', fieldId: 2, value: 3n }],
    ['lake.s.big', { kind: 'compare', op: 'gt', fieldId: 2, value: 8n }],
  ]);
});

test('fragments name their leaves in the order of their text, producers first', async () => {
  const { fragments } = await cut('SELECT b.v, h.v FROM big b JOIN huge h ON b.id = h.big_id');
  expect(fragments.map(({ tasks }) => tasks.kind)).toEqual(['splits', 'splits', 'partitions']);
  expect(fragments.map(({ output }) => output?.kind ?? null)).toEqual(['hash', 'hash', null]);
  expect(fragments.map(({ partitions }) => partitions)).toEqual([4, 4, 1]);
  const last = fragments.at(-1);
  expect(last?.inputs.map(({ stage, read }) => [stage, read])).toEqual([
    [fragments[0]?.stage, 'partition'],
    [fragments[1]?.stage, 'partition'],
  ]);
  expect(fragments.flatMap(({ sql }) => sql.filter((part) => typeof part !== 'string'))).toEqual([
    { scan: 0 },
    { scan: 0 },
    { input: 0 },
    { input: 1 },
  ]);
});

describe('inputs that may be divided among tasks', () => {
  const dividable = async (sql: string): Promise<readonly boolean[]> => {
    const { fragments } = await cut(sql);
    const joining = fragments.find(({ inputs }) => inputs.length === 2);
    return (joining?.inputs ?? []).map((input) => input.dividable === true);
  };

  test.each([
    ['either side of an inner join', 'SELECT b.v, h.v FROM big b JOIN huge h ON b.id = h.big_id', [true, true]],
    ['the left of a left join', 'SELECT b.v, h.v FROM big b LEFT JOIN huge h ON b.id = h.big_id', [true, false]],
    ['below a first step', 'SELECT b.g, sum(h.v) FROM big b JOIN huge h ON b.id = h.big_id GROUP BY b.g', [true, true]],
    ['none of a full join', 'SELECT b.v, h.v FROM big b FULL JOIN huge h ON b.id = h.big_id', [false, false]],
    [
      'none below whole groups',
      'SELECT b.id, sum(h.v) FROM big b JOIN huge h ON b.id = h.big_id GROUP BY b.id',
      [false, false],
    ],
  ])('%s', async (_name, sql, expected) => {
    expect(await dividable(sql)).toEqual(expected);
  });
});

test('a fragment that may give other rows when it runs again is not repeatable', async () => {
  const repeatable = async (sql: string): Promise<readonly boolean[]> =>
    (await cut(sql)).fragments.map((fragment) => fragment.repeatable);
  expect(await repeatable('SELECT g, sum(v) FROM big GROUP BY g')).toEqual([true, true]);
  expect(await repeatable('SELECT sum(v) FROM (SELECT v FROM big LIMIT 10)')).toEqual([false, false]);
  expect(await repeatable('SELECT g, first(v) FROM big GROUP BY g')).toEqual([false, false]);
});

test('a fragment that drops nearly all rows that it reads is collected, every other is streamed', async () => {
  const collected = async (sql: string): Promise<readonly boolean[]> =>
    (await cut(sql)).fragments.map((fragment) => fragment.collected);
  expect(await collected("SELECT id, v FROM big WHERE md5(v::VARCHAR) = 'x'")).toEqual([true]);
  expect(await collected("SELECT id FROM big WHERE v::VARCHAR LIKE '%9%8%7%'")).toEqual([true]);
  expect(await collected('SELECT id, v FROM big WHERE v <> 3')).toEqual([false]);
  expect(await collected('SELECT b.v, h.v FROM big b JOIN huge h ON b.id = h.big_id WHERE b.g % 7 = 3')).toEqual([
    true,
    false,
    true,
  ]);
  expect(await collected("SELECT g, sum(v) FROM big WHERE md5(v::VARCHAR) = 'x' GROUP BY g")).toEqual([false, false]);
});
