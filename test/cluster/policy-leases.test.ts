import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestCatalog } from '#test/support/catalog.ts';
import type { QueryBody } from '#test/support/cluster.ts';
import { startPairs, type Pair } from '#test/support/coordinator-pairs.ts';

/**
 * Two coordinators, of which one loses its catalog while the other changes what policies say: a statement that begins after the change was
 * acknowledged sees it, or fails, however fresh the answers were that its coordinator had been given.
 */
const LEASE_MS = 1_000;
const HEALED_MS_MAX = 20_000;
const S = 'lake.default';
let catalog: TestCatalog;
let near: Pair;
let cut: Pair;
let stack: AsyncDisposable | undefined;

beforeAll(async () => {
  const started = await startPairs(LEASE_MS);
  stack = started;
  ({
    catalog,
    pairs: [near, cut],
  } = started);
});
afterAll(() => stack?.[Symbol.asyncDispose]());

async function sql({ queryUrl }: Pair, text: string): Promise<QueryBody> {
  const response = await fetch(`${queryUrl}/api/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${catalog.token}` },
    body: JSON.stringify({ sql: text }),
  });
  return (await response.json()) as QueryBody;
}
async function done(pair: Pair, ...statements: readonly string[]): Promise<void> {
  for (const text of statements) {
    const { error, message } = await sql(pair, text);
    expect([text, error, message]).toEqual([text, undefined, undefined]);
  }
}
async function untilOk(text: string): Promise<QueryBody['rows']> {
  for (const end = performance.now() + HEALED_MS_MAX; ; await sleep(100)) {
    const { error, message, rows } = await sql(cut, text);
    if (error === undefined) return rows;
    if (performance.now() > end) throw new Error(`${text}: ${error} ${message}`);
  }
}

const READ = `SELECT id, card FROM ${S}.t ORDER BY id`;
const all = [1, 2, 3].map((id) => [id, `c${id}`]);

/** Each change with the rows that are seen after it. */
const CHANGES: readonly (readonly [change: string, rows: unknown])[] = [
  [`ALTER TABLE ${S}.t ADD ROW ACCESS POLICY ${S}.mapped ON (id)`, all.slice(0, 2)],
  [`DELETE FROM ${S}.m WHERE id = 2`, all.slice(0, 1)],
  [`INSERT INTO ${S}.m VALUES (3)`, [all[0], all[2]]],
  [`ALTER ROW ACCESS POLICY ${S}.mapped SET BODY -> i = 3`, all.slice(2)],
  [`ALTER TABLE ${S}.t ALTER COLUMN card SET MASKING POLICY ${S}.stars`, [[3, '***']]],
  [`ALTER MASKING POLICY ${S}.stars SET BODY -> 'x'`, [[3, 'x']]],
  [`ALTER TABLE ${S}.t DROP ALL ROW ACCESS POLICIES`, [1, 2, 3].map((id) => [id, 'x'])],
  [`ALTER TABLE ${S}.t ALTER COLUMN card UNSET MASKING POLICY`, all],
];

test('no statement after a change sees what was before it', async () => {
  await done(
    near,
    `CREATE TABLE ${S}.t AS SELECT i::INT AS id, 'c' || i AS card FROM range(1, 4) r(i)`,
    `CREATE TABLE ${S}.m AS SELECT i::INT AS id FROM range(1, 3) r(i)`,
    `CREATE ROW ACCESS POLICY ${S}.mapped AS (i INT) RETURNS BOOLEAN -> i IN (SELECT m.id FROM ${S}.m AS m)`,
    `CREATE MASKING POLICY ${S}.stars AS (val VARCHAR) RETURNS VARCHAR -> '***'`,
  );
  let refused = 0;
  for (const [change, rows] of CHANGES) {
    // Its coordinator has just been told all that it needs, and loses the catalog in the next moment.
    await untilOk(READ);
    cut.wire.hold(true);
    await done(near, change);
    const { error, rows: seen } = await sql(cut, READ);
    if (error === undefined) expect([change, seen]).toEqual([change, rows]);
    else expect([change, error]).toEqual([change, 'CATALOG_UNAVAILABLE']);
    if (error !== undefined) refused += 1;
    cut.wire.drop();
    cut.wire.hold(false);
    expect([change, await untilOk(READ)]).toEqual([change, rows]);
    expect([change, (await sql(near, READ)).rows]).toEqual([change, rows]);
  }
  expect(refused).toBeGreaterThan(0);
}, 240_000);
