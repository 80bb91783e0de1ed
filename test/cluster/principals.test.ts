import { beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { FlightClient } from '#test/support/flight-client.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Users, roles and tokens by SQL, as a client of the query API meets them. */
let cluster: Cluster;
const PASSWORD = 'Battery-Staple-7';

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
});

type Answer = { readonly error?: string; readonly rows: readonly (readonly Json[])[]; readonly sqlState?: string };
async function run(sql: string, user?: string, parameters?: Json): Promise<Answer> {
  const token = user === undefined ? undefined : await cluster.token({ user });
  const { body } = await cluster.query(sql, {
    ...(token === undefined ? {} : { token }),
    ...(parameters === undefined ? {} : { parameters }),
  });
  return {
    rows: body.rows ?? [],
    ...(body.error === undefined ? {} : { error: body.error }),
    ...(body.sql_state === undefined ? {} : { sqlState: body.sql_state }),
  };
}
const rows = async (sql: string, user?: string): Promise<readonly (readonly Json[])[]> => {
  const answer = await run(sql, user);
  expect([sql, answer.error]).toEqual([sql, undefined]);
  return answer.rows;
};

describe('a user of an organisation', () => {
  test('is made, asks with a role, is described, suspended and dropped', async () => {
    await rows(`CREATE ROLE cluster_reader SCOPE 'table:read' COMMENT 'reads'`);
    await rows(
      `CREATE USER cluster_ann EMAIL = 'Cluster.Ann@example.org' PASSWORD '${PASSWORD}' DEFAULT_ROLE cluster_reader`,
    );
    expect(await rows('SELECT current_user(), current_role()', 'cluster_ann')).toEqual([
      ['cluster_ann', 'cluster_reader'],
    ]);
    expect(await rows('SELECT current_role()')).toEqual([['public']]);
    const listed = await rows(`SELECT username, status FROM (SHOW USERS LIKE 'cluster\\_a%' WHERE STATUS = 'ACTIVE')`);
    expect(listed).toEqual([['cluster_ann', 'ACTIVE']]);
    expect((await rows('DESCRIBE USER cluster_ann'))[0]?.slice(0, 3)).toEqual([
      'cluster_ann',
      'ACTIVE',
      'Cluster.Ann@example.org',
    ]);
    expect(await run('DROP USER cluster_ann', 'cluster_ann')).toMatchObject({ error: 'FORBIDDEN', sqlState: '42501' });
    expect(await run('DROP USER cluster_ann')).toMatchObject({ error: 'HOLDS_GRANTS', sqlState: '2BP01' });
    await rows('ALTER USER cluster_ann SUSPEND');
    await rows('DROP USER cluster_ann CASCADE');
    await rows('DROP ROLE cluster_reader');
    expect((await rows(`SHOW AUDIT LOG LIKE 'drop\\_user' LIMIT 1`))[0]?.[3]).toBe('cluster_ann');
  });

  test('who must change the password does nothing else before', async () => {
    const made = `CREATE USER cluster_new EMAIL 'new@example.org' PASSWORD ? MUST_CHANGE_PASSWORD = TRUE`;
    expect((await run(made, undefined, [PASSWORD])).error).toBeUndefined();
    for (const sql of ['SELECT 1', 'SHOW TABLES', "SET TimeZone = 'UTC'", 'CREATE SCHEMA lake.own', 'SHOW ROLES']) {
      expect([sql, await run(sql, 'cluster_new')]).toMatchObject([sql, { error: 'FORBIDDEN', sqlState: '42501' }]);
    }
    const url = must(cluster.ready.flight_sql_url, 'it serves Flight SQL');
    {
      const given = Buffer.from(`cluster_new:${PASSWORD}`).toString('base64');
      using client = new FlightClient(url, `Basic ${given}`);
      await expect(client.query('SELECT 42 AS n')).rejects.toThrow(/set a new password first/);
    }
    const authorization = `Bearer ${await cluster.token({ user: 'cluster_new' })}`;
    for (const path of ['/v1/catalogs', '/v1/lake/namespaces', '/v1/lake/namespaces/default/tables']) {
      const answer = await fetch(cluster.ready.catalog_url + path, { headers: { authorization } });
      expect([path, answer.status, await answer.text()]).toEqual([
        path,
        403,
        expect.stringMatching('set a new password'),
      ]);
    }
    const history = await fetch(`${cluster.ready.query_url}/api/query-history`, { headers: { authorization } });
    expect(history.status).toBe(403);
    {
      // A driver's token ends with the password: the statement has run by the time of the answer, and nothing is left to fetch.
      using driver = new FlightClient(url, authorization);
      const query = `ALTER USER SELF SET PASSWORD 'Other-Staple-8' OLD PASSWORD '${PASSWORD}'`;
      expect(await driver.info('CommandStatementQuery', { query })).toMatchObject({ endpoint: [] });
      await expect(driver.query('SELECT 42 AS n')).rejects.toThrow(/revoked/);
    }
    expect(await rows('SELECT 1', 'cluster_new')).toEqual([[1]]);
    const basic = Buffer.from('cluster_new:Other-Staple-8').toString('base64');
    using client = new FlightClient(url, `Basic ${basic}`);
    expect((await client.query('SELECT 42 AS n')).numRows).toBe(1);
    await rows('DROP USER cluster_new');
  });

  test('what one who is suspended runs ends with that reason', async () => {
    await rows(`CREATE USER cluster_busy EMAIL 'busy@example.org' PASSWORD '${PASSWORD}'`);
    const slow = 'SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b';
    const running = run(slow, 'cluster_busy');
    await expect
      .poll(async () => (await rows(`SELECT username FROM (SHOW QUERIES) WHERE username = 'cluster_busy'`)).length)
      .toBe(1);
    await rows('ALTER USER cluster_busy SUSPEND');
    expect(await running).toMatchObject({ error: 'QUERY_CANCELLED' });
    await rows('DROP USER cluster_busy');
  });

  test('the history keeps no password, token or key of these statements, also when they do not parse', async () => {
    const secret = 'Planted-Secret-1234';
    await run(`CREATE USER cluster_red EMAIL 'red@example.org' PASSWORD '${secret}' -- ${secret}`);
    await run(`ALTER USER cluster_red SET PASWORD ${secret}`);
    await run(`GRANT ROLE 'x' TO '${secret}`);
    await rows('DROP USER IF EXISTS cluster_red');
    const kept = await rows('SHOW QUERY HISTORY LIMIT 50');
    expect(JSON.stringify(kept)).toContain('cluster_red');
    expect(JSON.stringify(kept)).not.toContain(secret);
  });
});
