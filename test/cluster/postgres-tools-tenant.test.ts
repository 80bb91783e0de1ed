import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, type Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { toolStatements } from '#test/support/tool-statements.ts';

/** Another tenant sends what tools send by themselves: no answer has a name, a number, a text or a statement of ours. */
let cluster: Cluster;
let ours: pg.Client;
let theirs: pg.Client;
/** It begins with no t: the shared cluster has statements that list schemas of such names. */
const SCHEMA = `browsed${process.pid}`;
const RIVAL = `rival${process.pid}`;
/** Texts that must not be seen: names of a schema, tables, columns, and texts of comments and of a view. */
const SECRETS = [SCHEMA, 'secret_table', 'secret_column', 'secret_view', 'secret comment'];

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  ours = await connected(cluster.ready.user, ADMIN_PASSWORD);
  await ours.query(`CREATE SCHEMA lake.${SCHEMA}; USE lake.${SCHEMA}`);
  await ours.query(
    `CREATE TABLE secret_table (secret_column BIGINT NOT NULL, PRIMARY KEY (secret_column)) COMMENT 'secret comment'`,
  );
  await ours.query('CREATE VIEW secret_view AS SELECT secret_column FROM secret_table');
  await cluster.cliOk(['admin', 'tenant', 'create', RIVAL, '--user', `${RIVAL}_admin`]);
  await cluster.cliOk(['admin', 'catalog', 'create', `${RIVAL}_catalog`, '--tenant', RIVAL]);
  theirs = await connected(`${RIVAL}_admin`, await cluster.token({ tenant: RIVAL, user: `${RIVAL}_admin` }));
});
afterAll(async () => {
  await ours.query(`DROP VIEW secret_view; DROP TABLE secret_table; DROP SCHEMA lake.${SCHEMA}`);
  await ours.end();
  await theirs.end();
});

async function connected(user: string, password: string): Promise<pg.Client> {
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password, url.pathname] = [user, password, '/postgres'];
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  return client;
}

/** Columns and rows of an answer as one text; an error as its own. */
async function answerOf(client: pg.Client, sql: string): Promise<string> {
  try {
    const answer = (await client.query({ text: sql, rowMode: 'array' })) as unknown;
    const results = (Array.isArray(answer) ? answer : [answer]) as readonly pg.QueryArrayResult[];
    return JSON.stringify(results.map(({ fields, rows }) => [fields, rows]));
  } catch (error) {
    return JSON.stringify([(error as pg.DatabaseError).message, (error as pg.DatabaseError).code]);
  }
}

test('none of the statements that tools send tells another tenant of ours, by names or by numbers', async () => {
  const oid = ((await ours.query(`SELECT 'secret_table'::regclass::oid AS oid`)).rows as { oid: number }[])[0]?.oid;
  const number = String(must(oid, 'the table has a number'));
  const reads = toolStatements()
    .map(({ sql }) => sql)
    .filter((text) => /^\s*(?:select|with|\(|show)/i.test(text));
  expect(reads.length).toBeGreaterThan(200);
  const told: string[] = [];
  let ownSaw = 0;
  for (const text of reads) {
    const sql = text
      .replaceAll('16390', number)
      .replaceAll("'customers'", "'secret_table'")
      .replaceAll(/\$\d+/g, "'secret_table'");
    const answer = await answerOf(theirs, sql);
    const named = /secret_table/.test(sql);
    for (const secret of SECRETS) {
      // An error may repeat a name of its statement.
      if (answer.includes(secret) && !(named && secret === 'secret_table'))
        told.push(`${secret}: ${text.slice(0, 80)}`);
    }
    if (SECRETS.some((secret) => secret !== 'secret_table' && (sql.includes(number) || !named)))
      ownSaw += (await answerOf(ours, sql)).includes('secret_') ? 1 : 0;
  }
  expect(told).toEqual([]);
  // The same statements tell their owner.
  expect(ownSaw).toBeGreaterThan(20);
});

test('numbers of another tenant’s objects name nothing', async () => {
  const numbers = (
    (await ours.query(`SELECT oid FROM pg_class WHERE relname LIKE 'secret%'`)).rows as { oid: number }[]
  )
    .map(({ oid }) => oid)
    .slice(0, 3);
  expect(numbers).toHaveLength(3);
  for (const oid of numbers) {
    for (const sql of [
      `SELECT relname FROM pg_class WHERE oid = ${oid}`,
      `SELECT attname FROM pg_attribute WHERE attrelid = ${oid}`,
      `SELECT pg_get_viewdef(${oid}::oid) AS d WHERE pg_get_viewdef(${oid}::oid) IS NOT NULL`,
      `SELECT has_table_privilege(${oid}::oid, 'SELECT') AS p WHERE has_table_privilege(${oid}::oid, 'SELECT')`,
      `SELECT description FROM pg_description WHERE objoid = ${oid}`,
    ])
      expect([sql, (await theirs.query(sql)).rows]).toEqual([sql, []]);
    expect((await theirs.query(`SELECT ${oid}::regclass AS name`)).rows).toEqual([{ name: String(oid) }]);
  }
  const activity = (await theirs.query('SELECT usename FROM pg_stat_activity')).rows as { usename: string }[];
  expect(new Set(activity.map(({ usename }) => usename))).toEqual(new Set([`${RIVAL}_admin`]));
  const pid = ((await ours.query('SELECT pg_backend_pid() AS pid')).rows as { pid: number }[])[0]?.pid;
  expect((await theirs.query(`SELECT pg_terminate_backend(${pid}) AS ended`)).rows).toEqual([{ ended: false }]);
  expect((await ours.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
});
