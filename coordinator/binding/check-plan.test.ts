import { beforeAll, describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { SCRIPTED_ASKER } from '#test/support/scripted/tables.ts';
import { checkOperators } from './check-plan.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import type { Planner } from './planner.ts';

const context = { nowMicros: '0', timeZone: 'UTC', currentUser: '', currentCatalog: '', currentSchema: '' };
let planner: Planner;
beforeAll(async () => {
  planner = await sessionPlanner();
});

/** A plan with this in it cannot be printed. */
const UNPRINTABLE = 'finalize(sum(1) EXPORT_STATE)';

async function check(sql: string): Promise<string> {
  const scans = [
    { columns: [{ name: 'a', type: { kind: 'scalar', name: 'INTEGER' } as const }], fields: [], rowCount: 1 },
  ];
  const reply = await planner.plan(
    { sql, scans, context, contextual: false },
    SCRIPTED_ASKER,
    AbortSignal.timeout(10_000),
  );
  expect(reply.plan).toBeNull();
  try {
    checkOperators(reply.operators);
    return 'served';
  } catch (error) {
    return SkeinError.of(error).code;
  }
}

describe('a plan without a printed form', () => {
  test.each([
    "skein_scan('0')",
    "skein_scan('0') AS x JOIN skein_scan('0') AS y USING (a) WHERE x.a IN (SELECT a FROM range(3) AS r(a))",
    'range(3), generate_series(1, 2), unnest([1, 2]) AS u(b)',
    "json_each('{}'), json_tree('{}'), repeat(1, 2), repeat_row(1, 2, num_rows = 3)",
    '((VALUES (1), (2)) ORDER BY 1 LIMIT 3) AS v(a)',
    "(SELECT DISTINCT a, row_number() OVER (ORDER BY a) FROM skein_scan('0') UNION SELECT 1, 2 EXCEPT SELECT 3, 4) AS s",
    "skein_scan('0') AS x WHERE a = (SELECT max(a) FROM skein_scan('0') AS y WHERE x.a <> y.a)",
    "skein_scan('0') POSITIONAL JOIN range(3) TABLESAMPLE 10%",
  ])('reads what is ours: %s', async (from) => {
    expect(await check(`SELECT ${UNPRINTABLE} FROM ${from}`)).toBe('served');
  });

  test.each([
    'duckdb_databases',
    'duckdb_settings()',
    'pg_class',
    'pg_catalog.pg_settings',
    'information_schema.tables',
    'pragma_database_list',
    "pragma_table_info('duckdb_databases')",
    'pragma_version()',
    "query('FROM duckdb_databases')",
    "query_table('duckdb_databases')",
    '(SHOW TABLES)',
    '(DESCRIBE SELECT 1)',
    "sql_auto_complete('SEL')",
    '(SELECT 1 WHERE false AND (SELECT count(*) FROM duckdb_databases) = 1)',
    '(WITH d AS (FROM duckdb_secrets()) FROM d LIMIT 0)',
  ])('reads what is not: %s', async (from) => {
    expect(await check(`SELECT ${UNPRINTABLE} FROM ${from}`)).toBe('NOT_SUPPORTED');
  });

  test('cannot be checked when its operators are not known', () => {
    expect(() => checkOperators([])).toThrow('cannot be checked');
    expect(() => checkOperators(['PROJECTION', 'LATEST_SCAN'])).toThrow('LATEST_SCAN');
  });

  test('only a query is planned', async () => {
    const plan = (sql: string): Promise<unknown> =>
      planner.plan({ sql, scans: [], context, contextual: false }, SCRIPTED_ASKER, AbortSignal.timeout(10_000));
    await expect(plan('CREATE TEMP MACRO now() AS 1')).rejects.toThrow('only queries');
    await expect(plan('SET threads = 2')).rejects.toThrow('only queries');
    await expect(plan('SELECT 1; SELECT 2')).rejects.toThrow(/multiple|one/i);
  });
});
