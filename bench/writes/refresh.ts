import type { Cluster } from '#test/support/cluster.ts';
import { median } from '../report/statistics.ts';

export type RefreshFigures = {
  readonly fullMs: number;
  readonly incrementalMs: number;
  readonly ratio: number;
  /** Groups of the view. */
  readonly groups: number;
};

const STATEMENT_TIMEOUT_MS = 900_000;

/** The pricing summary of TPC-H (query 1) by day: some thousand groups with sums, averages and bounds. */
const QUERY = (table: string): string =>
  `SELECT l_returnflag, l_linestatus, l_shipdate, sum(l_quantity) AS quantity, sum(l_extendedprice * (1 - l_discount)) AS price,
     avg(l_discount) AS discount, min(l_shipdate) AS first, max(l_extendedprice) AS dearest, count(*) AS lines
   FROM ${table} GROUP BY ALL`;

/**
 * Measures refreshes of an aggregate over TPC-H's lineitem: of everything, and after 1 % of new rows. The full one is that of CREATE OR REPLACE
 * with the same query. Takes turns: one warm-up, then `runs` measured rounds.
 */
export async function benchRefresh(cluster: Cluster, schema: string, runs: number): Promise<RefreshFigures> {
  const [table, view] = [`${schema}.lines`, `${schema}.summary`];
  const sql = (text: string): ReturnType<Cluster['sql']> => cluster.sql(text, { timeoutMs: STATEMENT_TIMEOUT_MS });
  const timed = async (text: string): Promise<number> => {
    const started = performance.now();
    await sql(text);
    return performance.now() - started;
  };
  await sql(`DROP MATERIALIZED VIEW IF EXISTS ${view}`);
  await sql(`DROP TABLE IF EXISTS ${table} PURGE`);
  await sql(`CREATE TABLE ${table} AS SELECT * FROM lake.tpch.lineitem`);
  const times: Record<'full' | 'incremental', number[]> = { full: [], incremental: [] };
  for (let round = 0; round <= runs; round++) {
    const fullMs = await timed(`CREATE OR REPLACE MATERIALIZED VIEW ${view} AS ${QUERY(table)}`);
    await sql(`INSERT INTO ${table} SELECT * FROM lake.tpch.lineitem WHERE l_orderkey % 100 = ${round}`);
    const way = JSON.stringify(await sql(`EXPLAIN REFRESH MATERIALIZED VIEW ${view}`));
    if (!way.includes('incremental: merges')) throw new Error(`the refresh is not incremental: ${way}`);
    const incrementalMs = await timed(`REFRESH MATERIALIZED VIEW ${view}`);
    if (round > 0) {
      times.full.push(fullMs);
      times.incremental.push(incrementalMs);
    }
    process.stderr.write('.');
  }
  const groups = Number((await sql(`SELECT count(*) FROM ${view}`))[0]?.[0]);
  await sql(`DROP MATERIALIZED VIEW ${view}`);
  await sql(`DROP TABLE ${table} PURGE`);
  const [fullMs, incrementalMs] = [median(times.full), median(times.incremental)];
  return { fullMs, incrementalMs, ratio: incrementalMs / fullMs, groups };
}
