import { join } from 'node:path';
import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { describe, expect, test } from 'vitest';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import { bagDifferences } from '#test/support/compare-rows.ts';
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

/** Every statement at scale 0.01 in fragments of three workers, in one process, once for each of these join distributions. */
export async function testTpcdsFragments(joins: readonly ('auto' | 'broadcast' | 'partitioned')[]): Promise<void> {
  const queries = await tpcdsQueries();
  const { duckdb, runner } = await open();
  describe.each(joins)('TPC-DS in fragments, joins: %s', (joinDistribution) => {
    test.each(queries)('$name', async ({ sql }) => {
      const expected = await new DuckdbEngine(duckdb).run(sql);
      if (expected.kind === 'error') throw new Error(expected.message);
      const { rows, plans } = await runner.run(sql, { workers: 3, settings: { joinDistribution } });
      expect(plans[0]).toMatchObject({ kind: 'distributed' });
      expect(bagDifferences(rows, expected.rows)).toBeNull();
    });
  });
}
