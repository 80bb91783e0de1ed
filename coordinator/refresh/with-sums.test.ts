import { expect, test } from 'vitest';
import { withSums } from './with-sums.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

/** The query with the sum `s` and the count `c` of the column at `place`; `width` columns. */
const summed = (sql: string, place: number, width: number): string | null =>
  withSums(sql, [{ place, scale: 2, sum: 's', count: 'c' }], width);

const SUM = (argument: string, filter = ''): string =>
  `sum(CAST(${argument} AS DECIMAL(38,2)))${filter} AS "s", count(${argument})${filter} AS "c"`;

test.each([
  ['SELECT k, avg(x) AS m FROM t GROUP BY 1', 1, 2, `SELECT k, avg(x) AS m, ${SUM('x')} FROM t GROUP BY 1`],
  ['select AVG ( x + f(y, z) ) from t', 0, 1, `select AVG ( x + f(y, z) ), ${SUM(' x + f(y, z) ')} from t`],
  ['SELECT m: "avg"(x), k', 0, 2, `SELECT m: "avg"(x), k, ${SUM('x')}`],
  ["SELECT mean(x) 'm', FROM t", 0, 1, `SELECT mean(x) 'm', ${SUM('x')} FROM t`],
  [
    "SELECT ALL avg(x) FILTER (WHERE y) m, ')' AS k FROM t",
    0,
    2,
    `SELECT ALL avg(x) FILTER (WHERE y) m, ')' AS k, ${SUM('x', ' FILTER (WHERE y)')} FROM t`,
  ],
  ['FROM t SELECT avg(x -- )\n) GROUP BY ALL', 0, 1, `FROM t SELECT avg(x -- )\n), ${SUM('x -- )\n')} GROUP BY ALL`],
  [
    'WITH a AS (SELECT 1 AS x) SELECT x IS DISTINCT FROM y AS d, avg(x) FROM a',
    1,
    2,
    `WITH a AS (SELECT 1 AS x) SELECT x IS DISTINCT FROM y AS d, avg(x), ${SUM('x')} FROM a`,
  ],
  [
    'SELECT * FROM (SELECT k, avg(x) FROM t GROUP BY k\n) AS "v"("a", "b")',
    1,
    2,
    `SELECT * FROM (SELECT k, avg(x), ${SUM('x')} FROM t GROUP BY k\n) AS "v"("a", "b", "s", "c")`,
  ],
])('%s: the sums stand behind the columns', (sql, place, width, expected) => {
  expect(summed(sql, place, width)).toBe(expected);
});

test.each([
  'SELECT m FROM (SELECT avg(x) AS m FROM t)',
  'SELECT (avg(x)) FROM t',
  'SELECT x.avg() FROM t',
  'SELECT avg(x)::INT FROM t',
  'SELECT avg(x) + 1 FROM t',
  'SELECT s.avg(x) FROM t',
  'SELECT avg(x) OVER () FROM t',
  'SELECT avg(x), k FROM t',
  'SELECT avg(x) FROM t UNION ALL SELECT 1',
  '(SELECT avg(x) FROM t) UNION ALL FROM u',
  'SELECT avg(x) FROM t;',
  'SELECT , avg(x) FROM t',
  'SELECT avg(x FROM t',
  "SELECT avg(x) AS 'm FROM t",
  'SELECT avg(x)) FROM t',
  'FROM t',
  '',
])('%s: left as it is', (sql) => expect(summed(sql, 0, 1)).toBeNull());

test('a text of a megabyte takes no longer than its length asks for', () => {
  const started = performance.now();
  for (const piece of ['(', 'avg(x), ', ')', 'SELECT ', "'", 'a: ', '[{'])
    summed(`SELECT ${piece.repeat(2 ** 20 / piece.length)}`, 0, 1);
  expect(performance.now() - started).toBeLessThan(5_000 * machineSlowness());
});
