import { join } from 'node:path';
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { orderDifferences, orderedAnswer } from '#test/support/ordered-answer.ts';
import { distributedRunner, type DistributedRunner } from '#test/support/run-distributed.ts';
import { tpcdsData, tpcdsQueries } from '#test/tpcds/tpcds.ts';

async function open(): Promise<{ readonly duckdb: DuckDBConnection; readonly runner: DistributedRunner }> {
  const connection = await (await DuckDBInstance.create()).connect();
  await connection.run('CREATE SCHEMA tpcds');
  for (const file of globSync(join(await tpcdsData('0.01'), '*.parquet'))) {
    await connection.run(`CREATE TABLE tpcds.${basename(file, '.parquet')} AS FROM read_parquet('${file}')`);
  }
  await connection.run('USE tpcds');
  return { duckdb: connection, runner: await distributedRunner(connection, 'tpcds') };
}

/** The statements whose result has no ORDER BY. */
const UNORDERED = ['q09', 'q13', 'q23a', 'q28', 'q32', 'q38', 'q48', 'q87', 'q88', 'q97'];

/** Every statement at scale 0.01 in fragments of three workers, in one process, once for each of these join distributions. */
export async function testTpcdsFragments(joins: readonly ('auto' | 'broadcast' | 'partitioned')[]): Promise<void> {
  const queries = await tpcdsQueries();
  const { duckdb, runner } = await open();
  describe.each(joins)('TPC-DS in fragments, joins: %s', (joinDistribution) => {
    test.each(queries)('$name', async ({ name, sql }) => {
      const expected = await orderedAnswer(duckdb, sql);
      expect(expected.ordered).toBe(!UNORDERED.includes(name));
      const { rows, plans } = await runner.run(sql, { workers: 3, settings: { joinDistribution } });
      expect(plans[0]).toMatchObject({ kind: 'distributed' });
      expect(orderDifferences(rows, expected)).toBeNull();
    });
  });
}
