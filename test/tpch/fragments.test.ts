import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { differences } from '#test/support/compare-rows.ts';
import { distributedRunner, type DistributedRunner } from '#test/support/run-distributed.ts';
import { tpchAnswers, tpchDuckdb } from '#test/support/tpch-duckdb.ts';
import { TPCH_QUERIES } from './tpch-queries.ts';

const answers = tpchAnswers();
let runner: DistributedRunner;

beforeAll(async () => {
  runner = await distributedRunner(await tpchDuckdb(), 'tpch');
});
afterAll(() => answers.close());

describe.each([1, 2, 3])('TPC-H in fragments on %d workers', (workers) => {
  describe.each(['auto', 'broadcast', 'partitioned'] as const)('joins: %s', (joinDistribution) => {
    test.each(TPCH_QUERIES)('$name', async ({ sql }) => {
      const expected = await answers.rows(sql);
      const { rows, plans } = await runner.run(sql.replace(/;\s*$/, ''), { workers, settings: { joinDistribution } });
      expect(plans.map(({ kind }) => kind)).not.toContain('whole');
      expect(differences(rows, expected)).toBeNull();
    });
  });
});
