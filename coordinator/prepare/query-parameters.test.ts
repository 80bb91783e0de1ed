import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { SCRIPTED_ASKER, scriptedTables } from '#test/support/scripted/tables.ts';
import type { DescribeReply, Planner } from '../binding/planner.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { printSqlType } from '../plan/sql-type.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import { applyEdits, bindParameters, valuePlaces } from '../statement/bind-parameters.ts';
import type { Constant, Parameters } from '../statement/parameters.ts';
import { constantsOf, constantsQuery } from '../query/constants-query.ts';
import { prove } from '../statement/proven.ts';
import { describeQuery, queryPreparer } from './prepare-query.ts';

const tables = scriptedTables({ 'lake.tpch.t': { columns: 'a int, b string' } });
const context = {
  nowMicros: '1708000000000000',
  timeZone: 'UTC',
  currentUser: 'ann',
  currentCatalog: 'lake',
  currentSchema: 'tpch',
};
const prepare = queryPreparer({ cacheEntries: 100, cacheBytes: 2 ** 26 });
let planner: Planner;
let duckdb: DuckDBConnection;
beforeAll(async () => {
  planner = await sessionPlanner();
  duckdb = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
});

describe('columns of a query with parameters', () => {
  const parametersOf = (values: readonly Constant[]): Parameters => ({
    kind: 'positional',
    values: values.map((value) => ({ type: null, value })),
  });
  const withValues = (sql: string, parameters: Parameters): Promise<PreparedQuery> => {
    const edits = bindParameters(sql, parameters, 2 ** 23);
    return prepare({
      sql: applyEdits(sql, edits).text,
      offset: 0,
      values: valuePlaces(edits),
      context,
      asker: SCRIPTED_ASKER,
      tables,
      planner,
      signal: AbortSignal.timeout(10_000),
    });
  };
  const n = (digits: number): Constant => ({ digits: String(digits) });

  test.each<[string, readonly Constant[], string]>([
    ['SELECT ?', [n(1)], '1'],
    ['SELECT ?, $1, $2 + 1, upper(?), -$1, (?)', [n(1), n(2), 'x', n(4)], "1, 2, 'x', 4"],
    ['SELECT * FROM (SELECT $1, 1), (FROM range($2)) AS r', [['a'], n(2)], "['a'], 2"],
    ['SELECT $2 AS x, typeof($1) FROM (SELECT $3)', [null, true, n(1)], 'NULL, true, 1'],
    ['VALUES ($1), ($2)', ['a', 'b'], "'a', 'b'"],
    ["WITH x AS (SELECT ? || 'é') SELECT * FROM x UNION ALL SELECT ?", ['ü', 'b'], "'ü', 'b'"],
    ['SELECT CASE WHEN ? THEN ? END, [?], {a: ?}', [true, 'a', 'b', n(1)], "true, 'a', 'b', 1"],
  ])('%s: named as by EXECUTE of DuckDB', async (sql, values, call) => {
    await duckdb.run(`PREPARE p AS ${sql}`);
    const expected = (await duckdb.run(`EXECUTE p(${call})`)).columnNames();
    expect((await withValues(sql, parametersOf(values))).columns.map(({ name }) => name)).toEqual(expected);
  });

  test('a long value is no name, and the same text without parameters has its own plan', async () => {
    const long = await withValues('SELECT $1, a FROM t', parametersOf(['x'.repeat(2 ** 20)]));
    expect(long.columns.map(({ name }) => name)).toEqual(['$1', 'a']);
    const one = await withValues('SELECT $1', parametersOf([n(5)]));
    const two = await withValues('SELECT  5 ', parametersOf([]));
    expect([one, two].map(({ columns }) => columns[0]?.name)).toEqual(['$1', '5']);
  });

  test.each([
    ['SELECT a,\n $2 FROM t WHERE b = $1', ['DATE', 'TINYINT'], '1000', 'INVALID_CAST', '$2'],
    ['SELECT $1, $2, $2', ['VARCHAR', 'DATE'], 'é', 'INVALID_CAST', '$2'],
    ["SELECT 'ü' || $1", ['UUID'], 'x', 'INVALID_CAST', '$1'],
  ])('%s: a value that is not of its type is shown', async (sql, types, bad, code, at) => {
    const values = types.map((type, i) => ({ type, value: i === types.length - 1 ? bad : '2024-01-01' }));
    const failed = await withValues(sql, { kind: 'positional', values }).catch((error: unknown) =>
      SkeinError.of(error),
    );
    expect(failed).toMatchObject({ code });
    const edits = bindParameters(sql, { kind: 'positional', values }, 2 ** 20);
    const position = applyEdits(sql, edits).toSource((failed as SkeinError).position ?? 0);
    expect(position).toBe(sql.indexOf(at));
  });

  test('where DuckDB takes no parameter, columns are named after the value', async () => {
    const { columns } = await withValues('SELECT $1, a FROM t ORDER BY $2, a', parametersOf([n(1), n(2)]));
    expect(columns.map(({ name }) => name)).toEqual(['1', 'a']);
  });
});

describe('a query whose parameters have no values yet', () => {
  const describing = async (sql: string, types: readonly string[] = []) => {
    const edits = bindParameters(sql, { kind: 'unknown', types }, 2 ** 20);
    const signal = AbortSignal.timeout(10_000);
    const text = { sql: applyEdits(sql, edits).text, offset: 0, values: valuePlaces(edits) };
    try {
      const found = await describeQuery({ ...text, context, asker: SCRIPTED_ASKER, tables, planner, signal });
      const print = (fields: DescribeReply['columns']) =>
        fields?.map(({ name, type }) => `${name} ${printSqlType(type)}`);
      return { columns: print(found.columns), parameters: print(found.parameters) };
    } catch (thrown) {
      const { code, position } = SkeinError.of(thrown);
      return { code, at: sql.slice(applyEdits(sql, edits).toSource(position ?? 0)) };
    }
  };

  test.each([
    ['SELECT a, b FROM t', [], ['a INTEGER', 'b VARCHAR'], []],
    ['SELECT a FROM t WHERE b LIKE $2 AND a = $1', [], ['a INTEGER'], ['1 INTEGER', '2 VARCHAR']],
    ['SELECT $1, a + $2 FROM t LIMIT $3', ['DATE', 'BIGINT'], ['$1 DATE', '(a + $2) BIGINT'], ['1 DATE', '2 BIGINT']],
    ['SELECT $when < now() FROM t', [], ['($when < now()) BOOLEAN'], ['when TIMESTAMP WITH TIME ZONE']],
    ['SELECT a, $2 + 1 AS n FROM t AT (VERSION => $1)', ['BIGINT', 'INT'], ['a INTEGER', 'n INTEGER'], ['2 INTEGER']],
    ['SELECT x.b FROM t FOR TIMESTAMP AS OF $1 x WHERE a = $2', [], ['b VARCHAR'], []],
    ['SELECT struct_extract($1, 1), a FROM t', [], ['struct_extract($1, 1) INTEGER', 'a INTEGER'], []],
  ])('%s has columns and types', async (sql, types, columns, parameters) => {
    const found = await describing(sql, types);
    expect(found.columns).toEqual(columns);
    expect(found.parameters?.toSorted()).toEqual(expect.arrayContaining(parameters));
  });

  test.each([
    ['SELECT $1, nocolumn FROM t', 'COLUMN_NOT_FOUND', 'nocolumn FROM t'],
    ["SELECT 'é', $1 || $2, $3 FROM no.table_", 'TABLE_NOT_FOUND', 'no.table_'],
    ['SELECT $1, nofunction($2)', 'FUNCTION_NOT_FOUND', 'nofunction($2)'],
    ["SELECT $1, read_text('/etc/passwd')", 'NOT_SUPPORTED', "read_text('/etc/passwd')"],
    ['SELECT $1 FROM t ORDER BY $2', 'INVALID_REQUEST', undefined],
  ])('%s is refused with its place', async (sql, code, at) => {
    const refused = await describing(sql);
    expect(refused.code).toBe(code);
    if (at !== undefined) expect(refused.at).toBe(at);
  });
});

describe('constant expressions', () => {
  const evaluated = async (...expressions: readonly string[]) => {
    const sql = `EXECUTE p(${expressions.join(', ')})`;
    const written = expressions.map((text) => ({ text, offset: sql.indexOf(text) }));
    const signal = AbortSignal.timeout(20_000);
    const spans = await prove(
      (take) => written.map((one) => take('expression', one)),
      (parts) => planner.checkParts(parts, SCRIPTED_ASKER, signal),
    ).catch((thrown: unknown) => SkeinError.of(thrown));
    if (spans instanceof SkeinError) return [spans.code, sql.slice(spans.position)];
    const { query, text, values } = constantsQuery(spans);
    try {
      const request = { sql: text.text, offset: 0, values, context, asker: SCRIPTED_ASKER, tables, planner, signal };
      return constantsOf(spans, await prepare(request));
    } catch (thrown) {
      const error = SkeinError.of(thrown);
      // `prepare` gives a place in the text that was made, `constantsOf` one in the statement.
      const isMade = error.code !== 'INVALID_ARGUMENT' || !error.message.startsWith('the values');
      const position = isMade ? query.offset + text.toSource(error.position ?? 0) : (error.position ?? 0);
      return [error.code, sql.slice(position)];
    }
  };

  test.each([
    [
      ['1 + 1', "upper('x')", '[1, NULL]'],
      ['CAST(2 AS INTEGER)', "CAST('X' AS VARCHAR)", 'CAST(['],
    ],
    [
      ["DATE '2024-02-29'", 'now()'],
      ["CAST('2024-02-29' AS DATE)", "CAST('2024-02-15"],
    ],
    [
      ['1', "DATE 'never'"],
      ['INVALID_CAST', "DATE 'never')"],
    ],
    [
      ['1 + 1', 'a'],
      ['COLUMN_NOT_FOUND', 'a)'],
    ],
    [
      ['1 + 1', 'random()'],
      ['INVALID_ARGUMENT', 'random())'],
    ],
    [
      ['1', '(SELECT max(a) FROM t)'],
      ['INVALID_ARGUMENT', '1, (SELECT max(a) FROM t))'],
    ],
    [['unnest([1, 2])'], ['SYNTAX_ERROR', 'unnest([1, 2]))']],
    [['1) FROM t --'], ['SYNTAX_ERROR', ') FROM t --']],
    [
      ['1', '*'],
      ['SYNTAX_ERROR', '*)'],
    ],
    [
      ['1', '2 + 3 x'],
      ['SYNTAX_ERROR', 'x)'],
    ],
    [["read_text('/etc/passwd')"], ['NOT_SUPPORTED', "read_text('/etc/passwd'))"]],
  ])('%j', async (expressions, expected) => {
    const found = await evaluated(...expressions);
    for (const [i, text] of expected.entries()) expect(found[i]?.slice(0, text.length), String(found)).toBe(text);
  });
});
