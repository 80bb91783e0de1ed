import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { refusedFragments } from '#test/support/refused-fragments.ts';
import { differences } from '#test/support/compare-rows.ts';
import { tpchAnswers } from '#test/support/tpch-duckdb.ts';
import { WorkerMetrics } from '#test/support/worker-metrics.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';

/** Queries whose fragments were once invalid SQL. */
const ONCE_INVALID = [
  'SELECT count(DISTINCT (o_custkey, o_orderstatus)) FROM orders',
  "SELECT count(*) FROM part WHERE p_name ~ '[a-f].*'",
  "SELECT count(*) FROM part WHERE regexp_full_match(p_name, '[a-f][a-z ]*')",
  "SELECT o_orderkey FROM orders WHERE o_orderkey::INTEGER::BIT = '00000000000000000000000000000001'::BIT",
  "SELECT st_astext(('POINT(' || o_orderkey || ' 2)')::GEOMETRY) AS g FROM orders ORDER BY g LIMIT 3",
  'SELECT reservoir_quantile(o_totalprice, [0, 0.5], 20000), quantile_disc(o_totalprice, [0.1, 0.5]) FROM orders',
  'SELECT max((o_custkey, o_orderstatus))::VARCHAR, min(row(o_orderkey))::VARCHAR, max(array_zip([o_custkey], [o_orderstatus]))::VARCHAR FROM orders',
  'SELECT r::VARCHAR, n FROM (SELECT struct_values({a: o_orderstatus, b: o_orderpriority}) AS r, count(*) AS n FROM orders GROUP BY r) ORDER BY r',
  "SELECT r::VARCHAR FROM (SELECT (o_orderstatus, o_orderpriority) AS r FROM orders UNION SELECT ('x', n_name) FROM nation) ORDER BY r LIMIT 9",
];

const JOINS = ['auto', 'broadcast', 'partitioned'] as const;
const WIDTHS = { auto: 'auto', broadcast: 'narrow', partitioned: 'wide' } as const;

/** Runs TPC-H in fragments on `workers` workers of `cores` slots, under every join distribution, and compares each answer with DuckDB's. */
export function testDistributedTpch(workers: number, cores: number): void {
  describe(`TPC-H at scale 0.01 on ${workers} workers, distribution forced`, () => {
    let cluster: StartedCluster;
    const answers = tpchAnswers();
    const sessions = new Map(JOINS.map((join) => [join, randomUUID()]));

    beforeAll(async () => {
      cluster = await startOwnCluster({ workers, args: ['--worker-cores', String(cores)] });
      await cluster.load(['tpch', '--scale', '0.01']);
      for (const [join, sessionId] of sessions) {
        const settings = {
          distribution: 'force',
          join_distribution: join,
          partitions: join === 'auto' ? 'auto' : '4',
          task_width: WIDTHS[join],
        };
        await cluster.sql('USE lake.tpch', { sessionId });
        for (const [name, value] of Object.entries(settings)) {
          await cluster.sql(`SET skein.${name} = '${value}'`, { sessionId });
        }
      }
    }, 300_000);

    afterAll(async () => {
      await cluster?.stop();
      await answers.close();
    });

    test.each(TPCH_QUERIES)(
      '$name gives the rows of DuckDB with every join distribution',
      async ({ sql }) => {
        const expected = await answers.rows(sql);
        for (const [join, sessionId] of sessions) {
          const { body } = await cluster.query(sql, { sessionId, timeoutMs: 120_000 });
          expect(body.message, join).toBeUndefined();
          expect(differences(must(body.rows, 'rows'), expected), join).toBeNull();
        }
      },
      300_000,
    );

    test('all of them at once: each is answered, and rightly', async () => {
      const questions = await Promise.all(
        TPCH_QUERIES.map(async (one) => ({ ...one, rows: await answers.rows(one.sql) })),
      );
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
      expect(text).toMatch(/stage \d+ by splits -> hash in 4 partitions: tasks=\d+ estimated_rows=\d+ rows=[1-9]/);
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

    test.each(ONCE_INVALID)('in fragments: %s', async (sql) => {
      const expected = await answers.rows(sql);
      for (const [join, sessionId] of sessions) {
        const [plan = []] = await cluster.sql(`EXPLAIN (TYPE DISTRIBUTED) ${sql}`, { sessionId });
        expect(plan[0], join).not.toMatch(/runs whole/);
        expect(differences(await cluster.sql(sql, { sessionId }), expected), join).toBeNull();
      }
    });

    test('fresh literals: no fragment is printed from a plan that was made for others, which imply a condition', async () => {
      const sessionId = must(sessions.get('auto'), 'a session');
      for (const key of [700, 800, 5]) {
        const sql = `SELECT count(*) FROM orders WHERE o_custkey > ${key} AND o_custkey > 500 + 1`;
        expect(await cluster.sql(sql, { sessionId })).toEqual(await answers.rows(sql));
      }
    });

    test('DuckDB has bound every fragment that was printed', async () => {
      expect(await refusedFragments(cluster)).toBe(0);
    });

    test('nothing is left on the workers', async () => {
      const metrics = WorkerMetrics.of(cluster);
      await metrics.until('skein_worker_tasks', (n) => n === 0, 5_000);
      expect(await metrics.sum('skein_worker_tasks_running')).toBe(0);
      expect(await metrics.sum('skein_worker_spool_bytes')).toBe(0);
      expect(await metrics.sum('skein_worker_memory_granted_bytes')).toBe(0);
    });
  });
}
