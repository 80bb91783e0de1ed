import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { differences } from '#test/support/compare-rows.ts';
import { KeptAnswers } from '#test/support/kept-answers.ts';
import { pythonBin } from '#test/support/python.ts';
import { sharedCluster, startOwnCluster } from '#test/support/resources.ts';
import { viewTpch } from '#test/slt/fixture.ts';
import { tpchAnswers } from '#test/support/tpch-duckdb.ts';
import { TPCH_QUERIES } from './tpch-queries.ts';

/** 0.01 ships with the project; `TPCH_TEST_SCALE=1` (continuous integration) generates its data with tpchgen-cli. */
const SCALES = [...new Set(['0.01', process.env['TPCH_TEST_SCALE'] ?? '0.01'])];

/** What generates the data, by its release. */
const GENERATOR = /^tpchgen-cli==.*$/m.exec(readFileSync('test/support/python-requirements.txt', 'utf8'))?.[0] ?? '';

/** The files that were loaded, as DuckDB's views. */
async function generatedTpch(cluster: Cluster): Promise<DuckDBConnection> {
  const duckdb = await (await DuckDBInstance.create()).connect();
  await duckdb.run('CREATE SCHEMA tpch');
  await viewTpch(duckdb, cluster);
  await duckdb.run('USE tpch');
  return duckdb;
}

test('there are 22 queries', () => expect(TPCH_QUERIES.length).toBe(22));

describe.each(SCALES)('TPC-H at scale %s: the answers are DuckDB’s on the same files', (scale) => {
  let cluster: Cluster;
  let answers: KeptAnswers;
  const own = new AsyncDisposableStack();
  const session = randomUUID();

  beforeAll(async () => {
    cluster = await clusterWithTpch(scale);
    answers = scale === '0.01' ? tpchAnswers() : new KeptAnswers(`${GENERATOR} ${scale}`, () => generatedTpch(cluster));
    await cluster.sql('USE lake.tpch', { sessionId: session });
  }, 600_000);

  afterAll(async () => {
    await own.disposeAsync();
    await answers?.close();
  });

  async function clusterWithTpch(scale: string): Promise<Cluster> {
    if (scale === '0.01') return (await sharedCluster()).cluster;
    const cluster = own.use(await startOwnCluster());
    const tools = { PATH: `${await pythonBin()}:${process.env['PATH'] ?? ''}` };
    await cluster.cliOk(['load', 'tpch', '--scale', scale], tools);
    return cluster;
  }

  test.each(TPCH_QUERIES)('$name', async ({ sql }) => {
    const expected = await answers.rows(sql);
    const { status, body } = await cluster.query(sql, { sessionId: session, timeoutMs: 120_000 });
    expect(body.message).toBeUndefined();
    expect(status).toBe(200);
    expect(differences(must(body.rows, 'rows'), expected)).toBeNull();
    expect(body.row_count).toBe(expected.length);
    expect(body.columns?.length).toBe(body.types?.length);
  });
});
