import { beforeAll, describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { icebergScan, SCRIPTED_ASKER, scriptedTables } from '#test/support/scripted/tables.ts';
import { sessionPlanner } from '#test/support/session-planner.ts';
import type { Planner } from '../binding/planner.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { ValuePlace } from '../statement/value-place.ts';
import { queryPreparer } from './prepare-query.ts';
import type { PrepareQuery } from './prepare-request.ts';

const tables = scriptedTables({
  'lake.s.t': { columns: 'a int, b string, c long, d date, e decimal(9,2)' },
  'lake.s.u': { columns: 'a int, z string' },
});
const context = {
  nowMicros: '1708000000000000',
  timeZone: 'UTC',
  currentUser: 'me',
  currentCatalog: 'lake',
  currentSchema: 's',
};

let planner: Planner;
/** Requests that went to the planner. */
let asked: string[] = [];
beforeAll(async () => {
  const real = await sessionPlanner();
  planner = {
    ...real,
    parse: (...call) => {
      asked.push('parse');
      return real.parse(...call);
    },
    plan: (...call) => {
      asked.push('plan');
      return real.plan(...call);
    },
  };
});

const by =
  (prepare: PrepareQuery, mayShare: boolean) =>
  (sql: string, values: readonly ValuePlace[] = []): Promise<PreparedQuery> =>
    prepare({
      sql,
      values,
      offset: 0,
      context,
      asker: SCRIPTED_ASKER,
      tables,
      planner,
      mayShare,
      signal: AbortSignal.timeout(10_000),
    });

/** Prepares the texts one after the other; what of the last one went to the planner. */
async function last(texts: readonly string[]): Promise<{ readonly query: PreparedQuery; readonly asked: string[] }> {
  const prepare = by(queryPreparer({ cacheEntries: 100, cacheBytes: 2 ** 26 }), true);
  for (const text of texts.slice(0, -1)) await prepare(text);
  asked = [];
  return { query: await prepare(texts.at(-1) ?? ''), asked };
}

describe('a plan is shared from the third query on', () => {
  test.each([
    ['a point', (v: number) => `SELECT a, b FROM t WHERE a = ${v}`],
    ['a name behind the literal', (v: number) => `SELECT x.b FROM s.t AS x WHERE x.a >= ${v} ORDER BY x.b LIMIT 3`],
    ['two columns', (v: number) => `SELECT count(*) FROM t WHERE a < ${v} AND b = 'k${v}' GROUP BY c`],
    ['other literals', (v: number) => `SELECT a + 77 FROM t WHERE a = ${v} AND b LIKE 'x%' AND c IN (2, 3)`],
    [
      'two tables',
      (v: number) => `SELECT t.c, z FROM t, lake.s.u WHERE t.a = u.a AND t.c = ${v} AND lake.s.u.z <> 'y${v}'`,
    ],
    ['a date', (v: number) => `SELECT b FROM t WHERE d = DATE '${1900 + v}-02-28' AND a = 1`],
    ['a text that is a date', (v: number) => `SELECT b FROM t WHERE d < '${1900 + v}-02-28'`],
    ['a subquery', (v: number) => `SELECT * FROM (SELECT a, b FROM t WHERE c > ${v}) AS q WHERE b > 'z${v}'`],
  ])('%s', async (_what, sql) => {
    const { query, asked: requests } = await last([100, 2000, 30].map(sql));
    expect(requests).toEqual([]);
    expect(query.isShared).toBe(true);
    const alone = await by(queryPreparer({ cacheEntries: 0, cacheBytes: 2 ** 26 }), false)(sql(30));
    expect(query).toEqual({ ...alone, isShared: true });
  });

  test('it prunes by its own literal', async () => {
    const { query } = await last([1, 2, 3].map((v) => `SELECT b FROM t WHERE c = ${v}`));
    expect(icebergScan(query).predicate).toEqual({ kind: 'compare', op: 'eq', fieldId: 3, value: 3n });
    expect(query.workerSql.at(-1)).toContain('c = 3');
  });

  test('a condition that other literals imply is missing in the plan, so it prunes less and is never distributed', async () => {
    const { query } = await last([10, 20, 0].map((v) => `SELECT b FROM t WHERE a > ${v} AND a > 1 + 1`));
    expect(query.isShared).toBe(true);
    expect(icebergScan(query).predicate).toEqual({ kind: 'compare', op: 'gt', fieldId: 1, value: 0n });
    expect(query.workerSql.at(-1)).toContain('a > 0 AND a > 1 + 1');
  });

  test('a query that is distributed gets a plan of its own', async () => {
    const prepare = queryPreparer({ cacheEntries: 100, cacheBytes: 2 ** 26 });
    for (const v of [1, 2, 3]) await by(prepare, true)(`SELECT b FROM t WHERE a = ${v}`);
    asked = [];
    expect((await by(prepare, false)('SELECT b FROM t WHERE a = 4')).isShared).toBe(false);
    expect(asked).toEqual(['plan']);
  });
});

describe('a plan is not shared when it may depend on the value', () => {
  test.each([
    ['bounds of one column', (v: number) => `SELECT b FROM t WHERE a > ${v} AND a < ${v + 9}`],
    ['bounds of one column, one empty', (v: number) => `SELECT b FROM t WHERE a > ${v} AND a < 50`],
    ['a column that is equal', (v: number) => `SELECT z FROM t JOIN u USING (a) WHERE t.a = ${v}`],
    ['the name of a column', (v: number) => `SELECT (SELECT max(z) FROM u WHERE a = ${v}) FROM t`],
    ['HAVING', (v: number) => `SELECT b FROM t GROUP BY b HAVING count(*) > ${v}`],
    ['a filter of an aggregate', (v: number) => `SELECT count(*) FILTER (WHERE a = ${v}) AS n FROM t`],
    ['an expression', (v: number) => `SELECT q FROM (SELECT a * 2 AS q FROM t) AS x WHERE q = ${v}`],
    ['a column of another type', (v: number) => `SELECT b FROM t WHERE e = ${v}`],
    ['LIMIT', (v: number) => `SELECT b FROM t WHERE a = 1 LIMIT ${v}`],
    ['a position', (v: number) => `SELECT a, b FROM t WHERE c = 7 ORDER BY ${v === 42 ? 2 : 1}`],
    ['a list', (v: number) => `SELECT b FROM t WHERE a IN (${v})`],
    ['a pattern', (v: number) => `SELECT b FROM t WHERE b LIKE 'x${v}%'`],
  ])('%s', async (_what, sql) => {
    const { query, asked: requests } = await last([10, 200, 3001, 42].map(sql));
    expect(requests).toContain('plan');
    expect(query.isShared).toBe(false);
  });

  test('a literal that does not fit the column is compared in another type', async () => {
    const sql = (v: number): string => `SELECT b FROM t WHERE a = ${v}`;
    expect((await last([1, 2, 2 ** 31].map(sql))).asked).toEqual(['plan']);
    expect((await last([1, 2, 2 ** 31 - 1].map(sql))).asked).toEqual([]);
  });

  test.each(['2021-02-29', '2020-2-1', '0999-01-01', '2020-01-01 ', 'infinity'])(
    '%s is no plain date',
    async (date) => {
      const prepare = by(queryPreparer({ cacheEntries: 100, cacheBytes: 2 ** 26 }), true);
      const sql = (text: string): string => `SELECT b FROM t WHERE d = '${text}'`;
      for (const text of ['2020-02-28', '2020-02-29']) await prepare(sql(text));
      asked = [];
      await prepare(sql(date)).catch(() => undefined);
      expect(asked).toEqual(['plan']);
    },
  );

  test('a literal that had one value so far is planned with another', async () => {
    const sql = ([a, b]: readonly [string, string]): string => `SELECT b FROM t WHERE a = ${a} AND b = '${b}'`;
    expect((await last([['1', 'x'] as const, ['01', 'x'] as const].map(sql))).asked).toEqual([]);
    expect((await last([['1', 'x'] as const, ['2', 'x'] as const, ['3', 'x'] as const].map(sql))).asked).toEqual([]);
    const changed = [['1', 'x'] as const, ['2', 'x'] as const, ['3', 'y'] as const];
    expect((await last(changed.map(sql))).asked).toEqual(['plan']);
    expect((await last([...changed, ['4', 'z'] as const].map(sql))).asked).toEqual([]);
  });
});

test('values of parameters are shared like literals, and columns are named after the parameters', async () => {
  const prepare = queryPreparer({ cacheEntries: 100, cacheBytes: 2 ** 26 });
  const queries = [];
  for (const v of ['1', '2222', '33']) {
    const sql = `SELECT 9 FROM t WHERE c > ${v} AND a = ${v}7`;
    const value = (spelled: string, text: string, start: number): ValuePlace => ({
      name: spelled,
      spelled,
      text,
      start,
      end: start + text.length,
    });
    const values = [
      value('3', '9', 7),
      value('1', v, sql.indexOf('> ') + 2),
      value('2', `${v}7`, sql.indexOf('= ') + 2),
    ];
    asked = [];
    queries.push(await by(prepare, true)(sql, values));
  }
  expect(asked).toEqual([]);
  expect(queries.map(({ columns, isShared }) => [columns[0]?.name, isShared])).toEqual([
    ['$3', false],
    ['$3', false],
    ['$3', true],
  ]);
});

test('errors have the positions of their own text', async () => {
  const prepare = by(queryPreparer({ cacheEntries: 100, cacheBytes: 2 ** 26 }), true);
  for (const v of [1, 12, 123]) {
    const sql = `SELECT b FROM t WHERE a = ${v} AND EXISTS (FROM missing)`;
    const error = await prepare(sql).then(
      () => undefined,
      (thrown: unknown) => SkeinError.of(thrown),
    );
    expect([error?.code, error?.position]).toEqual(['TABLE_NOT_FOUND', sql.indexOf('missing')]);
  }
});
