import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { TPCH_TABLES } from '#cli/load/tpch.ts';
import { must } from '#shared/must.ts';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import { differences } from '#test/support/compare-rows.ts';
import { distributedRunner, type DistributedRunner } from '#test/support/run-distributed.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';

let duckdb: DuckDBConnection;
let runner: DistributedRunner;

beforeAll(async () => {
  duckdb = await (await DuckDBInstance.create()).connect();
  await duckdb.run('CREATE SCHEMA tpch');
  for (const table of TPCH_TABLES) {
    const file = join(import.meta.dirname, '../../cli/load/tpch-0.01', `${table}.parquet`);
    await duckdb.run(`CREATE TABLE tpch.${table} AS FROM read_parquet('${file}')`);
  }
  await duckdb.run('USE tpch');
  runner = await distributedRunner(duckdb, 'tpch');
}, 60_000);

describe.each([1, 2, 3])('TPC-H in fragments on %d workers', (workers) => {
  describe.each(['auto', 'broadcast', 'partitioned'] as const)('joins: %s', (joinDistribution) => {
    test.each(TPCH_QUERIES)('$name', async ({ sql }) => {
      const expected = await new DuckdbEngine(duckdb).run(sql);
      if (expected.kind === 'error') throw new Error(expected.message);
      const { rows, plans } = await runner.run(sql.replace(/;\s*$/, ''), { workers, settings: { joinDistribution } });
      expect(must(plans[0], 'a plan').kind).toBe('distributed');
      expect(differences(rows, expected.rows)).toBeNull();
    });
  });
});
