import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import type { Planner, PlannerScan } from '../binding/planner.ts';
import type { SqlField, SqlType } from '../plan/sql-type.ts';
import { translateForeign } from './translate-foreign.ts';

type Name = Parameters<typeof translateForeign>[1];

/** Translations, as DuckDB reads them: `t` is the table of the comparison below. */
const TRANSLATED: readonly (readonly [Name, string, string])[] = [
  [
    'spark',
    'SELECT `id`, b.`name` nm FROM lake.sp.base b',
    'SELECT "id" , "b" . "name" "nm" FROM "lake" . "sp" . "base" "b"',
  ],
  ['trino', 'SELECT "a b" x FROM t', 'SELECT "a b" "x" FROM "t"'],
  [
    'spark',
    'select ID from T order by id desc, name limit 3',
    'SELECT "ID" FROM "T" ORDER BY "id" DESC NULLS LAST , "name" NULLS FIRST LIMIT 3',
  ],
  [
    'trino',
    'SELECT id FROM t ORDER BY id ASC, 2 DESC NULLS FIRST',
    'SELECT "id" FROM "t" ORDER BY "id" ASC NULLS LAST , 2 DESC NULLS FIRST',
  ],
  [
    'trino',
    "SELECT concat(name, 'it''s', x) FROM t",
    `SELECT ( ( "name" ) || ( CAST('it''s' AS VARCHAR) ) || ( "x" ) ) FROM "t"`,
  ],
  [
    'spark',
    "SELECT startswith(name, 'a'), nvl(id, 0) FROM t",
    `SELECT starts_with ( "name" , CAST('a' AS VARCHAR) ) , coalesce ( "id" , 0 ) FROM "t"`,
  ],
  [
    'trino',
    'SELECT rank() OVER (PARTITION BY a ORDER BY id) r FROM t',
    'SELECT rank ( ) OVER ( PARTITION BY "a" ORDER BY "id" NULLS LAST ) "r" FROM "t"',
  ],
  ['spark', 'SELECT id -- of t\n/* all */ FROM t', 'SELECT "id" FROM "t"'],
  [
    'trino',
    "SELECT CAST(id AS bigint) b FROM t WHERE d > DATE '2024-01-15'",
    `SELECT CAST ( "id" AS BIGINT ) "b" FROM "t" WHERE "d" > DATE '2024-01-15'`,
  ],
  [
    'trino',
    'SELECT max(id) AS x FROM t a GROUP BY a.x HAVING x > 8 ORDER BY a.x, 1 DESC',
    'SELECT max ( "id" ) AS "x" FROM "t" "a" GROUP BY "a" . "x" HAVING "x" > 8 ORDER BY "a" . "x" NULLS LAST , 1 DESC NULLS LAST',
  ],
  ['trino', 'SELECT substr(name, 2, 3) FROM t', 'SELECT substring ( "name" , 2 , 3 ) FROM "t"'],
];

/** Queries whose meaning may be another one here, or that have a part that is not known. */
const REFUSED: readonly (readonly [Name, string, string])[] = [
  ['spark', 'SELECT id / 2 FROM t', '"/" at line 1, column 11'],
  ['spark', 'SELECT id\nFROM t WHERE name <=> 1', 'line 2'],
  ['spark', 'SELECT "text" FROM t', `"\\"" at line 1, column 8`],
  ['spark', "SELECT 'a\\nb' FROM t", 'backslash'],
  ['spark', "SELECT 'a''b' FROM t", 'doubled quote'],
  ['spark', "SELECT 'a' 'b' FROM t", "the text 'b'"],
  ['spark', "SELECT r'a' FROM t", "the text 'a'"],
  ['spark', 'SELECT 1L FROM t', '"1"'],
  ['spark', 'SELECT /*+ BROADCAST(t) */ id FROM t', 'a hint'],
  ['spark', 'SELECT a.id FROM t a ANTI JOIN u b ON a.id = b.id', 'ANTI'],
  ['spark', 'SELECT a.id FROM t a LEFT SEMI JOIN u b ON a.id = b.id', ''],
  ['spark', 'SELECT id FROM t LATERAL VIEW explode(l) x', 'LATERAL'],
  ['spark', 'SELECT id FROM t SORT BY id', 'SORT'],
  ['spark', 'SELECT id FROM t TABLESAMPLE (10 PERCENT)', 'TABLESAMPLE'],
  ['spark', 'SELECT name || a + 1 FROM t', '|| beside + or -'],
  ['spark', 'SELECT a = b = c FROM t', 'a comparison of a comparison'],
  ['spark', 'SELECT a = b IN (c) FROM t', 'a comparison of a comparison'],
  ['spark', 'SELECT upper(name) FROM t', 'the function upper at line 1, column 8'],
  ['spark', 'SELECT lake.f(id) FROM t', 'a bracket behind a name'],
  ['spark', 'SELECT left(name, 2) FROM t', 'a bracket behind a name'],
  ['spark', 'SELECT current_date FROM t', 'current_date'],
  ['spark', "SELECT TIMESTAMP '2024-01-01 00:00:00' FROM t", 'TIMESTAMP'],
  ['spark', 'SELECT substring(name, -2) FROM t', 'a substring of no fixed place'],
  ['spark', 'SELECT substring(name, 0, 2) FROM t', 'a substring of no fixed place'],
  ['spark', 'SELECT id % 0 FROM t', 'division'],
  ['spark', 'SELECT * FROM t JOIN u USING (id)', 'USING'],
  ['spark', 'SELECT id FROM t VERSION AS OF 3', 'VERSION'],
  ['spark', 'SELECT id FROM t; DROP TABLE t', '";"'],
  ['spark', 'DROP TABLE t', ''],
  ['spark', 'SELECT CAST(name AS timestamp) FROM t', 'CAST to this type'],
  ['trino', 'SELECT CAST(name AS varchar(3)) FROM t', 'CAST to this type'],
  ['trino', "SELECT U&'d' FROM t", '"&"'],
  ['trino', 'SELECT id FROM t FETCH FIRST 3 ROWS ONLY', 'FETCH'],
  ['trino', 'SELECT x FROM UNNEST(ARRAY[1]) u (x)', '"["'],
  ['trino', 'SELECT id FROM t FOR VERSION AS OF 3', 'FOR'],
  ['trino', 'SELECT (id FROM t', 'bracket'],
  ['trino', 'SELECT -id AS id FROM t ORDER BY id + 0 LIMIT 1', 'an order by an expression'],
  ['spark', 'SELECT max(id) AS x FROM t GROUP BY x HAVING (x > 8)', 'x in HAVING, which is an alias, too'],
  ['spark', 'SELECT max(id) x FROM t GROUP BY big HAVING sum(`X`) > 8', 'x in HAVING, which is an alias, too'],
  ['trino', "SELECT 'a FROM t", 'a quote that is not closed'],
];

const scalar = (name: string): SqlType => ({ kind: 'scalar', name });
const COLUMNS: readonly SqlField[] = [
  ...[
    'id INTEGER',
    'big BIGINT',
    'name VARCHAR',
    'd DATE',
    'ts TIMESTAMP',
    'tz TIMESTAMP WITH TIME ZONE',
    'f DOUBLE',
    'ok BOOLEAN',
  ].map((column) => {
    const [name = '', ...type] = column.split(' ');
    return { name, type: scalar(type.join(' ')) };
  }),
  { name: 'price', type: { kind: 'decimal', width: 12, scale: 2 } },
  { name: 'wide', type: { kind: 'decimal', width: 37, scale: 10 } },
];
const TABLE: PlannerScan = { columns: COLUMNS, fields: [], rowCount: null };

/** The part of a query of the table `t` that is computed otherwise than in its engine; null = none. */
const MEANINGS: readonly (readonly [Name, string, string | null])[] = [
  [
    'spark',
    "SELECT name nm, count(*) n, sum(price) s, avg(big) a FROM t WHERE id > 1 AND name LIKE 'b%' GROUP BY name",
    null,
  ],
  ['spark', 'SELECT id + 1, big * id, -price, abs(price), length(name), substring(name, 1, 2), year(d) FROM t', null],
  ['spark', "SELECT id FROM t WHERE d >= '2024-01-15'", null],
  ['spark', 'SELECT id FROM t WHERE id IN (SELECT big FROM t) OR EXISTS (SELECT 1 FROM t u WHERE u.id = 3)', null],
  [
    'spark',
    'WITH q AS (SELECT id, avg(big) m FROM t GROUP BY 1) SELECT q.*, row_number() OVER (ORDER BY id) r FROM q',
    null,
  ],
  ['trino', "SELECT (CASE WHEN (id = 1) THEN 'one' ELSE 'more' END) w, CAST(id AS bigint) b FROM t", null],
  ['trino', 'SELECT a.id, coalesce(b.price, 0) p FROM (t a LEFT JOIN t b ON (a.id = b.big))', null],
  ['trino', 'SELECT id FROM t UNION ALL SELECT big FROM t', null],
  ['trino', 'SELECT id FROM t o WHERE (EXISTS (SELECT 1 FROM t u WHERE (u.big = o.id)))', null],
  ['trino', "SELECT id FROM t WHERE ts < TIMESTAMP '2024-01-02 10:00:00.500001'", null],
  ['trino', 'SELECT max(d), min(name), count(DISTINCT id) FROM t HAVING (count(*) > 1)', null],
  ['spark', 'SELECT id FROM t WHERE name = 1', 'VARCHAR as INTEGER'],
  ['spark', "SELECT id FROM t WHERE id = '1.5'", 'VARCHAR as INTEGER'],
  ['spark', "SELECT id FROM t WHERE d >= '2024-1-5'", 'DATE and type VARCHAR'],
  ['spark', "SELECT id FROM t WHERE ts >= '2024-01-15 12:00:00'", 'TIMESTAMP and type VARCHAR'],
  ['spark', 'SELECT CAST(name AS INT) FROM t', 'VARCHAR as INTEGER'],
  ['spark', 'SELECT CAST(price AS INT) FROM t', 'DECIMAL(12,2) as INTEGER'],
  ['spark', 'SELECT CAST(price AS STRING) FROM t', 'DECIMAL(12,2) as VARCHAR'],
  ['spark', 'SELECT id FROM t WHERE ts > tz', 'TIMESTAMP as TIMESTAMP WITH TIME ZONE'],
  ['spark', 'SELECT year(tz) FROM t', 'year of TIMESTAMP WITH TIME ZONE'],
  ['spark', 'SELECT wide * 2 FROM t', '* of so many digits'],
  ['trino', 'SELECT avg(price) FROM t', 'avg of DECIMAL(12,2)'],
  ['trino', 'SELECT id FROM t WHERE f > 1', 'a comparison or an order of DOUBLE'],
  ['trino', 'SELECT DISTINCT f FROM t', 'a comparison or an order of DOUBLE'],
  ['trino', 'SELECT f FROM t ORDER BY f LIMIT 1', 'a comparison or an order of DOUBLE'],
  ['trino', 'SELECT max(f) FROM t', 'max of DOUBLE'],
  ['trino', 'SELECT length(id) FROM t', ''],
  ['spark', 'SELECT d + 1 FROM t', '+ of DATE'],
];

let planner: Planner;
const asker = { tenant: 't', principal: 'p' } as unknown as Parameters<Planner['compare']>[1];
const { signal } = new AbortController();
beforeAll(async () => {
  planner = await sessionPlanner();
});
afterAll(() => planner?.close());

function refusalOf(work: () => unknown): SkeinError | null {
  try {
    work();
    return null;
  } catch (error) {
    return SkeinError.of(error);
  }
}

describe("another engine's query", () => {
  test.each(TRANSLATED)('%s: %s', (dialect, sql, expected) => {
    expect(translateForeign(sql, dialect)).toBe(expected);
  });

  test.each(REFUSED)('is refused: %s, %s', (dialect, sql, reason) => {
    const error = refusalOf(() => translateForeign(sql, dialect));
    expect(error?.code).toBe('NOT_SUPPORTED');
    expect(error?.message).toContain(`its query is written in ${dialect}, and this is not read here: `);
    expect(error?.message).toContain(reason);
  });

  test.each<[string, string, string]>([
    ['brackets in brackets', `SELECT ${'('.repeat(200)}id${')'.repeat(200)} FROM t`, 'deep'],
    ['a long comment', `SELECT id FROM t -- ${'x'.repeat(17_000)}`, 'characters'],
    ['many NOTs', `SELECT id FROM t WHERE ${'NOT '.repeat(4_000)} ok`, 'too deep'],
    ['many signs', `SELECT ${'- '.repeat(8_000)} id FROM t`, ''],
  ])('is refused when it is too much: %s', (_title, sql, reason) => {
    for (const dialect of ['spark', 'trino'] as const) {
      const error = refusalOf(() => translateForeign(sql, dialect));
      expect(error?.code).toBe('NOT_SUPPORTED');
      expect(error?.message).toContain(reason);
    }
  });

  test.each(MEANINGS)('means the same, or not: %s, %s', async (dialect, sql, different) => {
    const translated = translateForeign(sql, dialect).replaceAll('"t"', `skein_scan('0')`);
    const context = { timeZone: 'UTC' } as unknown as Parameters<Planner['compare']>[0]['context'];
    const scans = Array.from({ length: 1 }, () => TABLE);
    const request = { sql: translated, scans, context, contextual: false, dialect, types: [] };
    const reply = await planner.compare(request, asker, signal).then(
      (one) => one.different,
      (error: unknown) => SkeinError.of(error).message,
    );
    if (different === null) expect(reply).toBeNull();
    else expect(reply).toContain(different);
  });
});
