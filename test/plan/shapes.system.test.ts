import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { orderDifferences, orderedAnswer } from '#test/support/ordered-answer.ts';
import { distributedRunner, type DistributedRunner } from '#test/support/run-distributed.ts';

let duckdb: DuckDBConnection;
let runner: DistributedRunner;

beforeAll(async () => {
  duckdb = await (await DuckDBInstance.create()).connect();
  // Keys with NULLs, doubles and one that most rows have; `e` is empty, `n` has a NULL in its only column.
  await duckdb.run(`CREATE SCHEMA s;
    CREATE TABLE s.l AS SELECT i AS id, CASE WHEN i % 5 = 0 THEN NULL WHEN i % 2 = 0 THEN 7 ELSE i % 23 END AS k, i % 3 AS g, i * 2 AS v FROM range(200) r(i);
    CREATE TABLE s.r AS SELECT i AS id, CASE WHEN i % 7 = 0 THEN NULL ELSE i % 31 END AS k, i % 4 AS g, i + 1 AS w FROM range(90) r(i);
    CREATE TABLE s.u AS SELECT i AS k, 'n' || i AS name FROM range(31) r(i);
    CREATE TABLE s.e AS SELECT 1 AS k, 2 AS v WHERE false;
    CREATE TABLE s.n AS SELECT * FROM (VALUES (1), (NULL), (7)) t(k);
    USE s`);
  runner = await distributedRunner(duckdb, 's');
});

const joins = (type: string): readonly string[] => [
  `SELECT * FROM l ${type} JOIN r ON l.k = r.k`,
  `SELECT l.k, count(*), sum(r.w) FROM l ${type} JOIN r ON l.k = r.k GROUP BY l.k`,
  `SELECT r.k, count(*), sum(l.v) FROM l ${type} JOIN r ON l.k = r.k AND l.g = r.g GROUP BY r.k`,
  `SELECT * FROM l ${type} JOIN r ON l.k IS NOT DISTINCT FROM r.k AND l.v > r.w`,
  `SELECT * FROM l ${type} JOIN e ON l.k = e.k`,
  `SELECT * FROM e ${type} JOIN l ON l.k = e.k`,
  `SELECT * FROM l ${type} JOIN r ON l.k = r.k ${type} JOIN u ON u.k = r.k`,
  `SELECT u.name, count(*) FROM l ${type} JOIN r ON l.k = r.k ${type} JOIN u ON u.k = l.k GROUP BY 1`,
];

const alternatives = (type: string): readonly string[] => [
  `SELECT * FROM l ${type} JOIN r ON l.k = r.k WHERE (l.g = 1 AND r.w < 20) OR (l.g = 2 AND r.w > 60)`,
  `SELECT * FROM l ${type} JOIN r ON l.k = r.k WHERE (l.g = 1 AND r.w < 20) OR (l.g = 2 AND l.v > 60)`,
  `SELECT * FROM l ${type} JOIN r ON l.k = r.k WHERE (l.g = 1 AND r.w IS NULL) OR (l.g IS NULL AND r.w > 6)`,
  `SELECT r.w FROM l ${type} JOIN r ON l.k = r.k JOIN u ON u.k = r.g
   WHERE (u.name = 'n1' AND l.v IN (2, 4, 14) AND r.w > l.v) OR (u.name IN ('n2', 'n3') AND l.v BETWEEN 8 AND 90)`,
];

const QUERIES: Readonly<Record<string, readonly string[]>> = {
  'inner joins': joins('INNER'),
  'left joins': joins('LEFT'),
  'right joins': joins('RIGHT'),
  'full joins': joins('FULL'),
  'other joins': [
    'SELECT * FROM l SEMI JOIN r ON l.k = r.k',
    'SELECT * FROM l ANTI JOIN r ON l.k = r.k',
    'SELECT * FROM l CROSS JOIN u WHERE l.v < u.k',
    'SELECT * FROM l JOIN r ON l.v < r.w AND l.g <> r.g',
    'SELECT l.id, r.id FROM l LEFT JOIN r ON l.v < r.w AND r.g = 99',
    'SELECT l.id, max(r.w) FROM l ASOF JOIN r ON l.g = r.g AND l.v >= r.w GROUP BY 1',
    'SELECT l.id, r.w FROM l ASOF LEFT JOIN r ON l.v >= r.w',
    'SELECT l.id, l.k, r.w, r.k FROM l ASOF JOIN r ON l.g = r.g AND l.v >= r.w AND l.k <> r.k',
    'SELECT l.id, l.k, l.v, r.w, r.k FROM l ASOF LEFT JOIN r ON l.g = r.g AND l.v >= r.w AND (l.k + r.k < 20 OR l.v = 4)',
    'SELECT a.k, b.k FROM l a JOIN l b ON a.id = b.id + 1 JOIN l c ON c.id = a.id',
  ],
  'alternatives over both sides': ['', 'LEFT', 'RIGHT', 'FULL', 'ASOF', 'ASOF LEFT'].flatMap((type) => [
    `SELECT l.id, r.w FROM l ${type} JOIN r ON l.v ${type.startsWith('ASOF') ? '>=' : '='} r.w
     WHERE (l.g = 1 AND r.g = 2) OR (l.g = 2 AND r.g = 3)`,
    ...(type.startsWith('ASOF') ? [] : alternatives(type)),
  ]),
  subqueries: [
    'SELECT id FROM l WHERE k IN (SELECT k FROM r)',
    'SELECT id FROM l WHERE k NOT IN (SELECT k FROM r)',
    'SELECT id FROM l WHERE k NOT IN (SELECT k FROM r WHERE k IS NOT NULL)',
    'SELECT id, k IN (SELECT k FROM n), k NOT IN (SELECT k FROM n), k IN (SELECT k FROM e) FROM l',
    'SELECT id, EXISTS (SELECT 1 FROM r WHERE r.k = l.k), g IN (SELECT g FROM r WHERE r.k = l.k) FROM l',
    'SELECT id, g NOT IN (SELECT r.g FROM r WHERE r.k = l.k) FROM l',
    'SELECT id, (SELECT max(w) FROM r WHERE r.k = l.k), (SELECT count(*) FROM r WHERE r.g = l.g) FROM l',
    'SELECT id FROM l WHERE v > (SELECT avg(w) FROM r WHERE r.k = l.k)',
    'SELECT id FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE r.k = l.k AND r.w > l.v)',
    'SELECT id FROM l WHERE v > (SELECT avg(v) FROM l) AND k = (SELECT max(k) FROM r)',
    'SELECT l.id, x.w FROM l, LATERAL (SELECT w FROM r WHERE r.k = l.k ORDER BY w LIMIT 2) x',
    'SELECT id FROM l WHERE v = ANY (SELECT w FROM r WHERE r.g = l.g) OR v > ALL (SELECT w FROM r)',
  ],
  'set operations': [
    'SELECT k FROM l UNION SELECT k FROM r',
    'SELECT k, g FROM l UNION ALL SELECT k, g FROM r UNION ALL SELECT 1, 2',
    'SELECT k FROM l INTERSECT SELECT k FROM r',
    'SELECT k FROM l INTERSECT ALL SELECT k FROM r',
    'SELECT k FROM l EXCEPT SELECT k FROM r',
    'SELECT k FROM l EXCEPT ALL SELECT k FROM r',
    'SELECT k, count(*) FROM (SELECT k FROM l UNION ALL SELECT k FROM r UNION ALL SELECT k FROM u) GROUP BY k',
    'SELECT g, sum(c) FROM (SELECT g, count(*) c FROM l GROUP BY g UNION ALL SELECT g, w FROM r) GROUP BY g',
    'SELECT * FROM (SELECT k FROM l LIMIT 0) UNION ALL SELECT k FROM e',
    'SELECT k FROM l EXCEPT SELECT k FROM e',
    'SELECT k FROM l EXCEPT ALL (SELECT k FROM r WHERE w > 1000 ORDER BY k LIMIT 3)',
    'SELECT k FROM l UNION (SELECT k FROM r WHERE w > 1000 ORDER BY k LIMIT 3)',
    'SELECT k FROM l INTERSECT (SELECT k FROM r WHERE w > 1000 ORDER BY k LIMIT 3)',
    'SELECT k FROM e UNION ALL SELECT max(k) FROM l UNION ALL SELECT unnest([1, 2])',
  ],
  'distinct and windows': [
    'SELECT DISTINCT k, g FROM l',
    'SELECT DISTINCT ON (k) k, id FROM l ORDER BY k, id',
    'SELECT count(*) FROM (SELECT DISTINCT k FROM l JOIN r USING (k))',
    'SELECT id, sum(v) OVER (PARTITION BY k), row_number() OVER (PARTITION BY k ORDER BY id) FROM l',
    'SELECT id, sum(v) OVER (PARTITION BY k), max(v) OVER (PARTITION BY g), rank() OVER (PARTITION BY k ORDER BY v) FROM l',
    'SELECT id, sum(v) OVER (PARTITION BY k, g), count(*) OVER (PARTITION BY k) FROM l',
    'SELECT id, sum(v) OVER (ORDER BY id), count(*) OVER (PARTITION BY k) FROM l',
    'SELECT k, id FROM l QUALIFY row_number() OVER (PARTITION BY k ORDER BY v DESC, id) <= 3',
    'SELECT k, v FROM l QUALIFY rank() OVER (PARTITION BY g ORDER BY v) < 5',
    'SELECT k, s, rank() OVER (ORDER BY s DESC, k) FROM (SELECT k, sum(v) s FROM l GROUP BY k)',
    'SELECT k, sum(sum(v)) OVER (PARTITION BY k) FROM l GROUP BY k, g',
  ],
  'limits and orders': [
    'SELECT id, v FROM l ORDER BY v DESC LIMIT 7',
    'SELECT id FROM l ORDER BY id LIMIT 5 OFFSET 20',
    'SELECT count(*) FROM (SELECT * FROM l LIMIT 17 OFFSET 4)',
    'SELECT count(*) FROM (SELECT * FROM l LIMIT 10%)',
    'SELECT k, sum(v) FROM l GROUP BY k ORDER BY 2 DESC, 1 LIMIT 3',
    'SELECT * FROM l JOIN (SELECT k, id FROM r ORDER BY id LIMIT 5) x ON l.k = x.k',
    'SELECT * FROM l LEFT JOIN (SELECT max(k) k FROM r) x ON l.k = x.k',
    'SELECT list(id ORDER BY id) FROM (SELECT id FROM l ORDER BY id LIMIT 5)',
    'SELECT count(*) FROM l LIMIT (SELECT 3)',
  ],
  'common table expressions': [
    'WITH c AS MATERIALIZED (SELECT k, sum(v) s FROM l GROUP BY k) SELECT a.k, b.s FROM c a JOIN c b ON a.k = b.k',
    'WITH c AS (SELECT k, sum(v) s FROM l GROUP BY k) SELECT * FROM c WHERE s > (SELECT avg(s) FROM c)',
    'WITH c AS MATERIALIZED (SELECT * FROM l), d AS MATERIALIZED (SELECT k, count(*) n FROM c GROUP BY k) SELECT c.id, d.n FROM c JOIN d ON c.k = d.k WHERE c.v > (SELECT avg(n) FROM d)',
    'WITH c AS MATERIALIZED (SELECT k FROM e) SELECT count(*) FROM c a FULL JOIN c b ON a.k = b.k',
    'WITH c AS MATERIALIZED (SELECT k, g FROM l) SELECT k FROM c UNION ALL SELECT g FROM c',
    'WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT n, count(*) FROM t JOIN l ON l.k = t.n GROUP BY n',
  ],
  // The values are compared as text, because their fields have no names there, either.
  'structs whose fields have no names': [
    'SELECT count(DISTINCT (k, g)), max((v, k)), min(struct_values({a: v, b: k})), max(array_zip([k], [v])) FROM l',
    'SELECT (k, g) AS x, count(*), any_value(row(g)) FROM l GROUP BY x',
    'SELECT k, list((g, row(v)) ORDER BY v), first(CASE WHEN g = 0 THEN NULL ELSE (v, k) END ORDER BY v) FROM l GROUP BY k',
    'SELECT (k, v) AS x FROM l ORDER BY x LIMIT 7',
    "SELECT (k, 'l') AS x FROM l UNION SELECT (k, name) FROM u",
    'SELECT DISTINCT row(row(k), [row(g)], {a: row(k)}) FROM l',
    'SELECT a.x, b.id FROM (SELECT (k, g) AS x FROM l) a JOIN (SELECT (k, g) AS x, id FROM r) b ON a.x = b.x',
    'SELECT a.x, b.x FROM (SELECT id, k, (k, g) AS x FROM l) a FULL JOIN (SELECT k, map([row(g)], [row(k)]) AS x FROM r) b ON a.k = b.k',
    'SELECT x, row_number() OVER (PARTITION BY x ORDER BY id) FROM (SELECT id, (k, g) AS x FROM l)',
    'SELECT k, max(x) FROM (SELECT k, CASE WHEN g = 1 THEN (v, k) END AS x FROM l) GROUP BY k',
    'SELECT id FROM l WHERE (k, g) IN (SELECT (k, g) FROM r)',
    'SELECT max(array_value((k, v), (g, v))), count(*) FROM l',
    'SELECT max(union_value(a := (k, v))) FROM l',
    'SELECT coalesce(max((k, v)) FILTER (v < 0), (1, 2)), count(DISTINCT [(k, g)]) FROM l',
    "SELECT x::VARCHAR, count(*) FROM (SELECT (k, 'x') AS x FROM l) GROUP BY x",
  ].map((sql) => `SELECT COLUMNS(*)::VARCHAR FROM (${sql})`),
  'unnest, generators, values': [
    'SELECT id, unnest([k, v]) FROM l',
    'SELECT l.id, x FROM l, unnest([g, 2]) t(x)',
    'SELECT * FROM range(10) t(i) JOIN l ON l.id = t.i',
    'SELECT t.i, count(l.id) FROM range(40) t(i) LEFT JOIN l ON l.k = t.i GROUP BY 1',
    `SELECT * FROM l JOIN (VALUES (1, 'a'), (7, 'b')) t(k, x) ON l.k = t.k`,
    `SELECT x, count(l.id) FROM (VALUES (1, 'a'), (99, 'b')) t(k, x) LEFT JOIN l ON l.k = t.k GROUP BY 1`,
    'SELECT 1 FROM l WHERE false',
    'SELECT count(*), 5 FROM l, r',
  ],
};

/** Settings under which everything is exchanged, with each kind of join; and one under which small inputs are read everywhere. */
const WAYS = [
  { joinDistribution: 'auto', partitions: null, stageWidth: 1, readEverywhereBytesMax: 0 },
  { joinDistribution: 'broadcast', partitions: 3, readEverywhereBytesMax: 0 },
  { joinDistribution: 'partitioned', partitions: 3, readEverywhereBytesMax: 0 },
  { joinDistribution: 'auto', partitions: null, stageWidth: 1, readEverywhereBytesMax: 1_000_000 },
] as const;

describe.each(Object.entries(QUERIES))('%s', (_name, queries) => {
  test.each(queries)('%s', async (sql) => {
    const expected = await orderedAnswer(duckdb, sql);
    for (const { readEverywhereBytesMax, ...settings } of WAYS) {
      const limits = {
        gatherGroupsMax: 0,
        partitionBytesMin: 1,
        stageCostBytes: 0,
        readEverywhereBytesMax,
        repeatedBytesMax: 0,
      };
      const { rows } = await runner.run(sql, { workers: 3, settings, limits });
      expect(orderDifferences(rows, expected), JSON.stringify(settings)).toBeNull();
    }
  });
});
