import pg from 'pg';
import { beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { FlightClient } from '#test/support/flight-client.ts';
import { KNOWN_WITHIN_MS } from '#test/support/known-within.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { signInTerminal } from '#test/support/sign-in-terminal.ts';

let cluster: Cluster;
const USER = { username: 'cluster_out', password: 'Battery-Staple-7' };
const SLOW = 'SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b';

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
});

test('who signs out of a browser is out at every door: programs that he allowed there, what they run, and their sessions', async () => {
  await cluster.sql(`CREATE USER ${USER.username} EMAIL 'out@example.org' PASSWORD '${USER.password}'`);
  const { catalog_url: catalogUrl, query_url: queryUrl } = cluster.ready;
  const visitor = new PageVisitor(catalogUrl);
  const { access_token: token } = await signInTerminal(visitor, catalogUrl, USER);
  const { access_token: other } = await signInTerminal(new PageVisitor(catalogUrl), catalogUrl, USER);
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the protocol of Postgres'));
  [url.username, url.password] = [USER.username, token];
  const session = new pg.Client({ connectionString: url.href });
  const told: string[] = [];
  session.on('error', (error) => told.push(String(error)));
  await session.connect();
  await session.query('SELECT 1');
  using flight = new FlightClient(must(cluster.ready.flight_sql_url, 'it serves Flight SQL'), `Bearer ${token}`);
  expect((await flight.query('SELECT 42 AS n')).numRows).toBe(1);
  const running = cluster.query(SLOW, { token });
  await expect
    .poll(async () => (await cluster.sql(`SELECT 1 FROM (SHOW QUERIES) WHERE username = '${USER.username}'`)).length)
    .toBe(1);
  const goesOn = cluster.query(SLOW, { token: other, queryId: '0190b5a2-7c1e-7a30-8000-00000000a0a0' });
  const status = async (at: string, shown: string): Promise<number> =>
    (await fetch(at, { headers: { authorization: `Bearer ${shown}` } })).status;

  expect((await visitor.submit('/sign-out', {})).status).toBe(303);
  for (const at of [`${catalogUrl}/v1/catalogs`, `${queryUrl}/api/whoami`]) {
    await expect.poll(() => status(at, token), { timeout: KNOWN_WITHIN_MS }).toBe(401);
    expect(await status(at, other)).toBe(200);
  }
  expect((await running).body).toMatchObject({ error: 'QUERY_CANCELLED', message: expect.stringMatching('sign-in') });
  // The session is told at once or, if it has not been, at its next query.
  told.push(await session.query('SELECT 1').then(() => 'goes on', String));
  expect(told.join('\n')).toMatch(/revoked/);
  await expect(flight.query('SELECT 42 AS n')).rejects.toThrow(/revoked/);
  await cluster.sql(`ALTER USER ${USER.username} SUSPEND`);
  expect((await goesOn).body).toMatchObject({ error: 'QUERY_CANCELLED', message: expect.stringMatching('suspended') });
  await session.end().catch(() => undefined);
  await cluster.sql(`DROP USER ${USER.username}`);
});
