import { expect, test } from 'vitest';
import { hasUnsoundWindows, unsoundOptimizers } from './unsound-optimizers.ts';

const ALWAYS = ['top_n_window_elimination', 'window_self_join'];

test.each([
  ['SELECT a FROM t WHERE a = 5 OR b > 7', []],
  ['WITH c AS (SELECT a FROM t, t u) SELECT * FROM c, c d', ['common_subplan']],
  ['SELECT TRY(abs(x) + abs(x)) FROM t', ['common_subexpressions']],
  ['SELECT * FROM a ASOF JOIN b USING (k, t)', ['column_lifetime']],
  ["SELECT d FROM t WHERE d::DATE = DATE 'infinity'", ['expression_rewriter']],
  ['SELECT a FROM t WHERE a IS DISTINCT FROM 5 OR a > 7', ['expression_rewriter']],
  ['SELECT a FROM t WHERE 5 IS NOT DISTINCT FROM a OR a > 7', ['expression_rewriter']],
  ['SELECT c FROM t WHERE (NOT (c IS TRUE)) OR NOT (c < TRUE)', ['expression_rewriter']],
  ['SELECT c FROM t WHERE c IS  NOT\nfalse OR c < d', ['expression_rewriter']],
  ['SELECT a FROM t WHERE a IS DISTINCT FROM 5', []],
  ['SELECT 1 FROM t0 JOIN t1 ON t0.c0 IS NOT DISTINCT FROM t1.c2 WHERE t0.a = 1 OR t0.a = 3', []],
  ['SELECT 1 FROM t o WHERE EXISTS (SELECT 1 FROM (SELECT o.a FROM u) s)', ['deliminator']],
  ['SELECT 1 FROM (SELECT 1 FROM t) o WHERE EXISTS (SELECT 1 FROM u WHERE u.a = o.a)', []],
])('optimizers that are off on a worker: %s', (sql, expected) => {
  expect(unsoundOptimizers({ sql, process: 'worker', mentions: 3 })).toEqual([...ALWAYS, ...expected]);
});

test('a planner, which reads no files, folds constants beside such a condition', () => {
  const sql = 'SELECT a FROM t WHERE a IS DISTINCT FROM 5 OR a > 7';
  expect(unsoundOptimizers({ sql, process: 'planner', mentions: 0 })).toEqual(ALWAYS);
});

test.each([
  ['SELECT mad(k) OVER (ORDER BY i ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM t', true],
  ['SELECT median(DISTINCT k) OVER w FROM t WINDOW w AS (ORDER BY i ROWS 3 PRECEDING\nexclude/**/TIES)', true],
  ['SELECT "quantile_cont"(DISTINCT k, 0.5) OVER (ROWS 3 PRECEDING EXCLUDE GROUP) FROM t', true],
  ['SELECT mad(k) OVER (ORDER BY i) FROM t', false],
  ['SELECT count(*) OVER (ORDER BY i RANGE UNBOUNDED PRECEDING EXCLUDE TIES) FROM t', false],
  ['SELECT median(k) OVER (ORDER BY i RANGE UNBOUNDED PRECEDING EXCLUDE TIES) FROM t', false],
  ['SELECT * EXCLUDE (k) FROM t', false],
])('windows that are computed row by row: %s', (sql, expected) => {
  expect(hasUnsoundWindows(sql)).toBe(expected);
});
