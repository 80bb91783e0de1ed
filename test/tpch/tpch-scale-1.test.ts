import { readFileSync } from 'node:fs';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll } from 'vitest';
import { viewTpch } from '#test/slt/fixture.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { KeptAnswers } from '#test/support/kept-answers.ts';
import { pythonBin } from '#test/support/python.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { tpchSuite } from './tpch-suite.ts';

/** The program that generates the data, with its release. */
const GENERATOR = /^tpchgen-cli==.*$/m.exec(readFileSync('test/support/python-requirements.txt', 'utf8'))?.[0] ?? '';

const own = new AsyncDisposableStack();
afterAll(() => own.disposeAsync());

tpchSuite('1', async () => {
  const cluster = own.use(await startOwnCluster());
  const tools = { PATH: `${await pythonBin()}:${process.env['PATH'] ?? ''}` };
  await cluster.cliOk(['load', 'tpch', '--scale', '1'], tools);
  return { cluster, answers: new KeptAnswers(`${GENERATOR} 1`, () => views(cluster)) };
});

/** The files that were loaded, as DuckDB's views. */
async function views(cluster: Cluster): Promise<DuckDBConnection> {
  const duckdb = await (await DuckDBInstance.create()).connect();
  await duckdb.run('CREATE SCHEMA tpch');
  await viewTpch(duckdb, cluster);
  await duckdb.run('USE tpch');
  return duckdb;
}
