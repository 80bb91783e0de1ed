import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { principalId, tenantId } from '#shared/id.ts';
import {
  icebergScan,
  icebergScans,
  SCRIPTED_ASKER,
  scriptedTables,
  TPCH_TABLES,
} from '#test/support/scripted/tables.ts';
import type { TableSource } from '../binding/table-source.ts';
import { explainPlan } from '../planner/explain-plan.ts';
import type { Planner } from '../binding/planner.ts';
import { queryPreparer } from './prepare-query.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { collectGarbage } from '#test/support/collect-garbage.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';

const tables = scriptedTables({
  ...TPCH_TABLES,
  'lake.tpch.t': {
    columns: 'a int, b string, c struct(f int)',
  },
  'other.tpch.t': { columns: 'a int' },
  'lake.other.t': { columns: 'a int, z string' },
  'lake.a.b.t': { columns: 'a int' },
  'lake.tpch.ünï': { columns: 'ä int' },
  'lake.tpch.twins': { columns: 'a int, A int' },
  'lake.tpch.shape': { columns: 'g geometry' },
  'lake.tpch.sqlite_master': { columns: 'a int' },
  'lake.tpch.evolved': { columns: 'a int, b string', columnsBefore: 1 },
  'lake.tpch.own': { columns: 'a int, _file string' },
  'lake.tpch.k': { columns: 'a int' },
  'lake.tpch.s': { columns: 'a int' },
  'lake.tpch.other.t': { columns: 'a int' },
  'lake.tpch.t\u200cz': { columns: 'a int' },
  'lake.tpch.wide': { columns: `a int, ${Array.from({ length: 9_999 }, (_, i) => `c${i} int`).join(', ')}` },
  'lake.main.duckdb_databases': { columns: 'a int' },
});
const context = {
  nowMicros: '1708000000000000',
  timeZone: 'UTC',
  currentUser: "o'hara",
  currentCatalog: 'lake',
  currentSchema: 'tpch',
};
const prepare = queryPreparer({ cacheEntries: 100, cacheBytes: 2 ** 26 });
let planner: Planner;
beforeAll(async () => {
  planner = await sessionPlanner();
});

const prepared = (
  sql: string,
  overrides: Partial<typeof context> = {},
  { asker = SCRIPTED_ASKER, by = prepare } = {},
): Promise<PreparedQuery> =>
  by({
    sql,
    offset: 0,
    context: { ...context, ...overrides },
    asker,
    tables,
    planner,
    signal: AbortSignal.timeout(10_000),
  });

/** The worker's SQL with `<n>` for scan n. */
const sqlOf = async (sql: string): Promise<string> =>
  (await prepared(sql)).workerSql
    .map((part) => (typeof part === 'string' ? part : `<${'scan' in part ? part.scan : 'input'}>`))
    .join('');

async function failure(sql: string): Promise<{ code: string; at: string | undefined }> {
  try {
    await prepared(sql);
  } catch (thrown) {
    const error = SkeinError.of(thrown);
    if (error.code === 'INTERNAL_ERROR') throw thrown;
    return {
      code: error.code,
      at: error.position === undefined ? undefined : sql.slice(error.position).split(/[\s(,.;]/)[0],
    };
  }
  throw new Error(`accepted: ${sql}`);
}

describe('names become scans', () => {
  test.each([
    ['SELECT a FROM t', 'SELECT a FROM <0> AS "t"'],
    ['FROM T', 'FROM <0> AS "T"'],
    ['TABLE t', 'FROM <0> AS "t"'],
    ['TABLE /* x */ t', 'FROM <0> AS "t"'],
    ['FROM t UNION ALL (TABLE -- x\n "t")', 'FROM <0> AS "t" UNION ALL (FROM <1> AS "t")'],
    ['(TABLE t) UNION ALL FROM t', '(FROM <0> AS "t") UNION ALL FROM <1> AS "t"'],
    ['SELECT x.a FROM lake.tpch.t AS x', 'SELECT x.a FROM <0> AS x'],
    ['SELECT x.p FROM tpch . "t" x(p)', 'SELECT x.p FROM <0> x(p)'],
    ['SELECT a FROM lake /* c */ . "a.b" . t', 'SELECT a FROM <0> AS "t"'],
    ['SELECT a FROM "A.B".t', 'SELECT a FROM <0> AS "t"'],
    ["SELECT 'ünï 🦆', ä FROM ünï, t -- ünï", `SELECT 'ünï 🦆', ä FROM <0> AS "ünï", <1> AS "t" -- ünï`],
    ['SELECT tpch.t.a, lake.tpch.t.b, t.c.f FROM t', 'SELECT "t".a, "t".b, t.c.f FROM <0> AS "t"'],
    ['SELECT tpch.t.c.f FROM lake.tpch.t', 'SELECT "t".c.f FROM <0> AS "t"'],
    [
      'SELECT tpch.t.a, other.t.z FROM tpch.t, other.t',
      'SELECT "lake.tpch.t".a, "lake.other.t".z FROM <0> AS "lake.tpch.t", <1> AS "lake.other.t"',
    ],
    [
      'SELECT a FROM tpch.t WHERE tpch.t.a IN (SELECT length(z) FROM t, other.t)',
      'SELECT a FROM <0> AS "t" WHERE "t".a IN (SELECT length(z) FROM <1> AS "lake.tpch.t", <2> AS "lake.other.t")',
    ],
    ['WITH t AS (SELECT 1 AS q) SELECT q FROM t', 'WITH t AS (SELECT 1 AS q) SELECT q FROM t'],
    ['WITH x AS (FROM t) SELECT * FROM x, T AS y', 'WITH x AS (FROM <0> AS "t") SELECT * FROM x, <1> AS y'],
    ['WITH t AS (SELECT a FROM t) SELECT a FROM t', 'WITH t AS (SELECT a FROM <0> AS "t") SELECT a FROM t'],
    [
      'SELECT * FROM (WITH o AS (SELECT 1) FROM o) AS q, t AS o',
      'SELECT * FROM (WITH o AS (SELECT 1) FROM o) AS q, <0> AS o',
    ],
    [
      'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r, t WHERE n < a) FROM r',
      'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r, <0> AS "t" WHERE n < a) FROM r',
    ],
    ['SELECT a FROM t AT (VERSION => 11) WHERE a = 1', 'SELECT a FROM <0> AS "t"  WHERE a = 1'],
    ['SELECT x.a FROM t AS x AT (VERSION => 11)', 'SELECT x.a FROM <0> AS x '],
    ['SELECT * FROM t TABLESAMPLE 10%', 'SELECT * FROM <0> AS "t" TABLESAMPLE 10%'],
    [
      'SELECT * FROM t WHERE a IN (SELECT a FROM other.t) ORDER BY (SELECT max(a) FROM t)',
      'SELECT * FROM <0> AS "t" WHERE a IN (SELECT a FROM <1> AS "t") ORDER BY (SELECT max(a) FROM <2> AS "t")',
    ],
    ['SELECT * FROM t, LATERAL (SELECT t.a + 1) AS l', 'SELECT * FROM <0> AS "t", LATERAL (SELECT t.a + 1) AS l'],
    ["FROM t PIVOT (count(*) FOR b IN ('x', 'y'))", `FROM <0> AS "t" PIVOT (count(*) FOR b IN ('x', 'y'))`],
    [
      "SELECT t.a FROM tpch.t, other.t PIVOT (count(*) FOR z IN ('x')) AS p",
      `SELECT t.a FROM <0> AS "t", <1> AS "t" PIVOT (count(*) FOR z IN ('x')) AS p`,
    ],
    ['SELECT t.a FROM t, tpch.t AS u', 'SELECT t.a FROM <0> AS "t", <1> AS u'],
    ['SELECT q FROM t, (SELECT 1 AS q) AS t', 'SELECT q FROM <0> AS "t", (SELECT 1 AS q) AS t'],
    ['SELECT*FROM"t"WHERE(a)=1', 'SELECT*FROM<0> AS "t"WHERE(a)=1'],
    [
      "FROM 't' UNION ALL FROM E'\\x74' UNION ALL FROM $$t$$",
      'FROM <0> AS "t" UNION ALL FROM <1> AS "t" UNION ALL FROM <2> AS "t"',
    ],
    ["FROM 'other'--x\n'.t', t", 'FROM <0> AS "other.t", <1> AS "t"'],
    ['SELECT a FROM lake --c\r.tpch --d\n.t', 'SELECT a FROM <0> AS "t"'],
    ['WITH "\u212a" AS (SELECT 1) SELECT a FROM k', 'WITH "\u212a" AS (SELECT 1) SELECT a FROM <0> AS "k"'],
    ['WITH "\u212a" AS (SELECT 1) FROM "\u212a"', 'WITH "\u212a" AS (SELECT 1) FROM "\u212a"'],
    ['WITH \u017f AS (SELECT 1) FROM S', 'WITH \u017f AS (SELECT 1) FROM <0> AS "S"'],
    ['SELECT a FROM t\u200cz', 'SELECT a FROM <0> AS "t\u200cz"'],
  ])('%s', async (sql, expected) => {
    expect(await sqlOf(sql)).toBe(expected);
  });
});

describe('time travel', () => {
  test.each([
    ['VERSION => 11', '11'],
    ["VERSION => '11'", '11'],
    ["VERSION => 'v1'", '11'],
    ["TIMESTAMP => '2024-01-15'", '11'],
    ["TIMESTAMP => TIMESTAMP '2024-02-01'", '12'],
    ['TIMESTAMP => now() - INTERVAL 20 DAY', '11'],
    ['TIMESTAMP => current_date', '12'],
    ['VERSION => 5 + 6', '11'],
    ["VERSION => 'v' || 1", '11'],
    ["VERSION => CAST('v1' AS VARCHAR)", '11'],
    ["VERSION => 'main'", '12'],
  ])('AT (%s)', async (at, snapshot) => {
    expect(icebergScan(await prepared(`SELECT * FROM t AT (${at})`)).snapshotId).toBe(snapshot);
  });

  test.each([
    ['VERSION => 13', 'SNAPSHOT_NOT_FOUND', '13)'],
    ["VERSION => 'none'", 'SNAPSHOT_NOT_FOUND', "'none')"],
    ['VERSION => 1.5', 'INVALID_REQUEST', '1'],
    ['VERSION => NULL', 'INVALID_REQUEST', 'NULL)'],
    ['VERSION => t.a', 'INVALID_REQUEST', 't'],
    ["TIMESTAMP => '2023-01-01'", 'SNAPSHOT_NOT_FOUND', "'2023-01-01')"],
    ["TIMESTAMP => 'soon'", 'INVALID_CAST', "'soon')"],
    ['TIMESTAMP => (SELECT now())', 'INVALID_REQUEST', undefined],
    ["TIMESTAMP => getvariable('skein_now')", 'NOT_SUPPORTED', 'getvariable'],
  ])('AT (%s)', async (at, code, place) => {
    const found = await failure(`SELECT 'ü', * FROM t AT (${at})`);
    expect(found.code).toBe(code);
    if (place !== undefined) expect(found.at).toBe(place);
  });

  test.each([
    ['FROM t FOR VERSION AS OF 11', ['11'], 'FROM <0> AS "t" '],
    ["SELECT a FROM t for system_version as of 'v1' WHERE a = 1", ['11'], 'SELECT a FROM <0> AS "t"  WHERE a = 1'],
    ["SELECT x.p FROM t FOR TIMESTAMP AS OF TIMESTAMP '2024-01-15' AS x(p, q)", ['11'], 'SELECT x.p FROM <0> x(p, q) '],
    ["SELECT x.a FROM t /* FOR */ FOR --\nSYSTEM_TIME AS OF now() - INTERVAL '20' DAY x", ['11'], undefined],
    [
      "SELECT * FROM t FOR TIMESTAMP AS OF '2024-01-15'::TIMESTAMP WITH TIME ZONE AT TIME ZONE 'UTC' x",
      ['11'],
      undefined,
    ],
    ['SELECT 1 FROM t FOR VERSION AS OF 11 n JOIN t FOR VERSION AS OF (6 * 2) AS o USING (a)', ['11', '12'], undefined],
    ['SELECT 1 FROM t FOR VERSION AS OF -(-11) LEFT JOIN t x ON true', ['11', '12'], undefined],
    ["SELECT 1 FROM (FROM t FOR VERSION AS OF CAST('v1' AS VARCHAR)), t", ['11', '12'], undefined],
    ['SELECT 1 FROM "t@v1", "t@main" AS m, lake.tpch."t@12"', ['11', '12', '12'], undefined],
    ["SELECT substring('abc' FROM 1 FOR 2), a AS of FROM t", ['12'], undefined],
  ])('%s', async (sql, snapshots, text) => {
    const { scans } = await prepared(sql);
    expect(icebergScans(scans).map((scan) => scan.snapshotId)).toEqual(snapshots);
    if (text !== undefined) expect((await sqlOf(sql)).replace(' AS x(', ' x(')).toBe(text);
  });

  test.each([
    ["SELECT a FROM t FOR VERSION AS OF 'none' AS x", 'SNAPSHOT_NOT_FOUND', "'none'"],
    ['SELECT x.nope FROM t FOR VERSION AS OF 11 AS x', 'COLUMN_NOT_FOUND', 'x'],
    ['SELECT x.a, nope FROM t FOR VERSION AS OF 11 AS x, t', 'COLUMN_NOT_FOUND', 'nope'],
    ['SELECT a FROM t FOR VERSION AS OF', 'SYNTAX_ERROR', undefined],
    ['SELECT a FROM t FOR VERSION AS OF 11 AS x y z', 'SYNTAX_ERROR', 'y'],
    ['SELECT a FROM "t@none"', 'SNAPSHOT_NOT_FOUND', '"t@none"'],
    ['SELECT a FROM "none@v1"', 'TABLE_NOT_FOUND', '"none@v1"'],
    ['SELECT a FROM "t@v1" AT (VERSION => 12)', 'INVALID_REQUEST', '12)'],
  ])('%s', async (sql, code, place) => {
    const found = await failure(sql);
    expect(found.code).toBe(code);
    if (place !== undefined) expect(found.at).toBe(place);
  });

  test('a plan of one state does not serve another', async () => {
    for (const [version, snapshot] of [
      [11, '11'],
      [12, '12'],
      [11, '11'],
    ]) {
      const sql = `SELECT b FROM t AT (VERSION => ${version}) WHERE a = 7`;
      expect(icebergScan(await prepared(sql)).snapshotId).toBe(snapshot);
    }
    const late = `SELECT 'x' AS later, b FROM t AT (VERSION => 13) WHERE a =`;
    for (const literal of [1, 2_000]) expect((await failure(`${late} ${literal}`)).at).toBe('13)');
  });

  test('snapshots and tags are read with their own schema, branches with the current one', async () => {
    const names = async (sql: string) => (await prepared(sql)).columns.map(({ name }) => name);
    expect(await names('FROM evolved')).toEqual(['a', 'b']);
    expect(await names("FROM evolved AT (VERSION => 'old')")).toEqual(['a', 'b']);
    expect(await names("FROM evolved AT (VERSION => 'v1')")).toEqual(['a']);
    expect(await names('FROM evolved AT (VERSION => 12)')).toEqual(['a']);
    expect(await names("FROM evolved AT (TIMESTAMP => '2024-01-15')")).toEqual(['a']);
  });
});

describe('address columns', () => {
  test.each([
    ['SELECT _file, _pos FROM t', 'SELECT _file, _pos FROM <0> AS "t"', ['_file', '_pos']],
    ['SELECT *, _POS FROM t WHERE a = 1', 'SELECT * EXCLUDE ("t"."_pos"), _POS FROM <0> AS "t" WHERE a = 1', ['_pos']],
    [
      'SELECT x.*, u.* EXCLUDE (b) REPLACE (u.a + 1 AS a) FROM t x, t u WHERE u._file = x._file',
      'SELECT x.* EXCLUDE ("x"."_file"), u.* EXCLUDE ("u"."_file", b) REPLACE (u.a + 1 AS a) FROM <0> x, <1> u WHERE u._file = x._file',
      ['_file'],
    ],
    ['FROM t WHERE lake.tpch.t._pos = 1', 'SELECT * EXCLUDE ("t"."_pos") FROM <0> AS "t" WHERE "t"._pos = 1', ['_pos']],
    ['FROM t SELECT (SELECT count(*) FROM k WHERE t._pos = 1), *', undefined, ['_pos']],
    ['SELECT _pos FROM (SELECT _pos, a FROM t)', 'SELECT _pos FROM (SELECT _pos, a FROM <0> AS "t")', ['_pos']],
    ['SELECT * FROM t', 'SELECT * FROM <0> AS "t"', []],
    ['SELECT *, _file FROM own', 'SELECT *, _file FROM <0> AS "own"', []],
    ['SELECT a FROM t WHERE _pos IN (SELECT a FROM k)', undefined, ['_pos']],
  ])('%s', async (sql, text, addresses) => {
    const query = await prepared(sql);
    if (text !== undefined) expect(await sqlOf(sql)).toBe(text);
    expect(icebergScan(query).addresses.map(({ name }) => name)).toEqual(addresses);
  });

  test.each([
    ['SELECT _row_id FROM t', 'COLUMN_NOT_FOUND', '_row_id'],
    ['SELECT _partition FROM t', 'COLUMN_NOT_FOUND', '_partition'],
    ['SELECT _pos FROM t, k', 'AMBIGUOUS_COLUMN', '_pos'],
    ['SELECT COLUMNS(*), _pos FROM t', 'NOT_SUPPORTED', 'COLUMNS'],
    ['SELECT t._pos FROM t NATURAL JOIN k', 'NOT_SUPPORTED', undefined],
    ['SELECT * EXCLUDE a, _pos FROM t', 'NOT_SUPPORTED', '*'],
    ['SELECT _pos FROM (SELECT a FROM t)', 'COLUMN_NOT_FOUND', '_pos'],
  ])('%s', async (sql, code, place) => {
    const found = await failure(sql);
    expect(found.code).toBe(code);
    if (place !== undefined) expect(found.at).toBe(place);
  });

  test('their values prune nothing by statistics, and a kept parse knows its stars', async () => {
    for (const literal of [7, 8]) {
      const query = await prepared(`SELECT *, _pos FROM t WHERE a = ${literal} AND _pos < 3`);
      expect(query.columns.map(({ name }) => name)).toEqual(['a', 'b', 'c', '_pos']);
      expect(
        JSON.stringify(icebergScan(query).predicate, (_, v: unknown) => (typeof v === 'bigint' ? `${v}` : v)),
      ).not.toContain('2147483645');
      expect(icebergScan(query).readFieldIds).toContain(2_147_483_645);
    }
  });
});

describe('columns are named by the text as it was written', () => {
  const namesOf = async (sql: string) => (await prepared(sql)).columns.map(({ name }) => name);

  test.each([
    [
      'SELECT (select MAX(a) from tpch.t), tpch.t.a + 1, tpch.t.a FROM t',
      ['(SELECT max(a) FROM tpch.t)', '(tpch.t.a + 1)', 'a'],
    ],
    ['SELECT a IN (TABLE k) FROM t', ['(a = ANY(SELECT * FROM k))']],
    ['SELECT "EXISTS(SELECT * FROM t)" FROM (SELECT EXISTS (FROM t))', ['EXISTS(SELECT * FROM t)']],
    ['SELECT (SELECT a FROM t) UNION ALL BY NAME SELECT (SELECT a FROM t)', ['(SELECT a FROM t)']],
    ['SELECT (SELECT max(_pos) FROM t AT (VERSION => 11))', ['(SELECT max(_pos) FROM t AT (VERSION => 11))']],
  ])('%s', async (sql, names) => {
    expect(await namesOf(sql)).toEqual(names);
    expect(await namesOf(sql)).toEqual(names);
  });

  test('literals are those of the text, although it has the template of another', async () => {
    for (const literal of [5, 6, 5]) {
      const text = `(SELECT max(b) FROM t WHERE (a = ${literal}))`;
      expect(await namesOf(`SELECT ${text}`)).toEqual([text]);
    }
  });

  test('an error behind such a column is where it was written', async () => {
    expect((await failure('SELECT (SELECT max(a) FROM t), nope FROM t')).at).toBe('nope');
  });
});

describe('refusals say where', () => {
  test.each([
    ['SELECT * FROM missing', 'TABLE_NOT_FOUND', 'missing'],
    ["SELECT 'ü', * FROM lake.tpch.missing", 'TABLE_NOT_FOUND', 'lake'],
    ['SELECT * FROM nocat.s.t', 'CATALOG_NOT_FOUND', 'nocat'],
    ['SELECT * FROM information_schema.table_constraints', 'TABLE_NOT_FOUND', 'information_schema'],
    ['SELECT * FROM lake.Information_Schema.other', 'TABLE_NOT_FOUND', 'lake'],
    ['SELECT * FROM lake.PG_CATALOG.t', 'TABLE_NOT_FOUND', 'lake'],
    ['SELECT * FROM lake."pg_catalog.below".t', 'TABLE_NOT_FOUND', 'lake'],
    ['SELECT * FROM sqlite_master', 'TABLE_NOT_FOUND', 'sqlite_master'],
    ['SELECT * FROM pg_catalog.pg_nothing', 'TABLE_NOT_FOUND', 'pg_catalog'],
    ['SELECT * FROM duckdb_tables', 'TABLE_NOT_FOUND', 'duckdb_tables'],
    ['WITH "duc\u212adb_databases" AS (SELECT 1) FROM duckdb_databases', 'TABLE_NOT_FOUND', 'duckdb_databases'],
    ['SELECT tpch."\u212a".a FROM k', 'TABLE_NOT_FOUND', 'tpch'],
    ['SELECT (SELECT tpch.t.a FROM k AS t) FROM t', 'NOT_SUPPORTED', 'tpch'],
    ['SELECT t.a FROM tpch.t, other.t', 'AMBIGUOUS_COLUMN', 't'],
    ['SELECT tpch.t.a FROM t, other.tpch.t', 'AMBIGUOUS_COLUMN', 'tpch'],
    ['SELECT (SELECT t.z FROM tpch.t, other.t) FROM other.t AS t', 'AMBIGUOUS_COLUMN', 't'],
    ['SELECT (SELECT t FROM tpch.t, other.t) FROM k AS t', 'AMBIGUOUS_COLUMN', 't'],
    ['SELECT t.z FROM tpch.t, other.t, (SELECT 1 AS z) AS t', 'AMBIGUOUS_COLUMN', undefined],
    ['SELECT tpch.t.a FROM tpch.t, range(3) AS t(a)', 'NOT_SUPPORTED', 'tpch'],
    ['SELECT tpch.t.a FROM tpch.t, (SELECT 1 AS a) AS T', 'NOT_SUPPORTED', 'tpch'],
    ['SELECT tpch.t.a FROM other.t AS u, tpch.t PIVOT (count(*) FOR a IN (1))', 'TABLE_NOT_FOUND', 'tpch'],
    ['WITH c AS (SELECT 1) FROM c AT (VERSION => 1)', 'NOT_SUPPORTED', 'c'],
    ["WITH c AS (SELECT 1) FROM c AT (VERSION => getenv('PATH'))", 'NOT_SUPPORTED', undefined],
    ["SELECT E'\\'\u00a0\u00a0\u00a0\u00a0', a, tt FROM t", 'NOT_SUPPORTED', undefined],
    [`SELECT 1 AS '${'x'.repeat(1_025)}'`, 'NAME_TOO_LONG', undefined],
    [`FROM '${'x'.repeat(1_025)}'`, 'NAME_TOO_LONG', undefined],
    [`SELECT {'${'\u20ac'.repeat(342)}': 1}`, 'NAME_TOO_LONG', undefined],
    [`SELECT ${'f'.repeat(300_000)}(a) FROM t`, 'NAME_TOO_LONG', 'f'.repeat(300_000)],
    ["SELECT * FROM '/etc/passwd'", 'TABLE_NOT_FOUND', "'/etc/passwd'"],
    ["SELECT * FROM 'x.parquet'", 'TABLE_NOT_FOUND', "'x"],
    ["SELECT * FROM read_csv('/etc/passwd')", 'NOT_SUPPORTED', 'read_csv'],
    ["SELECT * FROM t, glob('*')", 'NOT_SUPPORTED', 'glob'],
    ["FROM query('SELECT 1')", 'NOT_SUPPORTED', 'query'],
    ["FROM query_table('t')", 'NOT_SUPPORTED', 'query_table'],
    ['FROM duckdb_settings()', 'NOT_SUPPORTED', 'duckdb_settings'],
    ["FROM skein_scan('0')", 'NOT_SUPPORTED', 'skein_scan'],
    ["SELECT getvariable('skein_user')", 'NOT_SUPPORTED', 'getvariable'],
    ["SELECT 1 WHERE (SELECT json_execute_serialized_sql('')) = 1", 'NOT_SUPPORTED', 'json_execute_serialized_sql'],
    ["SELECT list_transform([1], lambda x: nextval('s'))", 'NOT_SUPPORTED', 'nextval'],
    ['SELECT sum(a) FILTER (WHERE pg_sleep(1)) FROM t', 'NOT_SUPPORTED', 'pg_sleep'],
    ['SELECT count(*) OVER (ORDER BY sleep_ms(1))', 'NOT_SUPPORTED', 'sleep_ms'],
    ["SELECT main.getvariable('x')", 'NOT_SUPPORTED', 'main'],
    ['SELECT system.main.now()', 'NOT_SUPPORTED', 'system'],
    ['SELECT main.now()', 'NOT_SUPPORTED', 'main'],
    ['SELECT * FROM (SUMMARIZE t)', 'NOT_SUPPORTED', undefined],
    ['PIVOT t ON b USING count(*)', 'NOT_SUPPORTED', undefined],
    ['WITH x AS (DELETE FROM t RETURNING *) FROM x', 'SYNTAX_ERROR', undefined],
    ['SELECT * FROM t WHERE a = ?', 'UNDEFINED_PARAMETER', undefined],
    ['SELECT * FROM t WHERE a = $1', 'UNDEFINED_PARAMETER', undefined],
    ['SELECT * FROM twins', 'NOT_SUPPORTED', 'twins'],
    ['SELECT * FROM shape', 'NOT_SUPPORTED', 'shape'],
    ["SELECT 'ü', nope FROM t", 'COLUMN_NOT_FOUND', 'nope'],
    ['SELECT * FROM lake.tpch.t, t AS u WHERE u.nope = 1', 'COLUMN_NOT_FOUND', 'u'],
    ['SELECT a FROM t, other.t', 'AMBIGUOUS_COLUMN', 'a'],
    ['SELECT * FROM lake.a.b.t', 'SYNTAX_ERROR', undefined],
    ['SELECT nofun(a) FROM t', 'FUNCTION_NOT_FOUND', 'nofun'],
    ['SELECT a FROM t GROUP BY', 'SYNTAX_ERROR', undefined],
    ['SELECT a FRM t x y', 'SYNTAX_ERROR', 't'],
    ["SELECT 'é😀' FRM t x y", 'SYNTAX_ERROR', 't'],
    ['SELECT rowid FROM t', 'COLUMN_NOT_FOUND', 'rowid'],
    ['SELECT filename FROM t', 'COLUMN_NOT_FOUND', 'filename'],
    [`SELECT ${'1 + '.repeat(5_000)}1`, 'STATEMENT_TOO_COMPLEX', undefined],
  ])('%s', async (sql, code, at) => {
    const found = await failure(sql);
    expect(found.code).toBe(code);
    if (at !== undefined) expect(found.at).toBe(at);
  });
});

describe('results', () => {
  test('columns with their types', async () => {
    const { columns } = await prepared(
      "SELECT a, b, c, 1.5 AS d, now(), [1] AS l, {'k': 1}, l_discount, '{}'::JSON AS j, row(1), NULL FROM t, lineitem",
    );
    expect(columns.map((column) => column.typeName)).toEqual([
      'INTEGER',
      'VARCHAR',
      'STRUCT("f" INTEGER)',
      'DECIMAL(2,1)',
      'TIMESTAMP WITH TIME ZONE',
      'INTEGER[]',
      'STRUCT("k" INTEGER)',
      'DECIMAL(15,2)',
      'JSON',
      'STRUCT(INTEGER)',
      'INTEGER',
    ]);
    expect(columns.map((column) => column.name).slice(0, 6)).toEqual(['a', 'b', 'c', 'd', 'now()', 'l']);
  });

  test('one meaning of now and me', async () => {
    const plan = JSON.stringify((await prepared('SELECT now(), current_user, current_schema')).plan);
    expect(plan).toContain('1708000000000000');
    expect(plan).toContain("o'hara");
    expect(plan).toContain('"tpch"');
    expect(JSON.stringify((await prepared('SELECT now()', { nowMicros: '1' })).plan)).toContain('"value":1,');
  });

  test("of the statement before, which may be anybody's, nothing is left", async () => {
    await prepared('SELECT current_user, now()');
    const sql =
      "SELECT getvariable('skein_user') AS u, getvariable('skein_schema') AS s, getvariable('skein_now') AS n";
    const request = { sql, scans: [], context, contextual: false };
    const { plan } = await planner.plan(request, SCRIPTED_ASKER, AbortSignal.timeout(10_000));
    expect(JSON.stringify(plan)).not.toMatch(/o'hara|tpch|1708000000000000/);
  });

  test('each table is asked for once, and every time', async () => {
    const before = tables.asked.length;
    await prepared('SELECT * FROM t JOIN t AS u USING (a), orders');
    await prepared('SELECT * FROM t JOIN t AS u USING (a), orders');
    expect(tables.asked.slice(before).map((names) => names.map((name) => name.table))).toEqual([
      ['t', 'orders'],
      ['t', 'orders'],
    ]);
  });

  test('a kept plan belongs to its schema and time zone', async () => {
    const first = await prepared("SELECT a, TIMESTAMPTZ '2024-01-01 00:00:00' AS x FROM t");
    const again = await prepared("SELECT a, TIMESTAMPTZ '2024-01-01 00:00:00' AS x FROM t");
    expect(again.plan).toBe(first.plan);
    const elsewhere = await prepared("SELECT a, TIMESTAMPTZ '2024-01-01 00:00:00' AS x FROM t", {
      currentSchema: 'other',
    });
    expect(icebergScan(elsewhere).tableName).toBe('lake.other.t');
    const zone = await prepared("SELECT a, TIMESTAMPTZ '2024-01-01 00:00:00' AS x FROM t", { timeZone: 'Asia/Tokyo' });
    expect(JSON.stringify(zone.plan)).toContain('1704034800000000');
  });

  test('a plan of a query that asks for the current catalog and schema alone is kept, for these', async () => {
    const sql = 'SELECT a, current_database(), current_schema(), current_schemas(true), version() FROM lake.tpch.t';
    const first = await prepared(sql);
    expect(first).toMatchObject({ contextual: true, placeAlone: true });
    const later = await prepared(sql, { nowMicros: '1', currentUser: 'another' });
    expect(later.plan).toBe(first.plan);
    const elsewhere = JSON.stringify((await prepared(sql, { currentSchema: 'other' })).plan);
    expect(elsewhere).toContain('"value":"other"');
    expect(elsewhere).not.toContain('"value":"tpch"');
    expect(JSON.stringify((await prepared(sql, { currentCatalog: 'sea' })).plan)).toContain('"value":"sea"');
  });

  test.each(['current_user', 'now()', "current_setting('a', true)", 'pg_backend_pid()', 'current_role()'])(
    'no plan of a query that asks for %s, too, is kept',
    async (more) => {
      const sql = `SELECT a, current_schema(), ${more} FROM t`;
      const first = await prepared(sql);
      expect(first).toMatchObject({ contextual: true, placeAlone: false });
      expect((await prepared(sql)).plan).not.toBe(first.plan);
    },
  );

  test('a kept plan and a kept parse belong to their tenant, whoever of it asks', async () => {
    const asked: string[] = [];
    const by = queryPreparer({ cacheEntries: 100, cacheBytes: 2 ** 26 });
    const counting: Planner = {
      ...planner,
      parse: (request, asker, signal) => {
        asked.push('parse');
        return planner.parse(request, asker, signal);
      },
      plan: (request, asker, signal) => {
        asked.push('plan');
        return planner.plan(request, asker, signal);
      },
    };
    const ask = (asker: typeof SCRIPTED_ASKER): Promise<PreparedQuery> =>
      by({
        sql: 'SELECT a FROM t',
        offset: 0,
        context,
        asker,
        tables,
        planner: counting,
        signal: new AbortController().signal,
      });
    await ask(SCRIPTED_ASKER);
    await ask({ ...SCRIPTED_ASKER, principal: principalId('another') });
    expect(asked).toEqual(['parse', 'plan']);
    await ask({ ...SCRIPTED_ASKER, tenant: tenantId('rival') });
    expect(asked).toEqual(['parse', 'plan', 'parse', 'plan']);
  });

  test("a kept plan belongs to a version of its tables' policies", async () => {
    const by = queryPreparer({ cacheEntries: 100, cacheBytes: 2 ** 26 });
    const plan = async (policyVersion: string): Promise<PreparedQuery['plan']> => {
      const loadTables: TableSource['loadTables'] = async (names, signal) =>
        (await tables.loadTables(names, signal)).map((table) =>
          table.kind === 'found' ? { ...table, policyVersion } : table,
        );
      const request = { sql: 'SELECT a FROM t', offset: 0, context, asker: SCRIPTED_ASKER, planner };
      return (await by({ ...request, tables: { ...tables, loadTables }, signal: AbortSignal.timeout(10_000) })).plan;
    };
    const first = await plan('1');
    expect(await plan('1')).toBe(first);
    expect(await plan('2')).not.toBe(first);
  });

  test('a kept plan does not hold the tables that it was made for', async () => {
    const by = queryPreparer({ cacheEntries: 100, cacheBytes: 2 ** 26 });
    const metadata: WeakRef<object>[] = [];
    const loadTables: TableSource['loadTables'] = async (names, signal) =>
      (await tables.loadTables(names, signal)).map((table) => {
        if (table.kind !== 'found') return table;
        const own = { ...table, metadata: { ...table.metadata } };
        metadata.push(new WeakRef(own.metadata));
        return own;
      });
    const request = { sql: 'SELECT a FROM t WHERE a > 1', offset: 0, context, asker: SCRIPTED_ASKER, planner };
    await by({ ...request, tables: { ...tables, loadTables }, signal: AbortSignal.timeout(10_000), mayShare: true });
    // A reference that was followed in this turn holds its target until the next.
    await sleep(1);
    collectGarbage();
    expect(metadata.map((each) => each.deref())).toEqual([undefined]);
  });

  test('what runs of a plan have taught goes with it: to the same text, to other literals once these share it, to no other tenant', async () => {
    const by = queryPreparer({ cacheEntries: 100, cacheBytes: 2 ** 26 });
    const memoryOf = async (
      sql: string,
      asker = SCRIPTED_ASKER,
      mayShare = false,
    ): Promise<PreparedQuery['memory']> => {
      const request = { sql, offset: 0, context, asker, tables, planner, mayShare };
      return (await by({ ...request, signal: AbortSignal.timeout(10_000) })).memory;
    };
    const first = await memoryOf('SELECT a FROM t');
    expect(first).toEqual({ shaped: null, checks: new Map(), lastRows: null });
    expect(await memoryOf('SELECT a FROM t')).toBe(first);
    expect(await memoryOf('SELECT b FROM t')).not.toBe(first);
    expect(await memoryOf('SELECT a FROM t', { ...SCRIPTED_ASKER, tenant: tenantId('rival') })).not.toBe(first);
    for (const a of [1, 2, 3]) await memoryOf(`SELECT b FROM t WHERE a = ${a}`);
    const shared = await memoryOf('SELECT b FROM t WHERE a = 4', SCRIPTED_ASKER, true);
    expect(await memoryOf('SELECT b FROM t WHERE a = 5', SCRIPTED_ASKER, true)).toBe(shared);
  });

  test('a user that fills the cache evicts its own plans', async () => {
    const by = queryPreparer({ cacheEntries: 6, cacheBytes: 2 ** 26 });
    const quiet = { asker: SCRIPTED_ASKER, by };
    const first = await prepared('SELECT a FROM t', {}, quiet);
    const loud = { asker: { ...SCRIPTED_ASKER, principal: principalId('loud') }, by };
    for (let i = 0; i < 20; i += 1) await prepared(`SELECT a + ${i} FROM t`, {}, loud);
    expect((await prepared('SELECT a FROM t', {}, quiet)).plan).toBe(first.plan);
  });
});

describe('statements that are read like tables', () => {
  test('their rows are bound beside tables, with their columns and number', async () => {
    const query = await prepared('SELECT s.name, t.a FROM (SHOW TABLES) AS s JOIN t ON s.about = t.b');
    expect(query.columns.map(({ name, typeName }) => [name, typeName])).toEqual([
      ['name', 'VARCHAR'],
      ['a', 'INTEGER'],
    ]);
    expect(query.scans.map(({ kind }) => kind)).toEqual(['rows', 'iceberg']);
    expect(query.scans[0]).toMatchObject({ rows: { title: 'SHOW TABLES', rowCount: 2 } });
    expect(explainPlan(query, 'text').join('\n')).toMatch(/Scan SHOW TABLES {2}\{rows: 2\}\n *rows: 2/);
  });

  test('an error has its place in the statement, behind one too', async () => {
    expect(await failure('SELECT nothing FROM (SHOW TABLES)')).toEqual({ code: 'COLUMN_NOT_FOUND', at: 'nothing' });
    expect(await failure('SELECT 1 FROM (SHOW TABLES), missing')).toEqual({ code: 'TABLE_NOT_FOUND', at: 'missing' });
    expect(await failure('SELECT 1 FROM (SHOW TABLES) WHERE x = 1')).toEqual({ code: 'COLUMN_NOT_FOUND', at: 'x' });
    expect(await failure('SELECT 1 FROM (SUMMARIZE t)')).toMatchObject({ code: 'NOT_SUPPORTED' });
  });

  test('a kept plan gets the rows of each time', async () => {
    const first = await prepared('FROM (SHOW TABLES)');
    const again = await prepared('FROM (SHOW TABLES)');
    expect(again.plan).toBe(first.plan);
    expect(again.scans[0]).not.toBe(first.scans[0]);
  });
});

describe('columns that the text may name', () => {
  const namedIn = async (sql: string): Promise<readonly string[] | null> => {
    const scan = icebergScan(await prepared(sql));
    const { namedFieldIds } = scan;
    return namedFieldIds === null
      ? null
      : scan.columns.filter(({ fieldId }) => namedFieldIds.includes(fieldId)).map(({ name }) => name);
  };

  test.each([
    ['SELECT count(*) FROM t', ['a']],
    ['SELECT A FROM t WHERE a = 1', ['a']],
    ['SELECT a FROM t AS x WHERE EXISTS (SELECT x.b)', ['a', 'b']],
    ["SELECT 1 FROM t WHERE false AND b = 'q'", ['b']],
    ['SELECT c.f FROM t', ['c']],
    ['SELECT y.a FROM t JOIN (SELECT 1) AS y(a) USING (a)', ['a']],
    ['SELECT a, _pos FROM t', ['a', '_pos']],
    ['SELECT * FROM t', null],
    ['FROM t', null],
    ["SELECT COLUMNS('a') FROM t", null],
    ['SELECT t FROM t', null],
    ['SELECT u.f FROM t AS u(f)', null],
    ['SELECT a FROM t NATURAL JOIN (SELECT 1 AS a)', null],
  ])('%s', async (sql, expected) => {
    expect(await namedIn(sql)).toEqual(expected);
  });

  test('queries that share a plan', async () => {
    for (const key of [1, 2, 3, 4]) expect(await namedIn(`SELECT b FROM t WHERE a = ${key}`)).toEqual(['a', 'b']);
  });
});

describe('statements that are large', () => {
  const listed = (what: string, count: number): string => Array.from({ length: count }, () => what).join(', ');

  test('a plan that is too long stays where it was made; what prunes, what it reads and what it costs comes back', async () => {
    const values = Array.from({ length: 6_000 }, (_, i) => i + 10).join();
    const query = await prepared(`SELECT b FROM t WHERE a IN (${values}) AND b > 'x'`);
    expect(query.plan).toBeNull();
    expect(explainPlan(query, 'text')[0]).toBe(
      'This query runs whole on one worker; its plan is too long to be divided.',
    );
    expect(query.features).toMatchObject({ scans: 1, joins: 0 });
    const scan = icebergScan(query);
    expect(scan.readFieldIds.toSorted((a, b) => a - b)).toEqual([1, 2]);
    expect(scan.predicate).toEqual({
      kind: 'and',
      children: expect.arrayContaining([
        { kind: 'compare', op: 'gt', fieldId: 2, value: 'x' },
        {
          kind: 'and',
          children: [
            { kind: 'compare', op: 'ge', fieldId: 1, value: 10n },
            { kind: 'compare', op: 'le', fieldId: 1, value: 6_009n },
          ],
        },
      ]) as unknown,
    });
  });

  test.each([
    ['tables', `SELECT 1 FROM (FROM t${' UNION ALL FROM t'.repeat(1_000)})`, 'names more than 1000 tables'],
    ['columns of a result', `SELECT ${listed('1', 20_000)}`, 'names and types of the result are longer'],
    ['columns with their table', `SELECT ${listed('tpch.t.a', 10_001)} FROM t`, 'more than 10000 columns'],
    [
      'columns of tables',
      `SELECT 1 FROM (SELECT a FROM wide${' UNION ALL SELECT a FROM wide'.repeat(5)})`,
      'have more than 50000 columns',
    ],
  ])('%s are limited', async (_what, sql, message) => {
    await expect(prepared(sql)).rejects.toMatchObject({
      code: 'STATEMENT_TOO_COMPLEX',
      message: expect.stringContaining(message) as unknown,
    });
  });
});

const QUERIES = new URL('../../test/tpch/queries/', import.meta.url);

describe('TPC-H plans', () => {
  test.each(readdirSync(QUERIES).sort())('%s', async (file) => {
    const sql = readFileSync(new URL(file, QUERIES), 'utf8').replace(/;\s*$/, '');
    const query = await prepared(sql);
    expect(query.plan).not.toBeNull();
    await expect(`${explainPlan(query, 'text').join('\n')}\n`).toMatchFileSnapshot(
      `../planner/golden/tpch-${file.replace('.sql', '.txt')}`,
    );
  });
});

describe('a plan of every kind of statement', () => {
  const statements = readFileSync(new URL('../planner/golden/statements.sql', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  test('as text', async () => {
    const texts: string[] = [];
    for (const sql of statements) {
      const query = await prepared(sql);
      expect(query.plan, sql).not.toBeNull();
      expect(explainPlan(query, 'json').join('')).toContain('"children"');
      texts.push(sql, ...explainPlan(query, 'text'), '');
    }
    await expect(texts.join('\n')).toMatchFileSnapshot('../planner/golden/statements.txt');
  });
});
