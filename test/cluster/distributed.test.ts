import { randomUUID } from 'node:crypto';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import { loadTpch } from '#test/slt/fixture.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { differences } from '#test/support/compare-rows.ts';
import { WorkerMetrics } from '#test/support/worker-metrics.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';

const JOINS = ['auto', 'broadcast', 'partitioned'] as const;

describe.each([2, 3])('TPC-H at scale 0.01 on %i workers, distribution forced', (workers) => {
  let cluster: StartedCluster;
  let duckdb: DuckDBConnection;
  const sessions = new Map(JOINS.map((join) => [join, randomUUID()]));

  beforeAll(async () => {
    cluster = await startOwnCluster({ workers, args: ['--worker-cores', '1'] });
    duckdb = await (await DuckDBInstance.create()).connect();
    await duckdb.run('CREATE SCHEMA tpch');
    await loadTpch(duckdb, cluster, '0.01');
    await duckdb.run('USE tpch');
    for (const [join, sessionId] of sessions) {
      const settings = { distribution: 'force', join_distribution: join, partitions: join === 'auto' ? 'auto' : '4' };
      await cluster.sql('USE lake.tpch', { sessionId });
      for (const [name, value] of Object.entries(settings)) {
        await cluster.sql(`SET skein.${name} = '${value}'`, { sessionId });
      }
    }
  }, 300_000);

  afterAll(async () => {
    await cluster?.stop();
    duckdb?.closeSync();
  });

  test.each(TPCH_QUERIES)(
    '$name gives the rows of DuckDB with every join distribution',
    async ({ sql }) => {
      const expected = await new DuckdbEngine(duckdb).run(sql);
      if (expected.kind === 'error') throw new Error(expected.message);
      for (const [join, sessionId] of sessions) {
        const { body } = await cluster.query(sql, { sessionId, timeoutMs: 120_000 });
        expect(body.message, join).toBeUndefined();
        expect(differences(must(body.rows, 'rows'), expected.rows), join).toBeNull();
      }
    },
    300_000,
  );

  test('all of them at once: each is answered, and rightly', async () => {
    const questions: { readonly name: string; readonly sql: string; readonly rows: readonly (readonly Json[])[] }[] =
      [];
    for (const { name, sql } of TPCH_QUERIES) {
      const expected = await new DuckdbEngine(duckdb).run(sql);
      if (expected.kind === 'error') throw new Error(expected.message);
      questions.push({ name, sql, rows: expected.rows });
    }
    const asked = questions.flatMap(({ name, sql, rows }) =>
      [...sessions].map(async ([join, sessionId]) => {
        const difference = differences(await cluster.sql(sql, { sessionId, timeoutMs: 240_000 }), rows);
        return difference === null ? [] : [`${name}, ${join} joins: ${difference}`];
      }),
    );
    expect((await Promise.all(asked)).flat()).toEqual([]);
  }, 300_000);

  test('EXPLAIN ANALYZE tells of stages and their operators', async () => {
    const sessionId = must(sessions.get('partitioned'), 'a session');
    const sql = must(TPCH_QUERIES[2], 'Q3').sql;
    const explain = async (what: string): Promise<readonly string[]> =>
      (await cluster.sql(`EXPLAIN ${what} ${sql}`, { sessionId })).map(([line]) => line as string);
    const text = (await explain('ANALYZE')).join('\n');
    expect(text).toMatch(/stage \d+ by splits -> hash in 4 partitions: tasks=\d+ rows=[1-9]/);
    expect(text).toMatch(/stage \d+ by partitions -> /);
    expect(text).toMatch(/scan \d+ lake.tpch.lineitem: snapshot=\d+ /);
    expect(text).toContain('HASH_JOIN rows=');
    const json = JSON.parse((await explain('(ANALYZE, FORMAT JSON)')).join('')) as {
      fragments: readonly { tasks: number; operators: unknown[] }[];
    };
    expect(json.fragments.length).toBeGreaterThan(3);
    expect(json.fragments.every(({ tasks, operators }) => tasks > 0 && operators.length > 0)).toBe(true);
    expect((await explain('(TYPE DISTRIBUTED)')).join('\n')).toMatch(/hash\(.*4 ways/);
  });

  test('nothing is left on the workers', async () => {
    const metrics = WorkerMetrics.of(cluster);
    await metrics.until('skein_worker_tasks', (n) => n === 0, 5_000);
    expect(await metrics.sum('skein_worker_tasks_running')).toBe(0);
    expect(await metrics.sum('skein_worker_spool_bytes')).toBe(0);
    expect(await metrics.sum('skein_worker_memory_granted_bytes')).toBe(0);
  });
});
