import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TablePolicy } from '#shared/authorization/table-policy.ts';
import type { Field } from '#shared/iceberg/type.ts';
import { EMPTY_REPORT } from '#shared/iceberg/planning.ts';
import { parseJson, type JsonObject } from '#shared/json.ts';
import { unsoundOptimizers } from '#shared/sql/unsound-optimizers.ts';
import type { SqlText } from '#shared/task/sql-text.ts';
import type { WholeFragment } from '../distributor/fragment.ts';
import { fieldType } from '../plan/iceberg-sql-type.ts';
import { POLICED_TABLE, policyQuery } from '../resolver/policy-query.ts';
import { inlineBarriers, isRunAsPlanned } from './inline-barrier.ts';
import { policedRows } from './policed-rows.ts';
import type { PlannedScan } from './plan-scans.ts';

/**
 * DuckDB's plans of statements whose text has the policies of their table in it, and their outcomes. The same is tried with the barrier taken
 * away, where statements learn of hidden rows.
 */
const FENCE = ' TABLESAMPLE SYSTEM (100 PERCENT)';
const FIELDS: readonly Field[] = [
  { id: 1, name: 'id', required: false, type: { kind: 'int' } },
  { id: 2, name: 'region', required: false, type: { kind: 'string' } },
  { id: 3, name: 'note', required: false, type: { kind: 'string' } },
  { id: 4, name: 'card', required: false, type: { kind: 'string' } },
  { id: 5, name: 'amount', required: false, type: { kind: 'long' } },
];
const BOUND = { id: 'i', version: '1', mappingTables: [] };
const POLICIES: readonly TablePolicy[] = [
  {
    ...BOUND,
    kind: 'row_access',
    name: 'rows',
    body: `reverse("r") <> 'aisa'`,
    arguments: [{ name: 'r', type: 'VARCHAR', fieldId: 2 }],
  },
  {
    ...BOUND,
    kind: 'masking',
    name: 'cards',
    fieldId: 4,
    body: `CASE WHEN "a" < 0 THEN "val" ELSE '0' END`,
    arguments: [
      { name: 'val', type: 'VARCHAR', fieldId: 4 },
      { name: 'a', type: 'BIGINT', fieldId: 5 },
    ],
  },
];

let folder: string;
let duckdb: DuckDBConnection;
let source: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-barrier-'));
  duckdb = await (await DuckDBInstance.create()).connect();
  source = `read_parquet('${folder}/t.parquet')`;
  await duckdb.run(`CREATE TABLE regions AS SELECT 'eu' AS region UNION ALL SELECT 'us'`);
  await duckdb.run(`COPY (SELECT i::INT AS id, CASE i % 3 WHEN 0 THEN 'asia' ELSE 'eu' END AS region,
    CASE i % 3 WHEN 0 THEN 'secret' ELSE '5' END AS note, 'raw' AS card, (i % 10)::BIGINT AS amount FROM range(0, 30000) r(i))
    TO '${folder}/t.parquet' (FORMAT parquet, ROW_GROUP_SIZE 3000)`);
});
afterAll(async () => {
  duckdb.closeSync();
  await rm(folder, { recursive: true });
});

/** The text of the task; `<0>` in the statement is the table. */
function taskText(statement: string, wanted: string | null = null): string {
  const parts = (sql: string, mark: string): SqlText =>
    sql.split(mark).flatMap((text, i) => (i === 0 ? [text] : [{ scan: 0 }, text]));
  const text = policyQuery({ tableName: 't', fields: FIELDS, policies: { version: '1', policies: POLICIES } }, FIELDS);
  const scan = { kind: 'rows', rows: policedRows('t', FIELDS.map(fieldType)), report: EMPTY_REPORT } as const;
  const reading = { sql: parts(text, `"${POLICED_TABLE}"`), scans: [], source: 0, contextual: false, bounds: [] };
  const table: PlannedScan = {
    ...scan,
    policed: { reading: { ...reading, seesPolicies: false }, scans: [scan], wanted },
  };
  const fragment: WholeFragment = {
    stage: 0,
    plan: null,
    partitions: 1,
    sql: parts(statement, '<0>'),
    scans: [{ scan: 0, read: 'all' }],
    inputs: [],
    tasks: { kind: 'single' },
    width: 1,
    collected: false,
    repeatable: false,
  };
  const inline = inlineBarriers(fragment, [table]);
  expect(inline.fragment.policed).toEqual({ seesPolicies: false, isInline: true });
  return inline.fragment.sql.map((part) => (typeof part === 'string' ? part : source)).join('');
}

async function soundly(sql: string): Promise<void> {
  const off = unsoundOptimizers({ sql, process: 'worker', mentions: 1 });
  await duckdb.run(`SET disabled_optimizers = '${off.join(',')}'`);
}

/** The operators below the barrier, and those above it, as text; every scan of the table has one above it. */
async function plan(
  sql: string,
): Promise<{ readonly below: string; readonly above: string; readonly isWhole: boolean }> {
  await soundly(sql);
  const explained = await duckdb.runAndReadAll(`EXPLAIN (FORMAT json) ${sql}`);
  const [below, above]: [string[], string[]] = [[], []];
  let isWhole = true;
  const visit = (node: JsonObject, isBelow: boolean): void => {
    const name = (node['name'] as string).trim();
    const isFence = name === 'STREAMING_SAMPLE';
    (isBelow || isFence ? below : above).push(`${name} ${JSON.stringify(node['extra_info'])}`);
    if (name === 'READ_PARQUET' && !isBelow) isWhole = false;
    for (const child of node['children'] as readonly JsonObject[]) visit(child, isBelow || isFence);
  };
  for (const root of parseJson(String(explained.getRows()[0]?.[1])) as readonly JsonObject[]) visit(root, false);
  return { below: below.join('\n'), above: above.join('\n'), isWhole };
}

async function outcome(sql: string): Promise<string> {
  try {
    await soundly(sql);
    return JSON.stringify((await duckdb.runAndReadAll(sql)).getRowsJson());
  } catch (error) {
    return `failed: ${String(error)}`;
  }
}

/** Statements with conditions and expressions over 4242, which stay above the barrier. */
const MARKED = [
  `SELECT id FROM <0> AS "t" WHERE amount < 4242`,
  `SELECT id FROM <0> AS "t" WHERE card < '4242'`,
  `SELECT count(*) FROM <0> AS "t" WHERE amount * 4242 > 5 AND length(note) < 4242`,
  `SELECT count(*) FROM <0> AS "t" WHERE CAST(note AS INTEGER) < 4242`,
  `SELECT sum(amount) FILTER (amount < 4242), max(id + 4242) FROM <0> AS "t"`,
  `SELECT region, count(*) FROM <0> AS "t" WHERE id < 4242 GROUP BY region HAVING count(*) < 4242`,
  `SELECT id FROM <0> AS "t" WHERE id < 4242 ORDER BY amount % 4242, id LIMIT 5`,
  `SELECT id, row_number() OVER (ORDER BY amount + 4242) FROM <0> AS "t" WHERE id < 4242 QUALIFY row_number() OVER (ORDER BY id) < 4242`,
  `SELECT * FROM (SELECT id + 4242 AS x, note FROM <0> AS "t") WHERE x < 9000 AND note < '4242'`,
  `WITH c AS (SELECT * FROM <0> AS "t" WHERE id < 4242) SELECT a.id FROM c a JOIN c b ON a.id = b.amount + 4242`,
  `SELECT DISTINCT note FROM <0> AS "t" WHERE note IN ('4242', '5')`,
  `SELECT x FROM <0> AS "t", LATERAL (SELECT t.id + 4242 AS x) WHERE x > 7`,
  `SELECT id FROM <0> AS "t" WHERE id IN (SELECT v + 4242 FROM range(3) r(v))`,
  `SELECT id FROM <0> AS "t" WHERE id < 4242 UNION ALL SELECT 4242`,
  `SELECT count(*) FROM (SELECT * FROM <0> AS "t" TABLESAMPLE 100 PERCENT) WHERE id < 4242`,
] as const;

describe('plans', () => {
  test.each(MARKED)('nothing of %s is below the barrier, and nothing of a policy above', async (statement) => {
    const { below, above, isWhole } = await plan(taskText(statement));
    expect([isWhole, below]).toEqual([true, expect.stringMatching(/aisa/)]);
    expect(below).not.toContain('4242');
    expect(above).not.toMatch(/aisa|CASE/);
  });

  test('without the barrier, conditions come to hidden rows and raw values', async () => {
    const { above } = await plan(taskText(MARKED[0].replace('amount', 'id')).replaceAll(FENCE, ''));
    expect(above).toMatch(/READ_PARQUET.*id<4242/);
  });

  test('comparisons of columns without a mask with literals are below it, and skip row groups', async () => {
    const text = taskText(`SELECT id FROM <0> AS "t" WHERE id < 4242`, `("id" < (4242))`);
    expect((await plan(text)).below).toMatch(/READ_PARQUET.*id<4242/);
  });
});

/**
 * Statements that learn of hidden rows or raw values where the policy is a condition of their own text, in the place of `<policy>`: DuckDB
 * evaluates conditions in an order of its own.
 */
const ATTACKS = {
  'a cast that raises': `SELECT count(*) FROM <0> AS "t" WHERE CAST(t.note AS INTEGER) = 5 AND <policy>`,
  'a condition that raises': `SELECT count(*) FROM <0> AS "t" WHERE CASE WHEN t.note <> '5' THEN error('seen ' || t.note) ELSE true END AND <policy>`,
  'a masked column': `SELECT count(*) FROM <0> AS "t" WHERE CASE WHEN t.card <> '0' THEN error('seen ' || t.card) ELSE true END AND <policy>`,
  'a common table expression': `WITH c AS (FROM <0> AS "t" WHERE <policy> AND t.note::INT = 5) SELECT count(*) FROM c`,
  'a join': `SELECT count(*) FROM <0> AS "t" JOIN range(9) r(v) ON t.note::INT = r.v WHERE <policy>`,
  'a lateral join': `SELECT count(*) FROM <0> AS "t", LATERAL (SELECT t.note::INT AS x) l WHERE l.x = 5 AND <policy>`,
  'a union': `SELECT count(*) FROM (SELECT t.note::INT AS n FROM <0> AS "t" WHERE <policy> AND t.note::INT > 0 UNION ALL SELECT 5) u`,
  'a subquery': `SELECT count(*) FROM range(9) r(v) WHERE v IN (SELECT t.note::INT FROM <0> AS "t" WHERE t.note::INT > 0 AND <policy>)`,
  'an aggregate of some rows': `SELECT sum(t.id) FILTER (t.note::INT = 5) FROM <0> AS "t" WHERE t.note::INT > 0 AND <policy>`,
  'a limit': `SELECT t.id FROM <0> AS "t" WHERE t.note::INT = 5 AND <policy> ORDER BY t.note::INT, t.id LIMIT 2`,
  'a window': `SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY t.id) AS n FROM <0> AS "t" WHERE t.note::INT > 0 AND <policy>)`,
} as const;
const OWN_CONDITION = 'EXISTS (SELECT 1 FROM regions m WHERE m.region = t.region AND t.amount >= 0)';

test.each([
  [['SELECT i FROM ', { scan: 0 }, ' AS "t" WHERE i = 3 OR i IS NULL'], true],
  // The planner folds the second operand away, and the worker's DuckDB runs without the rewriter that would.
  [['SELECT false AND length(repeat(s, 9)) > 0 FROM ', { scan: 0 }, ' AS "t" WHERE i = 3 OR b IS TRUE'], false],
  [['SELECT i FROM (SELECT * FROM ', { scan: 0 }, ` WHERE r = 'eu' OR r IS DISTINCT FROM 'us') AS "t"`], false],
] as const)('%j is evaluated as it was planned: %s', (sql, expected) => expect(isRunAsPlanned(sql)).toBe(expected));

describe('attacks', () => {
  test.each(Object.entries(ATTACKS))('%s learns nothing, and does without the barrier', async (_, statement) => {
    await duckdb.run(
      `CREATE OR REPLACE TEMP TABLE seen AS SELECT id, region, note, '0' AS card, amount FROM ${source} WHERE region <> 'asia'`,
    );
    const expected = await outcome(statement.replaceAll('<0>', 'seen').replaceAll('<policy>', 'true'));
    expect(expected).not.toMatch(/^failed/);
    expect(await outcome(taskText(statement.replaceAll('<policy>', 'true')))).toBe(expected);
    const without = statement.replaceAll('<0>', source).replaceAll('<policy>', OWN_CONDITION);
    expect(await outcome(without)).toMatch(/^failed: .*(?:secret|seen)/);
  });

  test.each([
    [`SELECT count(*) FROM <0> AS "t"`, /20000/],
    [`SELECT max(card) FROM <0> AS "t"`, /"0"/],
    [`SELECT id FROM <0> AS "t" ORDER BY id LIMIT 1`, /\[\["?1"?\]\]/],
    [`SELECT count(*) FROM (SELECT * FROM <0> AS "t" LIMIT 30000)`, /20000/],
    [`SELECT max(n) FROM (SELECT row_number() OVER () AS n FROM <0> AS "t")`, /20000/],
    [`SELECT count(*) FROM <0> AS "t" TABLESAMPLE 100 PERCENT`, /20000/],
  ])('%s counts visible rows alone, and all rows without policies', async (statement, seen) => {
    expect(await outcome(taskText(statement))).toMatch(seen);
    expect(await outcome(statement.replaceAll('<0>', source))).not.toMatch(seen);
  });
});
