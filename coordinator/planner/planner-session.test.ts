import { expect, test } from 'vitest';
import { blankContext } from '#shared/sql/statement-context.ts';
import { PlannerSession } from './planner-session.ts';

const MEMORY_BYTES = 48 * 2 ** 20;
const context = blankContext('UTC');

test('a statement that takes more memory than a planner has is too complex, whichever part of DuckDB notices', async () => {
  const session = await PlannerSession.open(MEMORY_BYTES);
  const tooComplex = { code: 'STATEMENT_TOO_COMPLEX', message: 'the statement needs too much memory to plan' };
  const long = `SELECT 1${' UNION ALL SELECT 1'.repeat(20_000)}`;
  await expect(session.parse({ sql: long, defaults: { catalog: '', schema: '' }, context })).rejects.toMatchObject(
    tooComplex,
  );
  // The connection works as before.
  const plain = { sql: 'SELECT 1', scans: [], context, contextual: false };
  expect((await session.plan(plain)).columns).toHaveLength(1);
});

test('the column of version() has that name, for programs that look for it', async () => {
  const session = await PlannerSession.open(MEMORY_BYTES);
  const request = { sql: 'SELECT version(), version() || 1', scans: [], context, contextual: false };
  const names = (columns: readonly { readonly name: string }[] | null): readonly string[] =>
    (columns ?? []).map(({ name }) => name);
  expect(names((await session.plan(request)).columns)[0]).toBe('version()');
  expect(names((await session.describe(request)).columns)[0]).toBe('version()');
  session.close();
});

const LATERAL = `WITH t AS (SELECT 'a' AS sid, DATE '2020-01-01' AS d)
  SELECT o.sid, x.h FROM t o, LATERAL (WITH scope AS (SELECT sid, d FROM t WHERE sid = o.sid)
    SELECT EXISTS (SELECT 1 FROM scope i WHERE i.sid = c.sid AND i.d <= c.d) AS h FROM scope c) x`;

test('an internal error of DuckDB is said to be one, and the session is given up', async () => {
  const session = await PlannerSession.open(MEMORY_BYTES);
  expect(session.isSpoilt).toBe(false);
  await expect(session.plan({ sql: LATERAL, scans: [], context, contextual: false })).rejects.toMatchObject({
    code: 'ENGINE_FAULT',
    message: expect.stringContaining('internal error of DuckDB') as string,
  });
  expect(session.isSpoilt).toBe(true);
  session.close();
});

test('a count over an as-of join with a further condition ends no planner, and other texts are bound without the optimizer', async () => {
  const session = await PlannerSession.open(MEMORY_BYTES);
  const t = '(SELECT i::INT AS k, i AS b FROM range(9) r(i))';
  const sql = `SELECT count(*) FROM ${t} l ASOF LEFT JOIN ${t} r ON l.k = r.k AND l.b >= r.b AND l.b % 7 <> r.b % 5`;
  const planned = async (text: string): Promise<number> =>
    (await session.plan({ sql: text, scans: [], context, contextual: false })).columns.length;
  expect([await planned(sql), await planned('SELECT 1, 2'), await planned(sql)]).toEqual([1, 2, 1]);
  session.close();
});

const TIMES = `(SELECT TIMESTAMP '2020-01-01' + to_days(i::INT) AS d, i FROM range(9) r(i)) t`;

test.each([
  ["SELECT date_trunc('month', d), count(*) FROM $t GROUP BY 1", false],
  ["SELECT d FROM $t WHERE date_trunc('month', d) = '2020-01-01'", false],
  ["SELECT d FROM $t WHERE date_trunc('month', d) <> DATE '2020-02-01'", false],
  ["SELECT d FROM $t WHERE date_trunc('month', d) <= TIMESTAMP '2020-01-05 10:00:00'", false],
  ["SELECT d FROM $t WHERE date_trunc('month', d) = date_trunc('month', TIMESTAMP '2020-01-05')", false],
  ["SELECT d FROM $t WHERE date_trunc('month', d) <> '2020-01-05'", true],
  ["SELECT date_trunc('month', d) = TIMESTAMP '2020-01-05' FROM $t", true],
  ["SELECT m FROM (SELECT datetrunc('week', d) AS m FROM $t) WHERE m <> TIMESTAMP '2020-01-05 01:00:00'", true],
  ["SELECT d FROM $t WHERE date_trunc('day', d) <= TIMESTAMP 'infinity'", true],
  ["SELECT d FROM $t WHERE date_trunc('day', d) BETWEEN '2020-01-01' AND 'infinity'", true],
] as const)(
  'a comparison of a truncated time that the optimizer would change is left as it is: %s',
  async (sql, isOpaque) => {
    const session = await PlannerSession.open(MEMORY_BYTES);
    const request = { sql: sql.replace('$t', TIMES), scans: [], context, contextual: false };
    const { bounds, plan } = await session.plan(request);
    expect(bounds).toEqual(isOpaque ? ['truncation'] : []);
    expect(
      JSON.stringify(plan, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)).includes(
        '"greatest"',
      ),
    ).toBe(isOpaque);
    // The next statement of the session meets DuckDB's own function.
    const next = await session.plan({ ...request, sql: "SELECT date_trunc('day', DATE '2020-01-01')" });
    expect(next.bounds).toEqual([]);
    session.close();
  },
);
