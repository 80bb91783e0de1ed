import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Statements about row-access and masking policies, and what the catalog refuses of tables that have any. */
const T = 'policy_statements';
const S = `${T}.s`;
let cluster: Cluster;

type Answer = { readonly rows: readonly (readonly Json[])[]; readonly failure: string; readonly message: string };
async function run(sql: string, user = 'root', sessionId?: string): Promise<Answer> {
  const token = await cluster.token({ tenant: T, user });
  const { body } = await cluster.query(sql, { token, ...(sessionId === undefined ? {} : { sessionId }) });
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
const rest = async (method: string, path: string, user: string, body?: Json): Promise<readonly [number, string]> => {
  const token = await cluster.token({ tenant: T, user });
  const answer = await fetch(`${cluster.ready.catalog_url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return [answer.status, await answer.text()];
};

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.cliOk(['admin', 'tenant', 'create', T, '--user', 'root']);
  await cluster.cliOk(['admin', 'catalog', 'create', T, '--tenant', T, '--undrop-window', '1h']);
  await done(
    `CREATE SCHEMA ${S}`,
    `CREATE TABLE ${S}.t AS SELECT 1 AS id, 'north' AS region, 7.5::DECIMAL(10, 2) AS salary`,
    `CREATE TABLE ${S}.m AS SELECT 'ann' AS who, 'north' AS r`,
    `CREATE USER ann EMAIL 'ann@example.org' PASSWORD 'Battery-Staple-7'`,
    `CREATE USER max EMAIL 'max@example.org' PASSWORD 'Battery-Staple-7'`,
    `CREATE USER all_rows EMAIL 'all@example.org' PASSWORD 'Battery-Staple-7'`,
    `GRANT BYPASS POLICIES TO USER all_rows`,
    `CREATE SERVICE ACCOUNT etl`,
    `GRANT BYPASS POLICIES TO SERVICE ACCOUNT etl`,
    `GRANT MANAGE POLICIES TO USER max`,
    `CREATE ROW ACCESS POLICY ${S}.own AS (reg VARCHAR) RETURNS BOOLEAN -> reg IN (SELECT r FROM ${S}.m WHERE who = current_user())`,
    `CREATE MASKING POLICY ${S}.hide AS (val DECIMAL(10, 2)) RETURNS DECIMAL(10, 2) -> NULL::DECIMAL(10, 2)`,
  );
});

describe('statements', () => {
  test('a policy is bound, shown, unbound and dropped, and nothing that it needs goes meanwhile', async () => {
    await done(
      `ALTER TABLE ${S}.t ADD ROW ACCESS POLICY ${S}.own ON (region)`,
      `ALTER TABLE ${S}.t ALTER COLUMN salary SET MASKING POLICY ${S}.hide`,
    );
    const refused: readonly (readonly [string, string])[] = [
      [`DROP ROW ACCESS POLICY ${S}.own`, '2BP01 POLICY_IN_USE'],
      [`DROP MASKING POLICY ${S}.own`, '42809 WRONG_OBJECT_TYPE'],
      [`CREATE MASKING POLICY ${S}.own AS (v INT) RETURNS INT -> v`, '42809 WRONG_OBJECT_TYPE'],
      [`CREATE OR REPLACE ROW ACCESS POLICY ${S}.own AS (id INT) RETURNS BOOLEAN -> true`, '2BP01 POLICY_IN_USE'],
      [`ALTER TABLE ${S}.t ALTER COLUMN salary SET MASKING POLICY ${S}.hide`, '42710 ALREADY_EXISTS'],
      [`ALTER TABLE ${S}.t ADD ROW ACCESS POLICY ${S}.own ON (region)`, '42710 ALREADY_EXISTS'],
      [`ALTER TABLE ${S}.t ADD ROW ACCESS POLICY ${S}.own ON (id)`, '42804 TYPE_MISMATCH'],
      [`ALTER TABLE ${S}.m ADD ROW ACCESS POLICY ${S}.own ON (r)`, '2BP01 POLICY_IN_USE'],
      [`ALTER TABLE ${S}.t DROP COLUMN region`, '2BP01 POLICY_IN_USE'],
      [`ALTER TABLE ${S}.t ALTER COLUMN salary TYPE DECIMAL(12, 2)`, '2BP01 POLICY_IN_USE'],
      [`CREATE OR REPLACE TABLE ${S}.t (id INT)`, '2BP01 POLICY_IN_USE'],
      [`CREATE OR REPLACE TABLE ${S}.t AS SELECT 1 AS id`, '2BP01 POLICY_IN_USE'],
      [`DROP TABLE ${S}.t PURGE`, '42501 FORBIDDEN'],
      [`DROP TABLE ${S}.m`, '2BP01 POLICY_IN_USE'],
      [`ALTER TABLE ${S}.m RENAME TO ${S}.m2`, '2BP01 POLICY_IN_USE'],
      [`ALTER TABLE ${S}.m RENAME COLUMN r TO r2`, '2BP01 POLICY_IN_USE'],
      [`DROP SCHEMA ${S}`, '2BP01 SCHEMA_NOT_EMPTY'],
    ];
    for (const [sql, expected] of refused) expect([sql, await outcome(sql)]).toEqual([sql, expected]);
    await done(`ALTER TABLE ${S}.t RENAME COLUMN region TO place`, `ALTER TABLE ${S}.t RENAME COLUMN place TO region`);
    expect((await run('SHOW ROW POLICIES', 'ann')).rows.map((row) => row.slice(0, 6))).toEqual([
      ['own', T, 's', 'ROW_ACCESS_POLICY', '(reg VARCHAR) RETURNS BOOLEAN', 'root'],
    ]);
    expect((await run('SHOW MASKING POLICIES')).rows.map((row) => row[0])).toEqual(['hide']);
    expect(await outcome(`DESCRIBE ROW ACCESS POLICY ${S}.own`, 'ann')).toBe('42501 FORBIDDEN');
    const described = await run(`DESCRIBE ROW ACCESS POLICY ${S}.own`, 'max');
    expect(described.rows[0]?.at(-1)).toBe(
      `"reg" IN (SELECT r FROM  "${T}"."s"."m" AS "m" WHERE who = current_user())`,
    );
  });

  test.each([
    ['random() < 0.5', '0A000 NOT_SUPPORTED'],
    ['current_schema() = a', '0A000 NOT_SUPPORTED'],
    ['session_user = a', '0A000 NOT_SUPPORTED'],
    ["current_setting('timezone') = a", '0A000 NOT_SUPPORTED'],
    ["a::TIMESTAMPTZ > '2020-01-01'::TIMESTAMPTZ", '0A000 NOT_SUPPORTED'],
    ['a IN (SELECT a FROM (SELECT who AS a FROM s.m))', '42702 AMBIGUOUS_COLUMN'],
    ['who IN (SELECT who FROM s.m)', '42702 AMBIGUOUS_COLUMN'],
    ['a IN (SELECT table_name FROM information_schema.tables)', '0A000 NOT_SUPPORTED'],
    ['a IN (SELECT file_path FROM s."m$files")', '0A000 NOT_SUPPORTED'],
    ['a, true', '42601 SYNTAX_ERROR'],
    ['true) OR (true', '42601 SYNTAX_ERROR'],
    ['b = 1', '42703 COLUMN_NOT_FOUND'],
    ['length(a)', '42804 TYPE_MISMATCH'],
    ['read_text(a) IS NULL', '0A000 NOT_SUPPORTED'],
    ["a = current_user() OR is_role_in_session('boss') OR current_tenant() = a OR current_role() = a", 'done'],
  ])('a body of %s: %s', async (body, expected) => {
    const create = `CREATE OR REPLACE ROW ACCESS POLICY ${S}.tried AS (a VARCHAR, who VARCHAR) RETURNS BOOLEAN -> ${body.replaceAll('s.', `${S}.`)}`;
    expect(await outcome(create)).toBe(expected);
    await done(`DROP ROW ACCESS POLICY IF EXISTS ${S}.tried`);
  });

  test('INFORMATION_SCHEMA tells of the bindings, and not of the rows', async () => {
    expect(
      (await run(`SELECT * FROM ${T}.information_schema.policy_references ORDER BY policy_name`, 'ann')).rows,
    ).toEqual([
      [null, null, 'hide', 'MASKING_POLICY', T, 's', 't', 'TABLE', 'salary', null],
      [T, 's', 'own', 'ROW_ACCESS_POLICY', T, 's', 't', 'TABLE', null, null],
    ]);
    const sizes = `SELECT table_name, rls_enabled, row_count, bytes IS NULL FROM ${T}.information_schema.tables ORDER BY 1`;
    expect((await run(sizes, 'ann')).rows).toEqual([
      ['m', false, 1, false],
      ['t', true, null, true],
    ]);
    for (const user of ['all_rows', 'max']) {
      expect([user, (await run(sizes, user)).rows[1]]).toEqual([user, ['t', true, 1, false]]);
      expect([user, (await run(`SELECT record_count FROM ${S}."t$files"`, user)).rows]).toEqual([user, [[1]]]);
    }
    expect(await run(`SELECT record_count FROM ${S}."t$files"`, 'ann')).toMatchObject({
      failure: '0A000 NOT_SUPPORTED',
    });
    const described = async (user: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${await cluster.token({ tenant: T, user })}` };
      const answer = await fetch(`${cluster.queryUrl}/api/catalogs/${T}/namespaces/s/tables/t`, { headers });
      return ((await answer.json()) as { readonly record_count: unknown }).record_count;
    };
    expect([await described('ann'), await described('max'), await described('all_rows')]).toEqual([null, 1, 1]);
  });

  test('the first statement of a principal knows all bindings: no registry is filled, and empty means none', async () => {
    await done(`CREATE USER newcomer EMAIL 'new@example.org' PASSWORD 'Battery-Staple-7'`);
    const count = `SELECT count(*) FROM ${T}.information_schema.policy_references WHERE ref_entity_name = `;
    expect((await run(`${count}'t'`, 'newcomer', randomUUID())).rows).toEqual([[2]]);
    expect((await run(`${count}'m'`, 'newcomer', randomUUID())).rows).toEqual([[0]]);
  });

  test('at most 20 policies are bound to a table', async () => {
    const columns = Array.from({ length: 21 }, (_, i) => `c${i}`);
    await done(
      `CREATE TABLE ${S}.wide (${columns.map((name) => `${name} INT`).join(', ')})`,
      `CREATE MASKING POLICY ${S}.zero AS (val INT) RETURNS INT -> 0`,
    );
    const set = (column: string): Promise<string> =>
      outcome(`ALTER TABLE ${S}.wide ALTER COLUMN ${column} SET MASKING POLICY ${S}.zero`);
    for (const column of columns.slice(1)) expect([column, await set(column)]).toEqual([column, 'done']);
    expect(await set('c0')).toMatch(/LIMIT_REACHED$/);
    await done(`DROP TABLE ${S}.wide`);
  });

  test('rights: managers change policies, and only they and the exempt write what policies read', async () => {
    expect(await outcome(`DROP MASKING POLICY ${S}.hide`, 'ann')).toBe('42501 FORBIDDEN');
    expect(await outcome(`ALTER ROW ACCESS POLICY ${S}.own SET BODY -> true`, 'ann')).toBe('42501 FORBIDDEN');
    expect(await outcome(`INSERT INTO ${S}.m VALUES ('ann', 'south')`, 'ann')).toBe('42501 FORBIDDEN');
    expect(await outcome(`INSERT INTO ${S}.m VALUES ('max', 'south')`, 'max')).toBe('done');
    expect(await outcome(`INSERT INTO ${S}.m VALUES ('max', 'south')`, 'all_rows')).toBe('done');
    expect(await outcome('GRANT BYPASS POLICIES TO USER max', 'max')).toBe('42501 FORBIDDEN');
    expect((await run(`SELECT salary FROM ${S}.t`, 'all_rows')).rows).toEqual([['7.50']]);
  });

  test('policies are not changed in a transaction, and a commit does not pass one that was bound meanwhile', async () => {
    const id = randomUUID();
    const inSession = async (sql: string): Promise<string> => (await run(sql, 'root', id)).failure;
    await done(
      `CREATE TABLE ${S}.u AS SELECT 1 AS a`,
      `CREATE ROW ACCESS POLICY ${S}.none AS (a INT) RETURNS BOOLEAN -> false`,
    );
    const bind = `ALTER TABLE ${S}.u ADD ROW ACCESS POLICY ${S}.none ON (a)`;
    expect(await inSession('BEGIN')).toBe('done');
    expect(await inSession(bind)).toBe('25001 IN_TRANSACTION');
    expect([await inSession('ROLLBACK'), await inSession('BEGIN')]).toEqual(['done', 'done']);
    expect(await inSession(`UPDATE ${S}.u SET a = 2 WHERE a = 1`)).toBe('done');
    await done(bind);
    expect(await inSession('COMMIT')).toBe('40001 COMMIT_CONFLICT');
    await done(`ALTER TABLE ${S}.u DROP ROW ACCESS POLICY ${S}.none`, `DROP ROW ACCESS POLICY ${S}.none`);
    expect((await run(`SELECT a FROM ${S}.u`)).rows).toEqual([[1]]);
    await done(`DROP TABLE ${S}.u`);
  });
});

test('clients of the REST API get nothing of a table with policies, unless they are exempt', async () => {
  const table = `/${T}/namespaces/s/tables/t`;
  const calls: readonly (readonly [method: string, path: string, body?: Json])[] = [
    ['GET', table],
    ['GET', `${table}/credentials`],
    ['POST', `${table}/sign`, { method: 'GET', uri: 'http://x/y', headers: {} }],
    ['POST', `${table}/plan`, {}],
    ['GET', `${table}/metrics`],
    ['POST', table, { requirements: [], updates: [] }],
    ['POST', `${table}/unregister`],
    [
      'POST',
      `/${T}/transactions/commit`,
      { 'table-changes': [{ identifier: { namespace: ['s'], name: 't' }, requirements: [], updates: [] }] },
    ],
    [
      'POST',
      '/transactions/commit',
      { 'table-changes': [{ identifier: { catalog: T, namespace: ['s'], name: 't' }, requirements: [], updates: [] }] },
    ],
  ];
  for (const [method, path, body] of calls) {
    const [status, text] = await rest(method, path, 'root', body);
    expect([method, path, status, text]).toEqual([method, path, 403, expect.stringContaining('query it through SQL')]);
  }
  expect((await rest('HEAD', table, 'root'))[0]).toBe(204);
  const [status, text] = await rest('GET', table, 'all_rows');
  expect(status).toBe(200);
  const location = (JSON.parse(text) as Readonly<Record<string, string>>)['metadata-location'];
  const body = { name: 'thief', 'metadata-location': location ?? '' };
  expect((await rest('POST', `/${T}/namespaces/s/register`, 'root', body))[0]).toBe(403);
});

test('bindings survive DROP and UNDROP, and end with their policies', async () => {
  await done(`DROP TABLE ${S}.t`);
  expect(await outcome(`DROP ROW ACCESS POLICY ${S}.own`)).toBe('2BP01 POLICY_IN_USE');
  expect((await rest('POST', `/${T}/namespaces/s/tables/t/undrop`, 'root'))[0]).toBe(403);
  await done(`UNDROP TABLE ${S}.t`);
  const count = `SELECT count(*) FROM ${T}.information_schema.policy_references`;
  expect((await run(count)).rows).toEqual([[2]]);
  await done(
    `ALTER ROW ACCESS POLICY ${S}.own SET BODY -> true`,
    `ALTER TABLE ${S}.t DROP ALL ROW ACCESS POLICIES`,
    `ALTER TABLE ${S}.t ALTER COLUMN salary UNSET MASKING POLICY`,
    `DROP ROW ACCESS POLICY ${S}.own`,
    `DROP MASKING POLICY ${S}.hide`,
  );
  expect((await run(count)).rows).toEqual([[0]]);
  expect((await run(`SELECT event_type FROM (SHOW AUDIT LOG LIKE '%_policy') LIMIT 2`)).rows).toEqual([
    ['drop_policy'],
    ['drop_policy'],
  ]);
});
