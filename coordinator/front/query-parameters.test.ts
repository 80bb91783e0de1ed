import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { SCRIPTED_ASKER, scriptedTables } from '#test/support/scripted/tables.ts';
import type { Planner } from '../planner/planner.ts';
import type { PreparedQuery } from '../planner/prepared-query.ts';
import { sessionPlanner } from '../planner/session-planner.ts';
import { applyEdits, bindParameters, valuePlaces } from '../statement/bind-parameters.ts';
import type { Constant, Parameters } from '../statement/parameters.ts';
import { queryPreparer } from './prepare-query.ts';

const tables = scriptedTables({ 'lake.tpch.t': { columns: 'a int, b string' } });
const context = {
  nowMicros: '1708000000000000',
  timeZone: 'UTC',
  currentUser: 'ann',
  currentCatalog: 'lake',
  currentSchema: 'tpch',
};
const prepare = queryPreparer({ cacheEntries: 100 });
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
