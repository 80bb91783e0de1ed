import type { DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import { differences } from '#test/support/compare-rows.ts';
import { distributedRunner, type DistributedRunner } from '#test/support/run-distributed.ts';
import { tpchDuckdb } from '#test/support/tpch-duckdb.ts';
import { TPCH_QUERIES } from './tpch-queries.ts';

let duckdb: DuckDBConnection;
let runner: DistributedRunner;

beforeAll(async () => {
  duckdb = await tpchDuckdb();
  runner = await distributedRunner(duckdb, 'tpch');
}, 60_000);

describe.each([1, 2, 3])('TPC-H in fragments on %d workers', (workers) => {
  describe.each(['auto', 'broadcast', 'partitioned'] as const)('joins: %s', (joinDistribution) => {
    test.each(TPCH_QUERIES)('$name', async ({ sql }) => {
      const expected = await new DuckdbEngine(duckdb).run(sql);
      if (expected.kind === 'error') throw new Error(expected.message);
      const { rows, plans } = await runner.run(sql.replace(/;\s*$/, ''), { workers, settings: { joinDistribution } });
      expect(plans.map(({ kind }) => kind)).not.toContain('whole');
      expect(differences(rows, expected.rows)).toBeNull();
    });
  });
});
