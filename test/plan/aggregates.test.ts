import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { AGGREGATE_SPLITS } from '#coordinator/distributor/place/aggregate-splits.ts';
import { printJson } from '#shared/json.ts';
import { DuckdbEngine } from '#test/slt/duckdb-engine.ts';
import { bagDifferences } from '#test/support/compare-rows.ts';
import { distributedRunner, type DistributedRunner } from '#test/support/run-distributed.ts';

let duckdb: DuckDBConnection;
let runner: DistributedRunner;

beforeAll(async () => {
  duckdb = await (await DuckDBInstance.create()).connect();
  // Groups of many rows, of one, and of nothing but NULLs; big values that are near each other; ties.
  await duckdb.run(`CREATE SCHEMA s; CREATE TABLE s.t AS SELECT
    i % 7 AS g, CASE WHEN i % 3 = 0 THEN NULL ELSE i % 5 END AS h,
    CASE WHEN i % 11 = 0 OR i % 7 = 6 THEN NULL ELSE (i * 37) % 101 END AS a,
    CASE WHEN i % 13 = 0 THEN NULL ELSE (i * 53) % 97 END AS b,
    CASE WHEN i % 11 = 0 OR i % 7 = 6 THEN NULL ELSE (i * 17 % 1009) / 8.0 + 1e4 END::DOUBLE AS x,
    CASE WHEN i % 13 = 0 THEN NULL ELSE (i * 29 % 997) / 4.0 END::DOUBLE AS y,
    ((i * 31) % 1013)::DECIMAL(12, 2) AS d, i % 2 = 0 AS f, 'v' || (i % 23) AS v, i * 0 + 5 AS o
    FROM range(2000) AS r(i) UNION ALL SELECT 99, 1, 5, 6, 1.5, 2.5, 3.25, true, 'one', 5; USE s`);
  runner = await distributedRunner(duckdb, 's');
}, 60_000);

test('the table names every aggregate of DuckDB', async () => {
  const rows = await duckdb.runAndReadAll(
    `SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate' ORDER BY 1`,
  );
  expect(Object.keys(AGGREGATE_SPLITS).sort()).toEqual(rows.getRows().map(([name]) => String(name)));
});

/** Calls whose answer does not depend on the order of the rows. */
const CALLS = [
  'count(*), count(a), count(x) FILTER (WHERE f), count_if(f), regr_count(y, x)',
  'sum(a), sum(d), sum(y), sum(a) FILTER (WHERE b > 50), fsum(y), kahan_sum(y)',
  'avg(a), avg(d), avg(y), mean(b), favg(y), avg(d) FILTER (WHERE f)',
  'min(a), max(d), min(v), max(v), min(x) FILTER (WHERE b > 95)',
  'bool_and(f), bool_or(f), bit_and(a), bit_or(b), bit_xor(a)',
  'product(1 + y / 1e6)',
  'any_value(o), first(o), last(o), arbitrary(o)',
  'arg_min(v, d * 10000 + b), arg_max(a, x * 1000 + y), min_by(b, v || x || y), max_by(v, d * 1000 + a)',
  'var_pop(x), var_samp(x), variance(y), stddev(x), stddev_pop(y), stddev_samp(y), sem(y), var_pop(d)',
  'covar_pop(y, x), covar_samp(x, y), regr_sxx(y, x), regr_syy(y, x), regr_sxy(y, x), regr_avgx(y, x), regr_avgy(y, x)',
  'corr(y, a), regr_slope(y, a), regr_intercept(y, a), skewness(y), kurtosis(y)',
  'median(a), quantile_cont(y, 0.3), quantile_disc(a, [0.1, 0.9]), mad(y), mode(o), entropy(f)',
  'sum(a), sum(DISTINCT a), avg(a), avg(DISTINCT a), count(a), count(DISTINCT a), count(*), sum(a) FILTER (WHERE f)',
  'count(o), avg(o), sum(o), count(*), avg(o * 2 + g), count(o) FILTER (WHERE f), count(TRY_CAST(v AS INTEGER)), count(d)',
  'count(DISTINCT a), sum(DISTINCT b), avg(DISTINCT d), count(*), sum(a)',
  'count(DISTINCT v), count(DISTINCT a) FILTER (WHERE f), max(DISTINCT b)',
  `list(DISTINCT a ORDER BY a), string_agg(DISTINCT v, ',' ORDER BY v)`,
  `string_agg(v, ',' ORDER BY v, d, a, b), list(v ORDER BY v DESC, d, a), histogram(v), max(a, 3)`,
];
const SHAPES = [
  ['all rows', (calls: string) => `SELECT ${calls} FROM t`],
  ['no rows', (calls: string) => `SELECT ${calls} FROM t WHERE a = 1000`],
  ['groups', (calls: string) => `SELECT g, h, ${calls} FROM t GROUP BY g, h`],
  ['grouping sets', (calls: string) => `SELECT g, h, grouping(g), ${calls} FROM t GROUP BY CUBE (g, h)`],
  ['a set twice', (calls: string) => `SELECT g, ${calls} FROM t GROUP BY GROUPING SETS ((g), (g), ())`],
] as const;

describe.each(SHAPES)('%s', (_name, shape) => {
  test.each(CALLS)('%s', async (calls) => {
    const sql = shape(calls);
    const expected = await new DuckdbEngine(duckdb).run(sql);
    if (expected.kind === 'error') throw new Error(expected.message);
    for (const gatherGroupsMax of [0, 10_000]) {
      const limits = {
        gatherGroupsMax,
        chainedRowsMin: 0,
        partitionBytesMin: 1,
        readEverywhereBytesMax: 0,
        repeatedBytesMax: 0,
      };
      const { rows, plans } = await runner.run(sql, { workers: 3, limits });
      expect(plans.map(({ kind }) => kind)).not.toContain('whole');
      expect(bagDifferences(rows, expected.rows)).toBeNull();
    }
  });
});

/** Calls that the sets' results are merged of. */
const MERGED = CALLS.slice(0, 5);
const SETS = [
  'ROLLUP (g, h, f)',
  'CUBE (g, h)',
  'GROUPING SETS ((g, h, f), (f), (g, f), (h), ())',
  'g, ROLLUP (h, f)',
  'ROLLUP (g + 1, coalesce(h, 7), v)',
];

describe.each(SETS)('sets that are computed from each other: %s', (sets) => {
  const columns = sets.includes('+') ? 'g + 1, coalesce(h, 7), v' : sets.includes('f') ? 'g, h, f' : 'g, h';
  test.each(['t', '(SELECT * FROM t WHERE a = 1000) AS none'].flatMap((from) => MERGED.map((calls) => [calls, from])))(
    '%s FROM %s',
    async (calls, from) => {
      const sql = `SELECT ${columns}, grouping(${columns}), ${calls} FROM ${from} GROUP BY ${sets}`;
      const expected = await new DuckdbEngine(duckdb).run(sql);
      if (expected.kind === 'error') throw new Error(expected.message);
      for (const workers of [1, 3]) {
        const limits = { chainedRowsMin: 0, partitionBytesMin: 1, readEverywhereBytesMax: 0, repeatedBytesMax: 0 };
        const { rows, plans } = await runner.run(sql, { workers, limits });
        const texts = plans.flatMap((plan) => (plan.kind === 'whole' ? [] : plan.fragments.map(({ sql }) => sql)));
        if (from === 't') expect(printJson(texts)).toContain('AS MATERIALIZED');
        expect(bagDifferences(rows, expected.rows)).toBeNull();
      }
    },
  );
});
