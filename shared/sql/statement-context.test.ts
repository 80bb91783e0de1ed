import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, test } from 'vitest';
import { contextSetupSql, contextVariablesSql } from './statement-context.ts';

const context = {
  nowMicros: '1700000000123456',
  timeZone: 'Asia/Tokyo',
  currentUser: "o'hara",
  currentCatalog: 'lake',
  currentSchema: 'a.b',
  session: { backendPid: 7, settings: { 'a/b~': "o'clock" } },
};

describe('statement context', () => {
  let connection: DuckDBConnection;
  beforeAll(async () => {
    connection = await (await DuckDBInstance.create(':memory:')).connect();
    for (const sql of [...contextSetupSql, ...contextVariablesSql(context)]) await connection.run(sql);
  });

  test.each([
    ['now()', '2023-11-15 07:13:20.123456+09', 'TIMESTAMP WITH TIME ZONE'],
    ['current_timestamp', '2023-11-15 07:13:20.123456+09', 'TIMESTAMP WITH TIME ZONE'],
    ['transaction_timestamp()', '2023-11-15 07:13:20.123456+09', 'TIMESTAMP WITH TIME ZONE'],
    ['current_date', '2023-11-15', 'DATE'],
    ['today()', '2023-11-15', 'DATE'],
    ['current_time', '07:13:20.123456+09', 'TIME WITH TIME ZONE'],
    ['localtime', '07:13:20.123456', 'TIME'],
    ['localtimestamp', '2023-11-15 07:13:20.123456', 'TIMESTAMP'],
    ['current_user', "o'hara", 'VARCHAR'],
    ['user', "o'hara", 'VARCHAR'],
    ['session_user', "o'hara", 'VARCHAR'],
    ['current_role', 'public', 'VARCHAR'],
    ["is_role_in_session('public')", 'true', 'BOOLEAN'],
    ["is_role_in_session('admin')", 'false', 'BOOLEAN'],
    ['is_role_in_session(NULL)', null, 'BOOLEAN'],
    ['current_tenant()', '', 'VARCHAR'],
    ['current_catalog', 'lake', 'VARCHAR'],
    ['current_database()', 'lake', 'VARCHAR'],
    ['current_schema', 'a.b', 'VARCHAR'],
    ['current_schema()', 'a.b', 'VARCHAR'],
    ['version()', 'PostgreSQL 18.0 (Skein)', 'VARCHAR'],
    ['pg_backend_pid()', '7', 'INTEGER'],
    ['current_schemas(true)', '[pg_catalog, a.b]', 'VARCHAR[]'],
    ["current_setting('A/b~')", "o'clock", 'VARCHAR'],
    ["current_setting('none', true)", null, 'VARCHAR'],
    ["set_config('a', 'b', false)", 'b', 'VARCHAR'],
    ["age(TIMESTAMP '2023-11-14 00:00:00')", '1 day', 'INTERVAL'],
    ["age(TIMESTAMPTZ '2023-11-14 00:00:00+09')", '1 day', 'INTERVAL'],
    ["age(DATE '2023-11-14')", '1 day', 'INTERVAL'],
    ["age(TIMESTAMP '2023-11-14 00:00:00', TIMESTAMP '2023-11-13 00:00:00')", '1 day', 'INTERVAL'],
  ])('%s', async (expression, text, type) => {
    const reader = await connection.runAndReadAll(
      `SELECT CAST(e AS VARCHAR), typeof(e) FROM (SELECT ${expression} AS e)`,
    );
    expect(reader.getRowsJson()).toEqual([[text, type]]);
  });

  test('the optimiser folds them', async () => {
    const reader = await connection.runAndReadAll(
      `EXPLAIN SELECT * FROM range(10) t(x) WHERE now() < TIMESTAMP '2000-01-01'`,
    );
    expect(String(reader.getRows()[0]?.[1])).toContain('EMPTY_RESULT');
  });

  test('a column of such a name is still the column', async () => {
    const reader = await connection.runAndReadAll('SELECT "current_date" FROM (SELECT 1 AS "current_date")');
    expect(reader.getRowsJson()).toEqual([[1]]);
  });
});
