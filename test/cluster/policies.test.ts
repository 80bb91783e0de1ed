import { beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Statements about row-access and masking policies, as clients of the query API meet them. */
const T = 'policy_statements';
const S = `${T}.s`;
let cluster: Cluster;

type Answer = { readonly rows: readonly (readonly Json[])[]; readonly failure: string; readonly message: string };
async function run(sql: string, user = 'root'): Promise<Answer> {
  const { body } = await cluster.query(sql, { token: await cluster.token({ tenant: T, user }) });
  const failure = body.error === undefined ? 'done' : `${body.sql_state} ${body.error}`;
  return { rows: body.rows ?? [], failure, message: body.message ?? '' };
}
const outcome = async (sql: string, user?: string): Promise<string> => (await run(sql, user)).failure;
async function done(...statements: readonly string[]): Promise<void> {
  for (const sql of statements) {
    const { failure, message } = await run(sql);
    expect([sql, failure, message]).toEqual([sql, 'done', message]);
  }
}

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.cliOk(['admin', 'tenant', 'create', T, '--user', 'root']);
  await cluster.cliOk(['admin', 'catalog', 'create', T, '--tenant', T]);
  await done(
    `CREATE SCHEMA ${S}`,
    `CREATE TABLE ${S}.t (id INT, region VARCHAR, salary DECIMAL(10, 2))`,
    `CREATE TABLE ${S}.m (who VARCHAR, r VARCHAR)`,
    `CREATE USER ann EMAIL 'ann@example.org' PASSWORD 'Battery-Staple-7'`,
    `CREATE USER max EMAIL 'max@example.org' PASSWORD 'Battery-Staple-7'`,
  );
});

describe('a row-access policy', () => {
  test('is made, bound, shown, unbound and dropped', async () => {
    await done(
      `CREATE ROW ACCESS POLICY ${S}.own AS (reg VARCHAR) RETURNS BOOLEAN -> reg IN (SELECT r FROM ${S}.m WHERE who = current_user())`,
      `ALTER TABLE ${S}.t ADD ROW ACCESS POLICY ${S}.own ON (region)`,
    );
    expect(await outcome(`SELECT * FROM ${S}.t`)).toBe('done');
    expect(await outcome(`DROP ROW ACCESS POLICY ${S}.own`)).toBe('2BP01 POLICY_IN_USE');
    await done(`ALTER TABLE ${S}.t DROP ROW ACCESS POLICY ${S}.own`, `SELECT * FROM ${S}.t`);
    await done(`DROP ROW ACCESS POLICY ${S}.own`);
  });
});
