import { beforeAll, describe, expect, test } from 'vitest';
import type { SqlText } from '#shared/task/sql-text.ts';
import type { TablePolicy } from '#shared/authorization/table-policy.ts';
import { must } from '#shared/must.ts';
import { SCRIPTED_ASKER, scriptedTables } from '#test/support/scripted/tables.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import type { Planner } from '../binding/planner.ts';
import type { PolicedBinding } from '../binding/policed-binding.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { QueryTables } from '../binding/table-source.ts';
import { explainPlan } from '../planner/explain-plan.ts';
import { walkPlan } from '../plan/plan-tree.ts';
import { queryPreparer } from './prepare-query.ts';

const SCRIPT = scriptedTables({
  'lake.s.t': { columns: 'id int, region string, card string, amount long', rows: 42 },
  'lake.s.regions': { columns: 'who string, region string', rows: 3 },
  'lake.s.old': { columns: 'id int, region string', columnsBefore: 1 },
});

const argument = (name: string, type: string, fieldId: number) => ({ name, type, fieldId });
const BOUND = { id: 'i', version: '1', mappingTables: [] };
const REGIONS: TablePolicy = {
  ...BOUND,
  kind: 'row_access',
  name: 'lake.s.regions',
  body: 'EXISTS (SELECT 1 FROM "lake"."s"."regions" AS m WHERE m.who = current_user() AND m.region = "r")',
  arguments: [argument('r', 'VARCHAR', 2)],
  mappingTables: [{ catalog: 'lake', namespace: ['s'], table: 'regions' }],
};
const POSITIVE: TablePolicy = {
  ...BOUND,
  kind: 'row_access',
  name: 'lake.s.positive',
  body: `"r" > 7 -- "secret"`,
  arguments: [argument('r', 'BIGINT', 4)],
};
const CARDS: TablePolicy = {
  ...BOUND,
  kind: 'masking',
  name: 'lake.s.cards',
  fieldId: 3,
  body: `CASE WHEN "r" = 'eu' THEN "val" ELSE 'hidden' END`,
  arguments: [argument('val', 'VARCHAR', 3), argument('r', 'VARCHAR', 2)],
};

/** The tables of which `t` has these policies. */
const below = (policies: readonly TablePolicy[], table = 't'): QueryTables => ({
  ...SCRIPT,
  loadTables: async (names, signal) =>
    (await SCRIPT.loadTables(names, signal)).map((one) =>
      one.kind === 'found' && one.name.table === table ? { ...one, policies, policyVersion: '1' } : one,
    ),
});

const prepare = queryPreparer({ cacheEntries: 100, cacheBytes: 2 ** 26 });
let planner: Planner;
beforeAll(async () => {
  planner = await sessionPlanner();
});

const prepared = (
  sql: string,
  policies: readonly TablePolicy[] = [REGIONS, POSITIVE, CARDS],
  table = 't',
): Promise<PreparedQuery> =>
  prepare({
    sql,
    offset: 0,
    context: {
      nowMicros: '1708000000000000',
      timeZone: 'UTC',
      currentUser: 'ann',
      currentCatalog: 'lake',
      currentSchema: 's',
    },
    asker: SCRIPTED_ASKER,
    tables: below(policies, table),
    planner,
    signal: AbortSignal.timeout(10_000),
  });

const print = (sql: SqlText): string =>
  sql.map((part) => (typeof part === 'string' ? part : `<${'scan' in part ? part.scan : 'input'}>`)).join('');

function policed({ scans }: PreparedQuery, place = 0): PolicedBinding {
  const scan = must(scans[place], 'a table of the query');
  if (scan.kind !== 'policed') throw new Error('no policies apply to the table');
  return scan;
}

describe('a table below policies', () => {
  test('neither text has anything of the other', async () => {
    const query = await prepared(`SELECT card, 1 / (amount - 7) FROM t WHERE CAST(region AS INTEGER) > 0`);
    expect(print(query.workerSql)).toBe(
      `SELECT card, 1 / (amount - 7) FROM <0> AS "t" WHERE CAST(region AS INTEGER) > 0`,
    );
    const { reading } = policed(query);
    expect(print(reading.sql)).toBe(
      [
        `SELECT "@field/2" AS "region", "@mask/3" AS "card", "@field/4" AS "amount" FROM (`,
        `SELECT "@field/2", "@field/4", "@field/3", CAST((CASE WHEN "r" = 'eu' THEN "val" ELSE 'hidden' END\n) AS VARCHAR) AS "@mask/3" FROM (`,
        `SELECT "@field/2", "@field/4", "@field/3", CAST("@field/3" AS VARCHAR) AS "val", CAST("@field/2" AS VARCHAR) AS "r" FROM (`,
        `SELECT "@field/2", "@field/4", "@field/3" FROM (`,
        `SELECT "@field/2", "@field/4", "@field/3", CAST("@field/4" AS BIGINT) AS "r" FROM (`,
        `SELECT "@field/2", "@field/4", "@field/3" FROM (`,
        `SELECT "@field/2", "@field/4", "@field/3", CAST("@field/2" AS VARCHAR) AS "r" FROM (`,
        `SELECT "region" AS "@field/2", "amount" AS "@field/4", "card" AS "@field/3" FROM <0> AS "@policed"`,
        `)) WHERE (EXISTS (SELECT 1 FROM <1> AS m WHERE m.who = current_user() AND m.region = "r")\n)`,
        `)) WHERE ("r" > 7 -- "secret"\n)`,
        `)))`,
      ].join(''),
    );
    expect(reading.scans.map(({ tableName }) => tableName)).toEqual(['lake.s.t', 'lake.s.regions']);
    expect(reading.source).toBe(0);
    for (const node of walkPlan(must(query.plan, 'a plan'))) {
      expect(JSON.stringify({ ...node, child: null })).not.toMatch(/regions|hidden|current_user/);
    }
  });

  test('the plan and its numbers are the same whatever the table has, and say no more than that policies apply', async () => {
    const query = await prepared('SELECT sum(amount) FROM t WHERE amount > 9');
    expect(explainPlan(query, 'text').join('\n')).toMatchInlineSnapshot(`
      "Project  {rows: 1}
             sum(amount)
         └─ Aggregate  {rows: 1}
                sum(amount)
            └─ Filter  {rows: 300,000}
                   (amount > 9)
               └─ Scan lake.s.t  {rows: 1,000,000}
                      policy applied"
    `);
  });

  test('files are pruned by policies, and by conditions over columns without a mask', async () => {
    const query = await prepared(`SELECT id FROM t WHERE amount < 100 AND card = 'hidden' AND id = 3`, [
      POSITIVE,
      CARDS,
    ]);
    const { table, reading } = policed(query);
    expect(table.predicate).toEqual({
      kind: 'and',
      children: [
        { kind: 'compare', op: 'lt', fieldId: 4, value: 100n },
        { kind: 'compare', op: 'eq', fieldId: 1, value: 3n },
      ],
    });
    expect(reading.scans[0]?.predicate).toEqual({ kind: 'compare', op: 'gt', fieldId: 4, value: 7n });
  });

  test('a policy that asks for the user gets him, although the statement does not', async () => {
    expect(await prepared('SELECT id FROM t')).toMatchObject({ contextual: false, asksReader: true });
    expect(await prepared('SELECT id FROM t', [POSITIVE])).toMatchObject({ contextual: false, asksReader: false });
  });

  test('address columns are not shown, and a snapshot without a column of a policy is not read', async () => {
    await expect(prepared('SELECT _file FROM t')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    const onRegion = { ...REGIONS, body: `"r" = 'eu'`, mappingTables: [] };
    await expect(prepared('SELECT id FROM old', [onRegion], 'old')).resolves.toBeDefined();
    await expect(prepared('SELECT id FROM old FOR VERSION AS OF 11', [onRegion], 'old')).rejects.toMatchObject({
      code: 'NOT_SUPPORTED',
    });
  });

  test('a body that fails to bind, and one that looks up a table with policies, is POLICY_FAILED without its text', async () => {
    for (const body of [
      '"r" > secret_column',
      'CAST("r" AS INTEGER) > nothing(1)',
      `EXISTS (FROM "lake"."s"."nothing")`,
    ]) {
      await expect(prepared('SELECT id FROM t', [{ ...POSITIVE, body }])).rejects.toMatchObject({
        code: 'POLICY_FAILED',
        message: 'a policy of a table that the statement reads failed',
        position: undefined,
      });
    }
  });
});
