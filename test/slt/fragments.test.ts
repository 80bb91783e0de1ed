import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { openFixture } from '#test/slt/fixture.ts';
import type { Engine, EngineAnswer } from '#test/slt/engine.ts';
import { runSlt } from '#test/slt/run-slt.ts';
import { parseSlt } from '#test/slt/slt-file.ts';
import { distributedRunner, type DistributedRunner, type RunOptions } from '#test/support/run-distributed.ts';

const FILES = globSync(join(import.meta.dirname, 'both/*.slt'))
  .filter((file) => !file.endsWith('tpch-small.slt'))
  .sort();

let duckdb: DuckDBConnection;
let runner: DistributedRunner;
const whole = new Map<string, string>();

beforeAll(async () => {
  duckdb = await openFixture();
  runner = await distributedRunner(duckdb, 't');
});

/** The distributor as an engine of `.slt` files; a query without ORDER BY may give its rows in any order. */
class FragmentEngine implements Engine {
  /** Its values are read like those of DuckDB itself. */
  readonly name = 'duckdb';
  readonly #options: RunOptions;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  async run(sql: string): Promise<EngineAnswer> {
    try {
      const { columns, rows, plans } = await runner.run(sql, this.#options);
      for (const plan of plans) if (plan.kind === 'whole') whole.set(sql, plan.reason);
      return { kind: 'rows', columns, rows };
    } catch (error) {
      return { kind: 'error', sqlState: null, message: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** Limits under which small inputs are exchanged, too, and nothing is read by every task. */
const LIMITS = { readEverywhereBytesMax: 0, gatherGroupsMax: 0, repeatedBytesMax: 0 } as const;

// TPC-H runs on one and two workers as well (`test/tpch/fragments.test.ts`).
describe.each([3])('SQL logic tests in fragments on %d workers', (workers) => {
  describe.each(['auto', 'broadcast', 'partitioned'] as const)('joins: %s', (joinDistribution) => {
    test.each(FILES.map((file) => basename(file)))('%s', async (name) => {
      const records = parseSlt(readFileSync(join(import.meta.dirname, 'both', name), 'utf8')).map((record) =>
        record.kind === 'query' && !/\border\s+by\b/i.test(record.sql)
          ? ({ ...record, sort: 'rowsort' } as const)
          : record,
      );
      const settings = { joinDistribution, partitions: 3 };
      expect(await runSlt(records, new FragmentEngine({ workers, settings, limits: LIMITS }))).toEqual([]);
    });
  });
});

test('of the queries that read rows of a table, only a recursive one runs whole', () => {
  const reading = [...whole].filter(([sql]) => /\bt\.\w/.test(sql) && !sql.includes('t.empty'));
  expect(reading.map(([sql, reason]) => [sql.split(' ', 2).join(' '), reason])).toEqual([
    ['WITH RECURSIVE', 'a recursive common table expression is computed in one place'],
  ]);
});
