import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Policies of today over rows, columns and names of before, and what profiles tell of them to whom. */
const T = 'policy_past';
const S = `${T}.s`;
const PASSWORD = 'Battery-Staple-7';
let cluster: Cluster;
const session = { single: randomUUID(), force: randomUUID() } as const;

type Rows = readonly (readonly Json[])[];
async function run(sql: string, user = 'root', sessionId?: string): Promise<Rows | string> {
  const token = await cluster.token({ tenant: T, user });
  const { body } = await cluster.query(sql, { token, ...(sessionId === undefined ? {} : { sessionId }) });
  return body.error === undefined ? (body.rows ?? []) : `${body.sql_state} ${body.error}: ${body.message ?? ''}`;
}
async function done(...statements: readonly string[]): Promise<void> {
  for (const sql of statements) expect([sql, await run(sql)]).toEqual([sql, expect.any(Array)]);
}
/** Rows that ann sees, whole and divided. */
async function seen(sql: string): Promise<Rows | string> {
  const whole = await run(sql, 'ann', session.single);
  expect([sql, await run(sql, 'ann', session.force)]).toEqual([sql, whole]);
  return whole;
}

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.cliOk(['admin', 'tenant', 'create', T, '--user', 'root']);
  await cluster.cliOk(['admin', 'catalog', 'create', T, '--tenant', T, '--undrop-window', '1h']);
  await done(
    `CREATE SCHEMA ${S}`,
    `CREATE USER ann EMAIL 'ann@example.org' PASSWORD '${PASSWORD}'`,
    `CREATE USER max EMAIL 'max@example.org' PASSWORD '${PASSWORD}'`,
    `GRANT MANAGE POLICIES TO USER max`,
    `CREATE ROW ACCESS POLICY ${S}.eu AS (r VARCHAR) RETURNS BOOLEAN -> r = 'eu'`,
    `CREATE MASKING POLICY ${S}.stars AS (val VARCHAR) RETURNS VARCHAR -> '***'`,
  );
  for (const [mode, id] of Object.entries(session)) await run(`SET skein.distribution = '${mode}'`, 'ann', id);
});

test('snapshots, tags and branches have the policies of today, under the names that their columns had', async () => {
  const t = `${S}.t`;
  await done(
    `CREATE TABLE ${t} (id INT, area VARCHAR, card VARCHAR)`,
    `INSERT INTO ${t} VALUES (1, 'eu', 'a'), (2, 'us', 'b')`,
    `ALTER TABLE ${t} CREATE TAG before`,
    `ALTER TABLE ${t} CREATE BRANCH work`,
    `INSERT INTO "${T}"."s"."t@work" VALUES (3, 'us', 'c'), (4, 'eu', 'd')`,
    `ALTER TABLE ${t} RENAME COLUMN area TO region`,
    `ALTER TABLE ${t} RENAME COLUMN card TO number`,
    `ALTER TABLE ${t} ADD COLUMN late VARCHAR`,
    `INSERT INTO ${t} VALUES (5, 'eu', 'e', 'l'), (6, 'us', 'f', 'l')`,
    `ALTER TABLE ${t} ADD ROW ACCESS POLICY ${S}.eu ON (region)`,
    `ALTER TABLE ${t} ALTER COLUMN number SET MASKING POLICY ${S}.stars`,
  );
  expect(await seen(`SELECT id, number FROM ${t} ORDER BY id`)).toEqual([
    [1, '***'],
    [5, '***'],
  ]);
  expect(await seen(`SELECT id, area, card FROM ${t} FOR VERSION AS OF 'before' ORDER BY id`)).toEqual([
    [1, 'eu', '***'],
  ]);
  expect(await seen(`SELECT id, card FROM ${t} FOR VERSION AS OF 'before' WHERE card <> '***'`)).toEqual([]);
  expect(await seen(`SELECT id, number FROM "${T}"."s"."t@work" ORDER BY id`)).toEqual([
    [1, '***'],
    [4, '***'],
  ]);
  for (const change of [`CREATE OR REPLACE BRANCH work`, `DROP BRANCH work`]) {
    expect([change, await run(`ALTER TABLE ${t} ${change}`)]).toEqual([
      change,
      expect.stringMatching(/^42501 FORBIDDEN/),
    ]);
  }
  // A snapshot of before the bound column has nothing that the policy could ask.
  await done(
    `CREATE ROW ACCESS POLICY ${S}.late AS (l VARCHAR) RETURNS BOOLEAN -> l IS NULL`,
    `ALTER TABLE ${t} ADD ROW ACCESS POLICY ${S}.late ON (late)`,
  );
  expect(await seen(`SELECT id FROM ${t} ORDER BY id`)).toEqual([[1]]);
  expect(await seen(`SELECT id FROM ${t} FOR VERSION AS OF 'before'`)).toMatch(/^0A000 NOT_SUPPORTED/);
});

test('a branch is changed in its visible rows alone', async () => {
  const b = `"${T}"."s"."b@work"`;
  await done(
    `CREATE TABLE ${S}.b AS SELECT i AS id, CASE i % 2 WHEN 0 THEN 'eu' ELSE 'us' END AS region FROM range(4) r(i)`,
    `ALTER TABLE ${S}.b CREATE BRANCH work`,
    `ALTER TABLE ${S}.b ADD ROW ACCESS POLICY ${S}.eu ON (region)`,
    `CREATE USER free EMAIL 'free@example.org' PASSWORD '${PASSWORD}'`,
    `GRANT BYPASS POLICIES TO USER free`,
  );
  expect(await run(`UPDATE ${b} SET id = id + 10`, 'ann')).toEqual([[2]]);
  expect(await run(`DELETE FROM ${b} WHERE id = 10`, 'ann')).toEqual([[1]]);
  const all = await run(`SELECT id FROM ${b} ORDER BY id`, 'free');
  expect(JSON.stringify(all).replaceAll('"', '')).toBe('[[1],[3],[12]]');
});

test('a name that was freed has none of the rights of whoever had it', async () => {
  await done(
    `CREATE TABLE ${S}.own AS SELECT 1 AS id, 'us' AS region`,
    `ALTER TABLE ${S}.own ADD ROW ACCESS POLICY ${S}.eu ON (region)`,
    `CREATE USER gone EMAIL 'gone@example.org' PASSWORD '${PASSWORD}'`,
    `GRANT BYPASS POLICIES TO USER gone`,
  );
  expect(await run(`SELECT id FROM ${S}.own`, 'gone')).toEqual([[1]]);
  await done(
    `DROP USER gone`,
    `EXPUNGE USER gone REASON 'asked for it'`,
    `CREATE USER gone EMAIL 'gone@example.org' PASSWORD '${PASSWORD}'`,
  );
  expect(await run(`SELECT id FROM ${S}.own`, 'gone')).toEqual([]);
});

test.each(['geometry', 'variant'])(
  'a table with a column of the type %s is read with policies as it is without',
  async (type) => {
    const token = await cluster.token({ tenant: T, user: 'root' });
    const fields = [
      { id: 1, name: 'id', required: false, type: 'int' },
      { id: 2, name: 'region', required: false, type: 'string' },
      { id: 3, name: 'odd', required: false, type },
    ];
    const schema = { type: 'struct', 'schema-id': 0, fields };
    const made = await fetch(`${cluster.catalogUrl}/v1/${T}/namespaces/s/tables`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: type, schema, properties: { 'format-version': '3' } }),
    });
    expect([made.status, made.status === 200 ? '' : await made.text()]).toEqual([200, '']);
    const [plain, odd] = [`SELECT id FROM ${S}.${type}`, `SELECT odd FROM ${S}.${type}`];
    const before = await seen(plain);
    await done(`ALTER TABLE ${S}.${type} ADD ROW ACCESS POLICY ${S}.eu ON (region)`);
    expect(await seen(plain)).toEqual(before);
    expect(await seen(odd)).toMatch(/^0A000 NOT_SUPPORTED/);
  },
);

/** Words of a policy's query, of the files below it, and of hidden rows. */
const HIDDEN = /'eu'|@field|files=|filesPruned":[^0]|row_groups|"snapshot":"\d|\.parquet/;

test('plans and profiles show what is below policies to those alone who manage them', async () => {
  await done(
    `CREATE TABLE ${S}.p AS SELECT i AS id, CASE i % 3 WHEN 0 THEN 'eu' ELSE 'us' END AS region FROM range(3000) r(i)`,
    `ALTER TABLE ${S}.p ADD ROW ACCESS POLICY ${S}.eu ON (region)`,
  );
  const sql = `SELECT count(*), sum(id) FROM ${S}.p WHERE id > 5`;
  for (const [user, sees] of [
    ['ann', false],
    ['max', true],
  ] as const) {
    const sessionId = randomUUID();
    await run(`SET skein.distribution = 'force'`, user, sessionId);
    const analyzed = JSON.stringify(await run(`EXPLAIN ANALYZE ${sql}`, user, sessionId));
    expect(analyzed).toContain('policy applied');
    expect([user, /row_groups|files=/.test(analyzed)]).toEqual([user, sees]);
    for (const how of ['', 'apart']) {
      if (how !== '') await run(`SET skein.policy_tasks = '${how}'`, user, sessionId);
      const token = await cluster.token({ tenant: T, user });
      const { queryId } = await cluster.query(sql, { token, sessionId });
      const profileOf = async (reader: string): Promise<string> => {
        const headers = { authorization: `Bearer ${await cluster.token({ tenant: T, user: reader })}` };
        return await (await fetch(`${cluster.queryUrl}/api/query-history/${queryId}/profile`, { headers })).text();
      };
      const own = await profileOf(user);
      expect([user, how, own.includes('"stages":[{')]).toEqual([user, how, true]);
      if (!sees) expect([user, how, HIDDEN.exec(own)?.[0]]).toEqual([user, how, undefined]);
      else expect([user, how, own.includes('"showsPolicies":true')]).toEqual([user, how, true]);
      // The administrator sees the records of all, and manages no policies.
      const others = await profileOf('root');
      expect([user, how, HIDDEN.exec(others)?.[0]]).toEqual([user, how, undefined]);
      expect([user, how, others.includes('"queries":[]')]).toEqual([user, how, sees]);
    }
  }
});

test('a statement that runs tells as little as one that has ended', async () => {
  await done(
    `CREATE TABLE ${S}.live AS SELECT i AS id, CASE i % 3 WHEN 0 THEN 'eu' ELSE 'us' END AS region FROM range(3000) r(i)`,
    `ALTER TABLE ${S}.live ADD ROW ACCESS POLICY ${S}.eu ON (region)`,
  );
  const headers = { authorization: `Bearer ${await cluster.token({ tenant: T, user: 'ann' })}` };
  for (const sessionId of [session.single, session.force]) {
    const queryId = randomUUID();
    const stream = new AbortController();
    // It runs until it is aborted, because nobody reads its rows.
    const response = await fetch(`${cluster.queryUrl}/api/query`, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        'x-skein-query-id': queryId,
        'x-skein-session': sessionId,
      },
      body: JSON.stringify({ sql: `SELECT id, range FROM ${S}.live, range(5000000) WHERE id > 5` }),
      signal: stream.signal,
    });
    expect(response.status).toBe(200);
    const live = await (await fetch(`${cluster.queryUrl}/api/query-history/${queryId}/profile`, { headers })).text();
    stream.abort();
    expect(live).toContain('"status":"running"');
    expect(live).toContain('"stages":[{');
    expect(HIDDEN.exec(live)?.[0]).toBeUndefined();
    expect(live).not.toMatch(/"\w*[rR]ows":(?:2000|3000)\b/);
  }
});

test('the text of an error in a body is not in the record of the statement', async () => {
  await done(
    `CREATE TABLE ${S}.e AS SELECT 'secret' AS v`,
    `CREATE ROW ACCESS POLICY ${S}.raises AS (x VARCHAR) RETURNS BOOLEAN -> CAST(x AS INT) > 0`,
    `ALTER TABLE ${S}.e ADD ROW ACCESS POLICY ${S}.raises ON (v)`,
  );
  const sql = `SELECT count(*) FROM ${S}.e`;
  expect(await run(sql, 'ann')).toBe('22000 POLICY_FAILED: a policy of a table that the statement reads failed');
  expect(await run(sql, 'max')).toMatch(/^22000 POLICY_FAILED: .* failed: .*secret/);
  const token = await cluster.token({ tenant: T, user: 'max' });
  const { queryId } = await cluster.query(sql, { token });
  const headers = { authorization: `Bearer ${await cluster.token({ tenant: T, user: 'root' })}` };
  const record = async (): Promise<string> =>
    await (await fetch(`${cluster.queryUrl}/api/query-history/${queryId}`, { headers })).text();
  await expect.poll(record).toContain('"status":"failed"');
  expect(await record()).not.toContain('secret');
});
