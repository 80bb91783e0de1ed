/** A public report of a wrong result of DuckDB (github.com/duckdb/duckdb/issues), and what is done about it here. */
export type Report = {
  /** Its number there; one that was found here has none yet. */
  readonly number: number | `own_${number}`;
  /** The tables that the statement reads, each with the query that fills it. */
  readonly tables: Readonly<Record<string, string>>;
  readonly statement: string;
  /** Why the statement is right here although DuckDB alone answers it wrongly; null when DuckDB answers it rightly. */
  readonly remedy: string | null;
  /** A statement that means the same and is answered rightly, where DuckDB is wrong without optimizers, too. */
  readonly truth?: string;
  /** Skein refuses the statement, with 0A000 and advice. */
  readonly refused?: true;
  /** The statement ends with an internal error of DuckDB, which clients are told. */
  readonly fails?: true;
};

const TOP_N = '`top_n_window_elimination` is off';
const SELF_JOIN = '`window_self_join` is off';
const TRUNCATION = '`date_trunc` is hidden from the optimizer when its value is compared so';
const WINDOWS = 'such windows are computed row by row, in `debug_window_mode`';
const REFUSED =
  'refused, with the spelling that is right: `arg_min_null(v, [k])`, `arg_max_null(v, list_distinct([k]))`';
const values = (columns: string, rows: string): string => `SELECT * FROM (VALUES ${rows}) v(${columns})`;

/**
 * Reports newer than DuckDB 1.5.5 (22 July 2026), or open at it, about plans that Skein runs: windows over no rows, the first rows of each
 * group, as-of joins, late materialization, statistics, filters that are pushed down. `duckdb-reports.test.ts` runs each; `docs/duckdb.md` lists
 * them.
 */
export const REPORTS: readonly Report[] = [
  {
    number: 24363,
    tables: { a: values('c0', '(3), (3)') },
    statement:
      'SELECT * FROM (SELECT c0, row_number() OVER (PARTITION BY c0 ORDER BY NULL) AS c1 FROM a) AS u WHERE c1 <= 7',
    remedy: TOP_N,
  },
  {
    number: 23675,
    tables: { a: 'SELECT 1 AS s, 2 AS p WHERE false' },
    statement: 'SELECT p FROM a QUALIFY row_number() OVER (ORDER BY s) <= 1',
    remedy: TOP_N,
  },
  {
    number: 23677,
    tables: { a: values('id', '(1), (2), (3)') },
    statement: 'SELECT id, row_number() OVER (ORDER BY nullif(id % 3, 0) DESC NULLS LAST) AS rn FROM a QUALIFY rn <= 3',
    remedy: TOP_N,
  },
  {
    number: 23678,
    tables: { a: values('id, g, p', '(1, 1, 1), (2, 1, 2), (3, 1, 3), (4, 2, 1), (5, 2, 2)') },
    statement:
      'SELECT id, g, p FROM a QUALIFY row_number(ORDER BY id DESC) OVER (PARTITION BY g ORDER BY p ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) <= 1',
    remedy: TOP_N,
  },
  {
    number: 23588,
    tables: { a: values('id, k, p', "(1, 1, 'x')"), b: values('k, s', '(1, 20), (1, 10)') },
    statement:
      'SELECT id, p FROM (SELECT a.id, a.p, b.s FROM a JOIN b ON a.k = b.k) QUALIFY row_number() OVER (ORDER BY s DESC NULLS LAST) <= 2',
    // DuckDB's own tables alone.
    remedy: null,
  },
  {
    number: 24780,
    tables: { a: values('id, name, made', "(NULL::BIGINT, 'a', ''), (2, 'Zed', '')") },
    statement:
      'SELECT name, bit_and(id) OVER (PARTITION BY id, made), bit_or(id) OVER (PARTITION BY made, made) FROM a',
    remedy: SELF_JOIN,
  },
  {
    number: 24302,
    tables: { a: 'SELECT 1 AS g, i FROM range(1000) r(i)' },
    statement:
      'SELECT bool_and(s = t) FROM (SELECT s, sum(i) OVER () AS t FROM (SELECT i, sum(i) OVER (PARTITION BY g) AS s FROM (SELECT g, i FROM a WHERE random() < 0.5)))',
    remedy: SELF_JOIN,
  },
  {
    number: 21592,
    tables: { a: values('seq, grp', "(1, 'A'), (2, 'A'), (3, 'A'), (1, 'B'), (2, 'B')") },
    statement:
      'SELECT seq, grp, sum(seq) OVER (PARTITION BY grp ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM a',
    remedy: null,
  },
  {
    number: 22791,
    tables: { a: 'SELECT 1 AS id, 10.0::DOUBLE AS x' },
    statement:
      'SELECT id, sum(x) OVER (PARTITION BY id) FROM (SELECT id, x, lag(total, 1, 0) OVER (PARTITION BY id) FROM (SELECT id, x, count(*) OVER (PARTITION BY id) AS total FROM a))',
    remedy: null,
  },
  {
    number: 22846,
    tables: { a: 'SELECT i % 7 AS chat, i AS message FROM range(50) r(i)' },
    statement:
      'SELECT n, count(*) FROM (SELECT count(DISTINCT chat) OVER (PARTITION BY message) AS n, count(*) OVER () FROM a) GROUP BY n',
    remedy: null,
  },
  {
    number: 25819,
    tables: { a: values('id, r', "(1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')") },
    statement:
      'WITH p AS (SELECT x.id AS a, y.id AS b FROM a x JOIN a y ON x.r < y.r) SELECT p.a, x.r || y.r FROM p JOIN a x ON x.id = p.a JOIN a y ON y.id = p.b WHERE x.r < y.r UNION ALL SELECT p.a, y.r || z.r FROM p JOIN a y ON y.id = p.a JOIN a z ON z.id = p.b WHERE y.r < z.r',
    // This text is answered rightly; the report's own is longer.
    remedy: null,
  },
  {
    number: 24624,
    tables: { a: 'SELECT false AS c0', b: "SELECT 'a' AS c1" },
    statement:
      'SELECT count(*) FROM (SELECT * FROM a LEFT JOIN b ON true WHERE NOT ((NOT c0) AND (substring(c1 FROM -4294967296) <> c1)) UNION ALL SELECT * FROM a LEFT JOIN b ON true WHERE ((NOT c0) AND (substring(c1 FROM -4294967296) <> c1)) IS NULL)',
    remedy: null,
  },
  {
    number: 23679,
    tables: { a: values('a, b', '(1, 10), (2, 20), (3, 30)') },
    statement: "SELECT 'a', count(*) FROM a WHERE a > 1 UNION ALL SELECT 'b', count(*) FROM a WHERE b > 1",
    remedy: null,
  },
  {
    number: 25992,
    tables: { a: values('c', '(5), (5), (NULL)') },
    statement: 'SELECT c FROM a WHERE c IS DISTINCT FROM 5 OR c > 7',
    remedy: '`expression_rewriter` is off for such a condition',
  },
  {
    number: 24368,
    tables: { a: values('d', "(NULL::TIMESTAMP), (TIMESTAMP '2020-01-01')") },
    statement: "SELECT d FROM a WHERE date_trunc('month', d) <> TIMESTAMP '2020-01-05'",
    remedy: TRUNCATION,
  },
  {
    number: 24303,
    tables: {
      a: values('d', "(TIMESTAMP '-infinity'), (TIMESTAMP '2025-01-01 12:00:00'), (TIMESTAMP 'infinity')"),
    },
    statement: "SELECT count(*) FROM a WHERE date_trunc('day', d) <= TIMESTAMP 'infinity'",
    remedy: TRUNCATION,
  },
  {
    number: 24306,
    tables: { a: values('d', "(TIMESTAMP '-infinity'), (TIMESTAMP '2025-01-01'), (TIMESTAMP 'infinity')") },
    statement: "SELECT count(*) FROM a WHERE CAST(d AS DATE) = DATE 'infinity'",
    remedy: '`expression_rewriter` is off beside the word `infinity`',
  },
  {
    number: 22267,
    tables: { a: values('id, v, n', '(1, 100, 10), (2, 150, 20), (3, NULL, 5), (4, 50, 2), (5, 300, 30)') },
    statement:
      'SELECT count(*) FROM a o WHERE EXISTS (SELECT 1 FROM (SELECT o.id AS x, i.v AS y FROM a i WHERE o.n > i.n) s WHERE s.y != o.n)',
    remedy: '`deliminator` is off for EXISTS over a derived table',
  },
  {
    number: 20413,
    tables: {
      a: 'SELECT i AS k, i AS t, i % 3 AS u FROM range(20) r(i)',
      b: 'SELECT i % 5 AS k, i AS t, i % 2 AS u FROM range(20) r(i)',
    },
    statement: 'SELECT a.k, b.t FROM a ASOF JOIN b ON a.k = b.k AND a.t >= b.t AND a.u <> b.u',
    remedy: '`column_lifetime` is off for as-of joins',
  },
  {
    number: 19027,
    tables: {
      a: "SELECT 0 AS id, 5 AS t, 'A' AS item",
      b: values('id, t, item, v', "(0, 5, 'A', 8), (0, 5, 'B', 12)"),
    },
    statement:
      "SELECT a.id, b.item, b.v FROM a ASOF LEFT JOIN b ON a.id = b.id AND a.t >= b.t AND (a.item = b.item OR a.item = '*')",
    remedy: null,
  },
  {
    number: 17046,
    tables: { a: values('id, v', '(1, 2), (2, 4)'), b: 'SELECT 1 AS id, 3 AS v' },
    statement: 'SELECT * FROM a ASOF LEFT JOIN b ON a.id <= b.id AND a.id = 1',
    remedy: null,
  },
  {
    number: 24921,
    tables: { a: "SELECT 'a' AS sid, DATE '2020-01-01' AS d" },
    statement:
      'SELECT o.sid, x.h FROM a o, LATERAL (WITH s AS (SELECT sid, d FROM a WHERE sid = o.sid) SELECT EXISTS (SELECT 1 FROM s i WHERE i.sid = c.sid AND i.d <= c.d) AS h FROM s c) x',
    remedy: null,
    fails: true,
  },
  {
    number: 24247,
    tables: { a: 'SELECT [1, 2, 3] AS l FROM range(10)' },
    statement: 'SELECT count(*) FROM a WHERE l[4] IS NULL',
    remedy: null,
  },
  {
    number: 24245,
    tables: { a: values('s', "('Abc'), ('abc'), ('xA'), ('xa')") },
    statement: "SELECT s FROM a WHERE regexp_matches(s COLLATE NOCASE, 'A')",
    remedy: null,
  },
  {
    number: 23639,
    tables: { a: values('k, v', '(5, 20), (4, 30)') },
    statement:
      'SELECT w, b FROM (SELECT sum(v) OVER () AS w, (SELECT sum(i.v) FROM a i WHERE i.k >= o.k - 1) AS b FROM a o) WHERE w IS DISTINCT FROM b',
    remedy: null,
  },
  {
    number: 23688,
    tables: { a: values('id, n', '(1, NULL), (2, 2), (3, 3)'), b: values('id, n', '(2, 2), (3, 99), (4, NULL)') },
    statement: 'SELECT count(*) FROM a LEFT JOIN b ON a.id = b.id WHERE a.n IS NOT DISTINCT FROM b.n',
    remedy: null,
  },
  {
    number: 23691,
    tables: { a: 'SELECT i % 2 = 0 AS b, i % 3 = 0 AS c FROM range(100) r(i)' },
    statement: 'SELECT * FROM (VALUES ((SELECT count(*) FROM a WHERE b)), ((SELECT count(*) FROM a WHERE c))) s(v)',
    remedy: null,
  },
  {
    number: 24542,
    tables: { a: values('a, k', "(1, 'x'), (2, 'y'), (3, 'p')"), b: values('b, k', "(10, 'p'), (11, 'q')") },
    statement:
      'SELECT * FROM (SELECT a.a, b.b FROM a LEFT JOIN b ON a.k = b.k ORDER BY b DESC NULLS FIRST, a LIMIT 2) WHERE b <= 20',
    remedy: null,
  },
  {
    number: 24540,
    tables: {
      a: values('x', '(1), (2), (NULL)'),
      p: values('y', '(2), (3), (NULL)'),
      q: values('z', '(1), (3), (NULL)'),
    },
    statement: 'SELECT * FROM a LEFT JOIN (SELECT y, z FROM p LEFT JOIN q ON y <> z) s ON a.x <> s.y WHERE s.z IS NULL',
    remedy: null,
  },
  {
    number: 24627,
    tables: { a: values('g, x', '(1, 1), (1, 2)') },
    statement: 'SELECT grouping(g), g, list(x ORDER BY x) FROM a GROUP BY ROLLUP (g)',
    remedy: null,
  },
  {
    number: 23932,
    tables: { a: values('k, v', '(1, 1), (-1, 5), (2, 1)'), b: values('k, v', '(1, 5), (-1, 0), (1, 1)') },
    statement: 'SELECT * FROM a ANTI JOIN b ON a.k = b.k AND a.v + b.v > 2',
    remedy: null,
  },
  {
    number: 15238,
    tables: { a: values('x', '(4), (NULL)'), b: 'SELECT NULL::INT AS y FROM range(2)' },
    statement: 'SELECT x, x IN (SELECT y FROM b WHERE x = 4) FROM a',
    remedy: null,
  },
  {
    number: 21160,
    tables: { a: 'SELECT 1 AS id, NULL::VARCHAR AS x, NULL::DOUBLE AS y' },
    statement: 'SELECT id FROM a WHERE x IS NULL ORDER BY y LIMIT 10',
    remedy: null,
  },
  {
    number: 25046,
    tables: {
      a: values(
        'c0, c2, c3',
        "(-189492252, NULL, 'hEC'), (532905665, false, ''), (-946063236, false, '..'), (-1316565506, true, NULL)",
      ),
      b: values('c0, c1', '(-1665512872, false), (-1665512872, NULL), (NULL, false), (NULL, true)'),
    },
    statement:
      'SELECT a.c2, b.c0, a.c3, b.c1 FROM a LEFT JOIN b ON a.c2 != b.c1 AND a.c0 >= b.c0 AND (CASE a.c0 WHEN a.c0 THEN a.c2 END)',
    remedy: null,
  },
  {
    number: 24994,
    tables: { a: "SELECT ('k' || (i % 14))::BLOB AS k FROM range(7000) r(i)" },
    statement: "SELECT count(*) FROM a WHERE k = 'k3'::BLOB",
    remedy: null,
  },
  {
    number: 22924,
    tables: { a: 'SELECT i FROM range(100) r(i)', b: values('i', '(95), (3)') },
    statement: 'SELECT count(*) FROM (SELECT i FROM a ORDER BY i OFFSET 50) x JOIN b USING (i)',
    remedy: null,
  },
  {
    number: 21757,
    tables: { a: 'SELECT i % 10 AS k FROM range(100) r(i)', b: 'SELECT 1::BIGINT AS k WHERE false' },
    statement: 'WITH d AS (SELECT DISTINCT k FROM a) SELECT count(*) FROM d LEFT JOIN b USING (k)',
    remedy: null,
  },
  {
    number: 23294,
    tables: { a: "SELECT md5(i::VARCHAR)::UUID AS u, DATE '2022-07-08' + (i % 100)::INT AS d FROM range(3000) r(i)" },
    statement: "SELECT min(d), max(d) FROM a WHERE u = '00000000-0000-4000-8000-000000000000'::UUID",
    remedy: null,
  },
  {
    number: 21609,
    tables: { a: values('k', '(1), (2), (3)'), b: values('k, v', '(1, 5), (2, NULL)') },
    statement:
      'SELECT * FROM a LEFT JOIN LATERAL (SELECT v AS w FROM b WHERE b.k = a.k) x ON true WHERE x.w IS NOT NULL',
    remedy: null,
  },
  {
    number: 23585,
    tables: { a: 'SELECT 1 AS x', b: 'SELECT 2 AS y' },
    statement:
      '(SELECT row_number() OVER () AS r FROM a, b QUALIFY r < 2 EXCEPT SELECT 1 FROM a, b) UNION (SELECT row_number() OVER () AS r FROM a, b QUALIFY r <= 2)',
    remedy: null,
  },
  {
    number: 24442,
    tables: { a: 'SELECT i AS id, CASE WHEN i < 6 THEN (i * 77) % 211 END AS k FROM range(10) r(i)' },
    statement:
      'SELECT id, mad(k) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) FROM a',
    truth: 'SELECT id, (SELECT mad(k) FROM a y WHERE y.id <> x.id) FROM a x',
    remedy: WINDOWS,
  },
  {
    number: 'own_1',
    tables: { a: 'SELECT i AS id, (i * 77) % 211 AS k FROM range(300) r(i)' },
    statement:
      'SELECT id, median(DISTINCT k) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) FROM a',
    truth: 'SELECT id, (SELECT median(DISTINCT k) FROM a y WHERE y.id <> x.id) FROM a x',
    remedy: WINDOWS,
  },
  {
    number: 'own_2',
    tables: { a: 'SELECT i AS id, CASE WHEN i % 40 >= 35 THEN i END AS k FROM range(200) r(i)' },
    statement:
      'SELECT id, arg_min_nulls_last(id, k) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM a',
    truth:
      'SELECT id, arg_min_null(id, [k]) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM a',
    remedy: REFUSED,
    refused: true,
  },
  {
    number: 'own_3',
    tables: { a: 'SELECT i AS id, CASE WHEN i >= 100 THEN i - 300 END AS k FROM range(200) r(i)' },
    statement:
      'SELECT id, arg_max_nulls_last(id, k) OVER (ORDER BY id ROWS BETWEEN 20 PRECEDING AND UNBOUNDED FOLLOWING) FROM a',
    truth:
      'SELECT id, arg_max_null(id, list_distinct([k])) OVER (ORDER BY id ROWS BETWEEN 20 PRECEDING AND UNBOUNDED FOLLOWING) FROM a',
    remedy: REFUSED,
    refused: true,
  },
  {
    number: 'own_4',
    tables: { a: 'SELECT i AS id, i // 3 AS t, CASE WHEN i < 6 THEN (i * 77) % 211 END AS k FROM range(10) r(i)' },
    statement:
      'SELECT id, count(*) OVER (ORDER BY t RANGE UNBOUNDED PRECEDING EXCLUDE TIES), mad(k) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) FROM a',
    truth:
      'SELECT id, (SELECT count(*) FROM a y WHERE y.t < x.t) + 1, (SELECT mad(k) FROM a y WHERE y.id <> x.id) FROM a x',
    remedy: WINDOWS,
  },
];
