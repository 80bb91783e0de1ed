import { beforeAll, describe, expect, test } from 'vitest';
import { walkPlan } from '../../plan/plan-tree.ts';
import { estimator } from './estimate.ts';
import type { ScanFacts } from '../fragment.ts';
import { bytesOf } from '../../plan/row-estimate.ts';
import { scriptedPlans, type ScriptedPlans } from '#test/support/scripted/plans.ts';

let plans: ScriptedPlans;
beforeAll(async () => {
  plans = await scriptedPlans();
});

/** Estimated rows of the query's result, by the statistics of the scripted tables. */
async function rowsOf(sql: string): Promise<number> {
  const { plan, scans } = await plans.planOf(sql);
  return Math.round(estimator({ scans: scans.map(plans.factsOf), stages: new Map() })(plan).rows);
}

describe('rows', () => {
  test.each([
    ['all of a table', 'SELECT k FROM big', 10_000_000],
    ['one of a thousand keys', 'SELECT v FROM big WHERE k = 3', 10_000],
    ['a tenth of the dates', `SELECT v FROM big WHERE d >= DATE '1971-01-01' AND d < DATE '1972-01-01'`, 1_000_274],
    [
      'as timestamps',
      `SELECT v FROM big WHERE d >= TIMESTAMP '1971-01-01 00:00:00' AND d < DATE '1972-01-01'`,
      1_000_274,
    ],
    ['beyond the bounds', 'SELECT v FROM big WHERE k > 5000', 0],
    ['of a list', 'SELECT v FROM big WHERE k IN (1, 2, 3)', 30_000],
    ['a key and what refers to it', 'SELECT b.v FROM big b JOIN huge h ON b.id = h.big_id', 100_000_000],
    ['many to many', 'SELECT b.v FROM big b JOIN huge h ON b.k = h.k', 1e12],
    ['like a pattern', "SELECT k FROM small WHERE name LIKE '%a%b%'", 100],
    ['not like a pattern', "SELECT k FROM small WHERE name NOT LIKE '%a%b%'", 900],
    ['groups of two columns', 'SELECT k, g, count(*) FROM big GROUP BY k, g', 20_000],
    ['no more groups than rows', 'SELECT k, id, count(*) FROM small, (SELECT id FROM big LIMIT 5) GROUP BY ALL', 5_000],
    ['one row', 'SELECT count(*) FROM big', 1],
    ['a left join keeps the left', 'SELECT s.k FROM small s LEFT JOIN big b ON s.k = b.id', 1_000],
    ['distinct values', 'SELECT DISTINCT g FROM big', 20],
  ])('%s', async (_name, sql, expected) => {
    expect(await rowsOf(sql)).toBe(expected);
  });

  test('of a stage that has run they are known, for all that read it', async () => {
    const { plan } = await plans.planOf('SELECT k FROM small');
    const columns = [{ index: 0, name: '', type: { kind: 'scalar', name: 'INTEGER' } }] as const;
    const stage = { kind: 'stage', stage: 4, read: 'all', columns } as const;
    const each = { rows: 3, bytes: 60 };
    const facts = { ...each, output: { kind: 'gather' }, partitions: [each], tasks: 1 } as const;
    const estimate = estimator({ scans: [UNKNOWN], stages: new Map([[4, facts]]) });
    expect(bytesOf(estimate(stage))).toBe(63);
    expect([...walkPlan(plan)].map((node) => estimate(node).rows)).toEqual([17, 17]);
  });
});

const UNKNOWN: ScanFacts = { rows: 17, bytes: 0, files: 1, columns: [] };
