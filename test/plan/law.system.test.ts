import type { DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { printPlan } from '#coordinator/distributor/print/print-plan.ts';
import { SHAPE_PASSES } from '#coordinator/distributor/shape/shape-plan.ts';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import { orderDifferences, orderedAnswer } from '#test/support/ordered-answer.ts';
import { distributedRunner, type DistributedRunner } from '#test/support/run-distributed.ts';
import { tpchDuckdb } from '#test/support/tpch-duckdb.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';

let duckdb: DuckDBConnection;
let runner: DistributedRunner;

beforeAll(async () => {
  duckdb = await tpchDuckdb();
  runner = await distributedRunner(duckdb, 'tpch');
});

describe('the law of distribution: after every pass, and with exchanges, one DuckDB gives the same rows', () => {
  test.each(TPCH_QUERIES)('$name', async ({ sql }) => {
    const query = sql.replace(/;\s*$/, '');
    const expected = await orderedAnswer(duckdb, query);
    const steps = await runner.steps(query, { workers: 3 });
    expect(steps.map(({ name }) => name)).toEqual([...SHAPE_PASSES.map(({ name }) => name), 'exchanges']);
    for (const { name, plan, scanSql } of steps) {
      const text = printPlan(plan, { scan: ({ scan }) => scan, stage: () => -1 });
      const rows = await new DuckdbEngine(duckdb).run(
        text.map((part) => (typeof part === 'string' ? part : 'scan' in part ? scanSql(part.scan) : '')).join(''),
      );
      if (rows.kind === 'error') throw new Error(`${name}: ${rows.message}`);
      expect(orderDifferences(rows.rows, expected), name).toBeNull();
    }
    const { rows } = await runner.run(query, { workers: 3 });
    expect(orderDifferences(rows, expected), 'in fragments').toBeNull();
  });
});
