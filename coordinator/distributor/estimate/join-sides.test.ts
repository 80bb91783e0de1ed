import { expect, test } from 'vitest';
import { scriptedPlans } from '#test/support/scripted/plans.ts';

test('the sides of a join are as big as what they give to it, and wait for the stages nearest to it', async () => {
  const { distributed } = await scriptedPlans();
  const { plan } = await distributed(
    'SELECT count(*) FROM huge JOIN (SELECT big_id FROM huge GROUP BY big_id HAVING sum(v) > 300) AS few ' +
      'ON huge.id = few.big_id JOIN big ON big.id = huge.big_id',
    { settings: { distribution: 'force', joinDistribution: 'partitioned', partitions: null, stageWidth: 1 } },
  );
  if (plan.kind === 'whole') throw new Error(plan.reason);
  const stages = new Set(plan.fragments.map(({ stage }) => stage));
  expect(plan.joins.length).toBeGreaterThan(0);
  for (const { left, right } of plan.joins) {
    expect([...left.stages, ...right.stages].every((stage) => stages.has(stage))).toBe(true);
    expect(left.stages.some((stage) => right.stages.includes(stage))).toBe(false);
  }
  const filtered = plan.fragments.find(({ reason }) => reason === 'partial groups come together');
  const join = plan.joins.find(({ left, right }) => [left, right].some((side) => side.stages[0] === filtered?.stage));
  const [groups, other] = [join?.left, join?.right].toSorted((a, b) => (a?.bytes ?? 0) - (b?.bytes ?? 0));
  // HAVING keeps a part of the groups, so the estimate is less than the output of the stage that makes the partial groups.
  expect(groups?.stages).toEqual([filtered?.stage]);
  expect(groups?.bytes).toBeLessThan(filtered?.estimate.bytes ?? 0);
  expect(other?.bytes).toBeGreaterThan(groups?.bytes ?? 0);
});
