import { describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import type { Statement } from '../command/commands.ts';
import { parseStatement } from './parse-statement.ts';
import { redactMessage, redactStatement } from '../statement/redact-statement.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const LIMITS = { bytesMax: 100_000, depthMax: 100 };
const parse = (text: string): Statement => parseStatement(text, LIMITS);

function failure(text: string): { code: string; position: number | undefined } {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof SkeinError) return { code: error.code, position: error.position };
    throw error;
  }
  throw new Error(`accepted: ${text}`);
}

describe('DELETE, UPDATE and MERGE', () => {
  test('their parts are texts of the statement', () => {
    const text =
      'UPDATE a.t AS x SET b = (SELECT 1, 2 FROM u), "C" = DEFAULT, d = e IS DISTINCT FROM f FROM v, w WHERE g = [1, 2]';
    const at = (part: string) => ({ text: part, offset: text.indexOf(part) });
    expect(parse(text)).toEqual({
      command: 'update',
      input: {
        table: { parts: ['a', 't'], position: 7 },
        alias: 'x',
        set: [
          { name: 'b', position: 20, value: at('(SELECT 1, 2 FROM u)') },
          { name: 'C', position: 46, value: null },
          { name: 'd', position: 61, value: at('e IS DISTINCT FROM f') },
        ],
        from: at('v, w'),
        where: at('g = [1, 2]'),
        returning: null,
        rest: { text: text.slice(16), offset: 16 },
      },
    });
    const merged =
      "MERGE INTO t USING (SELECT ')' AS a) AS s(b) ON CASE WHEN t.a THEN s.b END WHEN MATCHED AND s.b = 1 THEN DELETE";
    const inMerged = (part: string) => ({ text: part, offset: merged.indexOf(part) });
    expect(parse(merged)).toMatchObject({
      command: 'merge',
      input: {
        alias: null,
        source: {
          kind: 'query',
          query: inMerged("SELECT ')' AS a"),
          alias: 's',
          columns: [{ name: 'b', position: merged.indexOf('b) ON') }],
        },
        on: inMerged('CASE WHEN t.a THEN s.b END'),
        branches: [{ when: 'matched', condition: inMerged('s.b = 1'), action: { kind: 'delete' } }],
      },
    });
    expect(parse('DELETE FROM t x')).toEqual({
      command: 'deleteFrom',
      input: {
        table: { parts: ['t'], position: 12 },
        alias: 'x',
        from: null,
        where: null,
        returning: null,
        rest: { text: '', offset: 15 },
      },
    });
    expect(
      parse(
        "INSERT INTO t SELECT 'returning', (SELECT a.returning FROM a), a.returning AS returning FROM a -- x\n RETURNING a, (b) AS c -- y",
      ),
    ).toMatchObject({
      input: {
        query: {
          text: "SELECT 'returning', (SELECT a.returning FROM a), a.returning AS returning FROM a -- x",
          offset: 14,
        },
        returning: { text: 'a, (b) AS c', offset: 111 },
      },
    });
    expect(parse('INSERT INTO t VALUES (1), (2) RETURNING *')).toMatchObject({
      input: { values: [[{ text: '1' }], [{ text: '2' }]], returning: { text: '*' } },
    });
    expect(parse('DELETE FROM t USING a, (SELECT 1) AS b WHERE c')).toMatchObject({
      input: { from: { text: 'a, (SELECT 1) AS b', offset: 20 }, where: { text: 'c', offset: 45 } },
    });
  });

  test.each([
    ['DELETE FROM t WHERE', 'SYNTAX_ERROR'],
    ['DELETE FROM t WHERE a) OR (b', 'SYNTAX_ERROR'],
    ['DELETE FROM t WHERE (a', 'SYNTAX_ERROR'],
    ['DELETE FROM t WHERE a, b', 'SYNTAX_ERROR'],
    ['DELETE FROM t USING WHERE a', 'SYNTAX_ERROR'],
    ['UPDATE t WHERE a', 'SYNTAX_ERROR'],
    ['UPDATE t SET a', 'SYNTAX_ERROR'],
    ['UPDATE t SET a = , b = 1', 'SYNTAX_ERROR'],
    ['UPDATE t SET a = 1 FROM', 'SYNTAX_ERROR'],
    ['UPDATE t SET a = 1 RETURNING', 'SYNTAX_ERROR'],
    ['UPDATE t SET a = 1 RETURNING a FROM t', 'SYNTAX_ERROR'],
    ['DELETE FROM t RETURNING DISTINCT a', 'SYNTAX_ERROR'],
    ['DELETE FROM t RETURNING a ORDER BY a', 'SYNTAX_ERROR'],
    ['DELETE FROM t RETURNING WITH (OLD AS o) o.a', 'NOT_SUPPORTED'],
    ['INSERT INTO t SELECT 1 RETURNING a,', 'SYNTAX_ERROR'],
    ['MERGE INTO t USING s ON a', 'SYNTAX_ERROR'],
    ['MERGE INTO t USING (SELECT 1) ON a WHEN MATCHED THEN DELETE', 'SYNTAX_ERROR'],
    ['MERGE INTO t USING s ON a WHEN NOT MATCHED THEN DELETE', 'SYNTAX_ERROR'],
    ['MERGE INTO t USING s ON a WHEN MATCHED THEN INSERT *', 'SYNTAX_ERROR'],
    ['MERGE INTO t USING s ON a WHEN MATCHED AND THEN DELETE', 'SYNTAX_ERROR'],
  ])('%s: %s', (text, code) => {
    expect(failure(text).code).toBe(code);
  });
});

describe('queries are text', () => {
  test.each([
    'SELECT 1',
    "select a from t where b = ';' -- ;",
    'WITH a AS (SELECT 1) SELECT * FROM a',
    'FROM t',
    'VALUES (1), (2)',
    'TABLE t',
    '((SELECT 1)) UNION ALL SELECT 2',
    "select $$ ; $$, $tag$ ;' $tag$",
    "select e'\\';', 'a''b;'",
    'select "a;b" /* ; /* nested ; */ ; */ from t',
  ])('%s', (text) => {
    expect(parse(text)).toMatchObject({ command: 'query', input: { query: { offset: 0 } } });
  });

  test('wide spaces and a byte order mark are spaces, but in quotes', () => {
    expect(parse('\ufeffSELECT\u00a0a,\u200b$$\u3000$$, \'\u00a0\', "\u2003" /*\u00a0*/')).toEqual({
      command: 'query',
      input: { query: { text: 'SELECT a, $$\u3000$$, \'\u00a0\', "\u2003"', offset: 1 } },
    });
    expect(parse('SHOW\u00a0TABLES')).toMatchObject({ command: 'showTables' });
  });

  test('surrounding space is left out, and the offset counts it', () => {
    expect(parse('  -- hello\n SELECT 1 ; -- bye\n')).toEqual({
      command: 'query',
      input: { query: { text: 'SELECT 1', offset: 12 } },
    });
  });
});

describe('our own statements', () => {
  const like = null;
  const setting = (name: string, value: string | null, scope: 'session' | 'local' = 'session'): Statement => ({
    command: 'set',
    input: { kind: 'setting', name, value, scope },
  });
  test.each<[string, Statement]>([
    ["SET service.workload_class = 'batch'", setting('service.workload_class', 'batch')],
    ['; ;SET a = 1', setting('a', '1')],
    ['set Skein.X to -12.5;', setting('skein.x', '-12.5')],
    ['SET SESSION a = on', setting('a', 'on')],
    ['SET a = DEFAULT', setting('a', null)],
    ["SET TIME ZONE 'Europe/Berlin'", setting('timezone', 'Europe/Berlin')],
    ['SET TIME ZONE LOCAL', setting('timezone', null)],
    ["SET LOCAL TIME ZONE 'UTC'", setting('timezone', 'UTC', 'local')],
    ['SET timezone TO $$UTC$$', setting('timezone', 'UTC')],
    [
      'DECLARE c NO SCROLL CURSOR WITH HOLD FOR SELECT 1',
      {
        command: 'declare',
        input: { name: 'c', position: 8, canScroll: false, isHeld: true, query: { text: 'SELECT 1', offset: 41 } },
      },
    ],
    ['FETCH next', { command: 'fetch', input: { name: 'next', position: 6, move: { kind: 'forward', count: 1 } } }],
    [
      'FETCH BACKWARD ALL FROM "c"',
      { command: 'fetch', input: { name: 'c', position: 24, move: { kind: 'backward', count: 'all' } } },
    ],
    [
      'MOVE ABSOLUTE -2 IN c',
      { command: 'move', input: { name: 'c', position: 20, move: { kind: 'absolute', count: -2 } } },
    ],
    ['CLOSE ALL', { command: 'close', input: null }],
    ['SET search_path TO a, "B c", $$d e$$', setting('search_path', 'a, "B c", "d e"')],
    ['SET session = 1', setting('session', '1')],
    ['SET LOCAL names = 1', setting('names', '1', 'local')],
    ["SET NAMES 'utf8'", setting('client_encoding', 'utf8')],
    ['SET TRANSACTION READ ONLY', { command: 'set', input: { kind: 'modes', of: 'transaction', mayWrite: false } }],
    [
      'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE, NOT DEFERRABLE',
      { command: 'set', input: { kind: 'modes', of: 'session', mayWrite: true } },
    ],
    ['SET SESSION AUTHORIZATION DEFAULT', { command: 'set', input: { kind: 'nothing', tag: 'SET' } }],
    ['SET CONSTRAINTS ALL IMMEDIATE', { command: 'set', input: { kind: 'nothing', tag: 'SET CONSTRAINTS' } }],
    ['SET ROLE NONE', { command: 'set', input: { kind: 'no role' } }],
    ['DISCARD TEMPORARY', { command: 'discard', input: 'TEMP' }],
    ['UNLISTEN *', { command: 'listen', input: null }],
    ['RESET ROLE', { command: 'reset', input: { role: null } }],
    ['RESET a.b', { command: 'reset', input: { name: 'a.b' } }],
    ['RESET ALL', { command: 'reset', input: { name: null } }],
    ['USE lake', { command: 'use', input: { name: { parts: ['lake'], position: 4 } } }],
    ['use lake."a.b"', { command: 'use', input: { name: { parts: ['lake', 'a.b'], position: 4 } } }],
    ['USE CATALOG lake', { command: 'use', input: { catalog: 'lake' } }],
    ['USE catalog', { command: 'use', input: { name: { parts: ['catalog'], position: 4 } } }],
    ['SHOW CATALOGS', { command: 'showCatalogs', input: { like } }],
    [`SHOW CATALOGS LIKE '${'%a'.repeat(2_000)}'`, { command: 'showCatalogs', input: { like: '%a'.repeat(2_000) } }],
    ["SHOW CATALOGS LIKE 'l%'", { command: 'showCatalogs', input: { like: 'l%' } }],
    ['SHOW SCHEMAS', { command: 'showSchemas', input: { catalog: null, like } }],
    ["SHOW SCHEMAS IN lake LIKE 't%'", { command: 'showSchemas', input: { catalog: 'lake', like: 't%' } }],
    ['SHOW TABLES', { command: 'showTables', input: { schema: null, like } }],
    [
      'SHOW TABLES FROM lake.tpch',
      { command: 'showTables', input: { schema: { parts: ['lake', 'tpch'], position: 17 }, like } },
    ],
    ['SHOW COLUMNS FROM t', { command: 'showColumns', input: { table: { parts: ['t'], position: 18 } } }],
    ['SHOW Service.workload_class', { command: 'show', input: { setting: 'service.workload_class' } }],
    ['SHOW lake.tpch.t', { command: 'show', input: { table: { parts: ['lake', 'tpch', 't'], position: 5 } } }],
    ['SHOW "users"', { command: 'show', input: { table: { parts: ['users'], position: 5 } } }],
    ['SHOW tables.t', { command: 'show', input: { table: { parts: ['tables', 't'], position: 5 } } }],
    ['SUMMARIZE FROM t', { command: 'summarize', input: { query: { text: 'FROM t', offset: 10 } } }],
    ['SUMMARIZE lake."s" . t', { command: 'summarize', input: { query: { text: 'FROM lake."s" . t', offset: 5 } } }],
    ['SUMMARIZE TABLE t', { command: 'summarize', input: { query: { text: 'FROM t', offset: 11 } } }],
    ['SHOW TIME ZONE', { command: 'show', input: { setting: 'timezone' } }],
    ['SHOW ALL TABLES', { command: 'showAllTables', input: null }],
    ['SHOW ALL', { command: 'showAll', input: null }],
    ['DESCRIBE t', { command: 'describe', input: { table: { parts: ['t'], position: 9 } } }],
    [
      'DESC TABLE lake.tpch.t',
      { command: 'describe', input: { table: { parts: ['lake', 'tpch', 't'], position: 11 } } },
    ],
    ['DESCRIBE SELECT 1', { command: 'describe', input: { query: { text: 'SELECT 1', offset: 9 } } }],
    [
      'EXPLAIN (TYPE DISTRIBUTED) SELECT 1',
      {
        command: 'explain',
        input: { analyze: false, type: 'distributed', format: 'text', query: { text: 'SELECT 1', offset: 27 } },
      },
    ],
    [
      'EXPLAIN SELECT 1',
      {
        command: 'explain',
        input: { analyze: false, type: 'logical', format: 'text', query: { text: 'SELECT 1', offset: 8 } },
      },
    ],
    [
      'EXPLAIN ANALYZE (SELECT 1)',
      {
        command: 'explain',
        input: { analyze: true, type: 'logical', format: 'text', query: { text: '(SELECT 1)', offset: 16 } },
      },
    ],
    [
      'EXPLAIN (TYPE LOGICAL, FORMAT JSON, ANALYZE) FROM t',
      {
        command: 'explain',
        input: { analyze: true, type: 'logical', format: 'json', query: { text: 'FROM t', offset: 45 } },
      },
    ],
    [
      'PREPARE "A b" (INTEGER, DECIMAL(9, 2), STRUCT(a INTEGER[])) AS SELECT $1',
      {
        command: 'prepare',
        input: {
          name: 'a b',
          position: 8,
          types: ['INTEGER', 'DECIMAL(9, 2)', 'STRUCT(a INTEGER[])'],
          statement: { text: 'SELECT $1', offset: 63 },
        },
      },
    ],
    ['EXECUTE p', { command: 'execute', input: { name: 'p', position: 8, arguments: [] } }],
    [
      `EXECUTE P(-1.50, ('it''s'), "X y" := [1, (2)], n := NULL, a::INT)`,
      {
        command: 'execute',
        input: {
          name: 'p',
          position: 8,
          arguments: [
            { name: null, expression: { text: '-1.50', offset: 10 }, constant: { digits: '-1.50' } },
            { name: null, expression: { text: "('it''s')", offset: 17 }, constant: "it's" },
            { name: 'x y', expression: { text: '[1, (2)]', offset: 37 }, constant: undefined },
            { name: 'n', expression: { text: 'NULL', offset: 52 }, constant: null },
            { name: null, expression: { text: 'a::INT', offset: 58 }, constant: undefined },
          ],
        },
      },
    ],
    ['DEALLOCATE p', { command: 'deallocate', input: { name: 'p', position: 11 } }],
    ['DEALLOCATE PREPARE ALL', { command: 'deallocate', input: { name: null, position: 19 } }],
    ['DEALLOCATE "ALL"', { command: 'deallocate', input: { name: 'all', position: 11 } }],
    ['DEALLOCATE prepare', { command: 'deallocate', input: { name: 'prepare', position: 11 } }],
    ['BEGIN', { command: 'transactionControl', input: { kind: 'BEGIN', mayWrite: null } }],
    ['BEGIN WORK READ ONLY', { command: 'transactionControl', input: { kind: 'BEGIN', mayWrite: false } }],
    [
      'START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ WRITE',
      { command: 'transactionControl', input: { kind: 'BEGIN', mayWrite: true } },
    ],
    ['COMMIT WORK', { command: 'transactionControl', input: { kind: 'COMMIT' } }],
    ['END', { command: 'transactionControl', input: { kind: 'COMMIT' } }],
    ['ROLLBACK', { command: 'transactionControl', input: { kind: 'ROLLBACK', to: null } }],
    ['ABORT TRANSACTION', { command: 'transactionControl', input: { kind: 'ROLLBACK', to: null } }],
    ['ROLLBACK TO SAVEPOINT a', { command: 'transactionControl', input: { kind: 'ROLLBACK', to: 'a' } }],
    ['ROLLBACK WORK TO savepoint', { command: 'transactionControl', input: { kind: 'ROLLBACK', to: 'savepoint' } }],
    ['SAVEPOINT "A b"', { command: 'savepoint', input: { kind: 'SAVEPOINT', name: 'A b' } }],
    ['RELEASE SAVEPOINT a', { command: 'savepoint', input: { kind: 'RELEASE', name: 'a' } }],
    ['RELEASE savepoint', { command: 'savepoint', input: { kind: 'RELEASE', name: 'savepoint' } }],
  ])('%s', (text, expected) => {
    expect(parse(text)).toEqual(expected);
  });
});

describe('refusals', () => {
  test.each([
    ['CREATE MACRO a() AS 1', 'CREATE MACRO is not served'],
    ['create or replace temp macro a() AS 1', 'CREATE OR REPLACE TEMP MACRO is not served'],
    ['DROP SEQUENCE s', 'DROP SEQUENCE is not served'],
    ['CREATE', 'CREATE is not served'],
    ['VACUUM t', 'VACUUM is not served'],
    ['DELETE t WHERE a = 1', 'expected FROM where "t" stands'],
    ['INSERT t VALUES (1)', 'expected INTO or OVERWRITE where "t" stands'],
    ["CREATE TABLE t (a ENUM('x', 'y'))", 'column a cannot have the type ENUM: use VARCHAR'],
    ['CREATE TABLE t (a INT, b UNION(c INT)[])', 'column b cannot have the type UNION: use STRUCT'],
  ])('%s: %s', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });

  test.each([
    ["COPY t TO '/tmp/x'", 'NOT_SUPPORTED'],
    ["ATTACH 'x.db'", 'NOT_SUPPORTED'],
    ['PRAGMA version', 'NOT_SUPPORTED'],
    ['CREATE MACRO a() AS 1', 'NOT_SUPPORTED'],
    ['CREATE TABLE t (a INT, b UHUGEINT)', 'NOT_SUPPORTED'],
    ["CREATE TABLE t (a ENUM('x', 'y'))", 'NOT_SUPPORTED'],
    ['CREATE TABLE t (a STRUCT(b UNION(c INT, d DATE)))', 'NOT_SUPPORTED'],
    ['DELETE t WHERE a = 1', 'SYNTAX_ERROR'],
    ['DELETE', 'SYNTAX_ERROR'],
    ['EXPLAIN DELETE t', 'SYNTAX_ERROR'],
    ['INSERT t VALUES (1)', 'SYNTAX_ERROR'],
    ['MERGE t USING s ON true WHEN MATCHED THEN DELETE', 'SYNTAX_ERROR'],
    ['OPTIMIZE t JUNK', 'SYNTAX_ERROR'],
    ['OPTIMIZE t WITH (dry_run = true)', 'SYNTAX_ERROR'],
    ['OPTIMIZE t WHERE a) OR (b', 'SYNTAX_ERROR'],
    ['ALTER TABLE t EXECUTE optimize WHERE a, b', 'SYNTAX_ERROR'],
    ['DELETE FROM t LIMIT', 'SYNTAX_ERROR'],
    ['UPDATE t AS order SET a = 1', 'SYNTAX_ERROR'],
    ['CREATE TABLE t (a INT REFERENCES b (c))', 'SYNTAX_ERROR'],
    ['CREATE TABLE t (a STRUCT(b INT, B INT))', 'COLUMN_EXISTS'],
    ['CREATE TABLE t ()', 'SYNTAX_ERROR'],
    ['CREATE TABLE t (a INT) AS SELECT 1', 'SYNTAX_ERROR'],
    ['CREATE TABLE t (a INT) PARTITIONED BY ()', 'SYNTAX_ERROR'],
    ['CREATE TABLE t (a INT) PARTITIONED BY (bucket(a))', 'SYNTAX_ERROR'],
    ['CREATE TABLE t (a INT) PARTITIONED BY (bucket(0, a))', 'SYNTAX_ERROR'],
    ['CREATE TABLE t (a INT) WITH (x = )', 'SYNTAX_ERROR'],
    [`CREATE TABLE t (a ${'ARRAY<'.repeat(60)}INT${'>'.repeat(60)})`, 'STATEMENT_TOO_COMPLEX'],
    [`CREATE TABLE t (a INT${'[]'.repeat(1_000)})`, 'STATEMENT_TOO_COMPLEX'],
    [`CREATE TABLE t (${'a INT,'.repeat(10_001)}b INT)`, 'STATEMENT_TOO_COMPLEX'],
    [`CREATE TABLE t (a INT) PARTITIONED BY (${'a,'.repeat(40)}a)`, 'SYNTAX_ERROR'],
    [`ALTER TABLE t ${'DROP a,'.repeat(1_001)} DROP b`, 'SYNTAX_ERROR'],
    ['ALTER TABLE t ALTER a TYPE', 'SYNTAX_ERROR'],
    ['ALTER TABLE t RENAME a', 'SYNTAX_ERROR'],
    ['ALTER TABLE t RENAME TO b, ADD c INT', 'SYNTAX_ERROR'],
    ['COMMENT ON INDEX v IS NULL', 'SYNTAX_ERROR'],
    [`COPY INTO t FROM (SELECT ${'$1,'.repeat(10_000)}$1 FROM @s)`, 'STATEMENT_TOO_COMPLEX'],
    ['INSERT INTO t', 'SYNTAX_ERROR'],
    ['INSERT INTO t (a) SET a = 1', 'SYNTAX_ERROR'],
    ['INSTALL httpfs', 'NOT_SUPPORTED'],
    ['SET VARIABLE x = 1', 'NOT_SUPPORTED'],
    ['SET ROLE admin', 'NOT_SUPPORTED'],
    ['EXPLAIN CREATE TABLE t (a INT)', 'NOT_SUPPORTED'],
    ['EXPLAIN DROP TABLE t', 'NOT_SUPPORTED'],
    ['EXPLAIN ANALYZE INSERT INTO t', 'SYNTAX_ERROR'],
    ['EXPLAIN (FORMAT graphviz) SELECT 1', 'NOT_SUPPORTED'],
    ['SUMMARIZE', 'SYNTAX_ERROR'],
    ['SUMMARIZE t WHERE a > 1', 'SYNTAX_ERROR'],
    ['SHOW a.b.c.d', 'SYNTAX_ERROR'],
    [`SHOW CATALOGS LIKE '${'%a'.repeat(2_100)}'`, 'INVALID_REQUEST'],
    ['SELCT 1', 'SYNTAX_ERROR'],
    ['\u017fELECT 1', 'SYNTAX_ERROR'],
    ['\u017fET a = 1', 'SYNTAX_ERROR'],
    ['\u2028SELECT 1', 'SYNTAX_ERROR'],
    ['SELECT 1 --\r; SELECT 2', 'SYNTAX_ERROR'],
    ["SELECT 1_e'\\'; SELECT ' 2'", 'SYNTAX_ERROR'],
    ['SET a = $1', 'SYNTAX_ERROR'],
    ['hello world', 'SYNTAX_ERROR'],
    ['1', 'SYNTAX_ERROR'],
    ['SET a', 'SYNTAX_ERROR'],
    ['SET a = b c', 'SYNTAX_ERROR'],
    ['USE a.b.c', 'SYNTAX_ERROR'],
    ['SHOW TABLES FROM', 'SYNTAX_ERROR'],
    ['EXPLAIN', 'SYNTAX_ERROR'],
    ['BEGIN READ', 'SYNTAX_ERROR'],
    ['COMMIT READ ONLY', 'SYNTAX_ERROR'],
    ['BEGIN ISOLATION LEVEL SERIALIZABLE', 'NOT_SUPPORTED'],
    ['', 'SYNTAX_ERROR'],
    ['  -- nothing\n ; ;', 'SYNTAX_ERROR'],
  ])('%s', (text, code) => {
    expect(failure(text).code).toBe(code);
  });

  test('what follows the end of a comment belongs to the statement', () => {
    expect(parse('SELECT 1 -- one\r, 2')).toMatchObject({ input: { query: { text: 'SELECT 1 -- one\r, 2' } } });
  });

  test('names of more than 1,024 bytes, wherever they stand', () => {
    const long = 'x'.repeat(1_025);
    for (const text of [
      `SELECT ${long}`,
      `SELECT "${long}"(1)`,
      `SET ${long} = 1`,
      `USE a."${long}"`,
      `SHOW ${long}`,
    ]) {
      expect(failure(text)).toEqual({ code: 'NAME_TOO_LONG', position: text.search(/"?x/) });
    }
    expect(failure(`SELECT "${'\u20ac'.repeat(342)}"`).code).toBe('NAME_TOO_LONG');
    expect(
      parse(`SELECT "${'\u20ac'.repeat(341)}", '${long}', $$${long}$$, ${'1'.repeat(2_000)} /* ${long} */`).command,
    ).toBe('query');
    expect(parse(`SELECT "${'""'.repeat(1_024)}"`).command).toBe('query');
  });

  test('positions are characters of the statement', () => {
    expect(failure(' SET a = ü c')).toEqual({ code: 'SYNTAX_ERROR', position: 11 });
    expect(failure("SELECT 'ü', 'open")).toEqual({ code: 'SYNTAX_ERROR', position: 12 });
    expect(failure('SELECT /* open')).toEqual({ code: 'SYNTAX_ERROR', position: 7 });
    expect(failure('SELECT 1; SELECT 2')).toEqual({ code: 'SYNTAX_ERROR', position: 10 });
  });

  test('a statement that is too long or too deep', () => {
    expect(failure(`SELECT '${'x'.repeat(100_000)}'`).code).toBe('PAYLOAD_TOO_LARGE');
    for (const open of ['(', '[', '{', 'CASE WHEN ', 'NOT ', '- ', '~']) {
      expect(failure(`SELECT ${open.repeat(9_000)}1`).code, open).toBe('STATEMENT_TOO_COMPLEX');
    }
    expect(parse(`SELECT ${'(1), '.repeat(500)}1`).command).toBe('query');
    expect(parse(`SELECT ${'CASE WHEN a THEN 1 END, '.repeat(500)}1`).command).toBe('query');
  });

  test('an INSERT that lists too many values', () => {
    const rows = (count: number): string => `INSERT INTO t VALUES (1, 2)${',(3, 4)'.repeat(count - 1)}`;
    const limits = { bytesMax: 9e6, depthMax: 1000 };
    expect(parseStatement(rows(50_000), limits).command).toBe('insert');
    expect(() => parseStatement(rows(50_001), limits)).toThrow('at most 100000 values');
  });

  test('a hundred thousand nested brackets are refused at once', () => {
    const started = performance.now();
    expect(() => parseStatement('('.repeat(8_000_000), { bytesMax: 9e6, depthMax: 1000 })).toThrow('nested');
    expect(performance.now() - started).toBeLessThan(1_000 * machineSlowness());
  });
});

describe('redaction', () => {
  test('history keeps the first hundred thousand characters, and no value that came later', () => {
    const long = redactStatement(`select 1${'+1'.repeat(100_000)}`, 'open');
    expect(long.text).toBe(`select 1${'+1'.repeat(49_996)}...`);
    const secret = redactStatement(`EXECUTE p(${"'hunter2',".repeat(50)}${'1,'.repeat(100_000)} 'hunter3')`, 'values');
    expect(secret.text).toHaveLength(100_003);
    expect(secret.text).not.toContain('hunter');
    expect(redactMessage('hunter3 is wrong', secret)).toBe('*** is wrong');
  });
});
