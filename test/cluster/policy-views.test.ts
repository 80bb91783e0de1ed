import { beforeAll, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Materialized views over tables with policies, and other targets than tables. */
const T = 'policy_views';
const S = `${T}.s`;
let cluster: Cluster;

async function run(sql: string, user = 'root'): Promise<readonly (readonly Json[])[] | string> {
  const { body } = await cluster.query(sql, { token: await cluster.token({ tenant: T, user }) });
  return body.error === undefined ? (body.rows ?? []) : `${body.sql_state} ${body.error}: ${body.message ?? ''}`;
}
async function done(...statements: readonly string[]): Promise<void> {
  for (const sql of statements) expect([sql, await run(sql)]).toEqual([sql, expect.any(Array)]);
}
const rest = async (method: string, path: string, user: string): Promise<number> => {
  const headers = { authorization: `Bearer ${await cluster.token({ tenant: T, user })}` };
  return (await fetch(`${cluster.catalogUrl}/v1/${T}/namespaces/s/tables/${path}`, { method, headers })).status;
};

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.cliOk(['admin', 'tenant', 'create', T, '--user', 'root']);
  await cluster.cliOk(['admin', 'catalog', 'create', T, '--tenant', T, '--undrop-window', '1h']);
  await done(
    `CREATE SCHEMA ${S}`,
    `CREATE USER all_rows EMAIL 'all@example.org' PASSWORD 'Battery-Staple-7'`,
    `GRANT BYPASS POLICIES TO USER all_rows`,
    `CREATE TABLE ${S}.t AS SELECT 1 AS id, 'eu' AS region UNION ALL SELECT 2, 'asia'`,
    `CREATE TABLE ${S}.open AS SELECT 5 AS id`,
    `CREATE ROW ACCESS POLICY ${S}.eu AS (r VARCHAR) RETURNS BOOLEAN -> r = 'eu'`,
  );
});

const CLOSED = expect.stringMatching(/^42501 FORBIDDEN: .*policies apply to tables that the rows of .* were made of/);
const BIND = `ALTER TABLE ${S}.t ADD ROW ACCESS POLICY ${S}.eu ON (region)`;
const UNBIND = `ALTER TABLE ${S}.t DROP ROW ACCESS POLICY ${S}.eu`;

test('a materialized view made before a policy is closed with its table, at any depth, and opens again', async () => {
  await done(
    `CREATE MATERIALIZED VIEW ${S}.a AS SELECT id, region FROM ${S}.t`,
    `CREATE VIEW ${S}.plain AS SELECT id FROM ${S}.a`,
    `CREATE MATERIALIZED VIEW ${S}.b AS SELECT count(*) AS n FROM ${S}.plain`,
    `CREATE MATERIALIZED VIEW ${S}.c AS SELECT id FROM ${S}.open`,
    `CREATE MATERIALIZED VIEW ${S}.f AS SELECT file_path FROM ${S}."t$files"`,
  );
  const shown = await run(
    `SELECT table_name, row_count FROM ${T}.information_schema.tables WHERE row_count IS NOT NULL`,
  );
  expect(shown).toEqual(expect.arrayContaining([['a', 2]]));
  const views = ['a', 'b', 'f'];
  const storage = await storages(views);
  const read = (view: string): readonly string[] => [
    `SELECT * FROM ${S}.${view}`,
    `SELECT * FROM ${S}.${view} v WHERE error('seen') IS NULL`,
    `SELECT * FROM ${S}.${storage[view]}`,
    `SELECT * FROM ${S}."${storage[view]}$files"`,
    `CREATE TABLE ${S}.copy AS SELECT * FROM ${S}.${view}`,
  ];
  for (const view of views) expect([view, await run(`SELECT * FROM ${S}.${view}`)]).toEqual([view, expect.any(Array)]);
  await done(BIND);
  for (const view of views) {
    for (const sql of read(view)) expect([sql, await run(sql)]).toEqual([sql, CLOSED]);
    for (const path of ['', '/credentials', '/metrics']) {
      expect([view, path, await rest('GET', `${storage[view]}${path}`, 'root')]).toEqual([view, path, 403]);
    }
    expect([view, await run(`SELECT count(*) FROM ${S}.${view}`, 'all_rows')]).toEqual([view, expect.any(Array)]);
    expect(await rest('GET', storage[view] ?? '', 'all_rows')).toBe(200);
  }
  expect(await run(`SELECT * FROM ${S}.c`)).toEqual([[5]]);
  const sizes = `SELECT row_count FROM ${T}.information_schema.tables WHERE table_name = 'a'`;
  expect([await run(sizes), await run(sizes, 'all_rows')]).toEqual([[[null]], [[2]]]);
  // Neither a refresh nor another query opens it: earlier rows can be read in the snapshots of its table.
  expect(await run(`REFRESH MATERIALIZED VIEW ${S}.a`)).toMatch(/^42501 FORBIDDEN/);
  await done(`CREATE OR REPLACE MATERIALIZED VIEW ${S}.f AS SELECT 'none' AS file_path FROM ${S}.open`);
  expect(await run(`SELECT * FROM ${S}.f`)).toEqual(CLOSED);
  await done(`DROP TABLE ${S}.t`);
  expect(await run(`SELECT * FROM ${S}.a`)).toEqual(CLOSED);
  await done(`UNDROP TABLE ${S}.t`, UNBIND);
  expect(await run(`SELECT * FROM ${S}.b`)).toEqual([[2]]);
  // The exempt refresh a view, whose rows are closed to all others.
  await done(BIND);
  expect(await run(`CREATE MATERIALIZED VIEW ${S}.late AS SELECT id FROM ${S}.t`, 'all_rows')).toEqual([[2]]);
  expect(await run(`SELECT * FROM ${S}.late`)).toEqual(CLOSED);
  expect(await run(`SELECT count(*) FROM ${S}.late`, 'all_rows')).toEqual([[2]]);
  // A source that is gone for good with its policies leaves the views closed.
  expect(await run(`DROP TABLE ${S}.t PURGE`, 'all_rows')).toEqual([['DROP TABLE']]);
  expect(await run(`SELECT * FROM ${S}.a`)).toEqual(CLOSED);
});

/** The tables of the rows of views. */
async function storages(views: readonly string[]): Promise<Readonly<Record<string, string>>> {
  const token = await cluster.token({ tenant: T, user: 'root' });
  const found = views.map(async (view): Promise<readonly [string, string]> => {
    const url = `${cluster.catalogUrl}/v1/${T}/namespaces/s/views/${view}`;
    const answer = (await (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).json()) as {
      readonly metadata: { readonly versions: readonly { readonly 'storage-table': { readonly name: string } }[] };
    };
    return [view, answer.metadata.versions.at(-1)?.['storage-table'].name ?? ''];
  });
  return Object.fromEntries(await Promise.all(found));
}

test('views and tags are no targets, and who binds a policy is told of keys that live on', async () => {
  await done(`CREATE VIEW ${S}.target AS SELECT 'eu' AS region`, `CREATE TABLE ${S}.bound (region VARCHAR)`);
  for (const sql of [
    `ALTER VIEW ${S}.target ADD ROW ACCESS POLICY ${S}.eu ON (region)`,
    `ALTER TABLE ${S}.target ADD ROW ACCESS POLICY ${S}.eu ON (region)`,
    `ALTER VIEW ${S}.target ALTER COLUMN region SET MASKING POLICY ${S}.eu`,
    `ALTER MATERIALIZED VIEW ${S}.c ADD ROW ACCESS POLICY ${S}.eu ON (id)`,
    `ALTER TAG ${S}.pii SET MASKING POLICY ${S}.eu`,
  ]) {
    expect([sql, await run(sql)]).toEqual([sql, expect.stringMatching(/^0A000 NOT_SUPPORTED/)]);
  }
  expect(await run(`ALTER TABLE ${S}.bound ADD ROW ACCESS POLICY ${S}.eu ON (region)`)).toEqual([
    [expect.stringMatching(/^ALTER TABLE: keys .* an hour at most, and signed addresses for 15 minutes$/)],
  ]);
  expect(await run(`ALTER TABLE ${S}.bound DROP ROW ACCESS POLICY ${S}.eu`)).toEqual([['ALTER TABLE']]);
});
