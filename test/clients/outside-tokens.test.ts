import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { FlightClient } from '#test/support/flight-client.ts';
import { KNOWN_WITHIN_MS } from '#test/support/known-within.ts';
import { startOutsideIssuer, type OutsideIssuer } from '#test/support/outside-issuer.ts';
import { postgresProgram } from '#test/support/postgres-programs.ts';
import { python, pythonIn } from '#test/support/python.ts';
import { startOwnCluster } from '#test/support/resources.ts';

/** A job that comes with the token of its pipeline: other people's clients at every door, until the provider is dropped. */
let cluster: Cluster;
let issuer: OutsideIssuer;
let token: string;
/** It would run for hours. */
const SLOW = 'SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b';
const ROWS = [
  [1, 'a'],
  [2, 'b'],
];

beforeAll(async () => {
  issuer = await startOutsideIssuer();
  const { 'webhook.ca_file': caFile, 'webhook.allowed_networks': networks } = issuer.settings;
  cluster = await startOwnCluster({
    workers: 1,
    env: { SKEIN_WEBHOOK_CA_FILE: caFile, SKEIN_WEBHOOK_ALLOWED_NETWORKS: networks.join(',') },
  });
  for (const sql of [
    'CREATE SCHEMA lake.jobs',
    'CREATE TABLE lake.jobs.t (id INTEGER, name VARCHAR)',
    `INSERT INTO lake.jobs.t VALUES (1, 'a'), (2, 'b')`,
    `CREATE IDENTITY PROVIDER ci ISSUER '${issuer.issuer}' AUDIENCES ('skein:default')`,
    'CREATE SERVICE ACCOUNT loader',
    `ALTER SERVICE ACCOUNT loader SET TRUST OF ci WHERE 'sub' LIKE 'repo:acme/*'`,
  ]) {
    await cluster.sql(sql);
  }
  token = await issuer.sign({ sub: 'repo:acme/app:ref:refs/heads/main' });
});
afterAll(() => issuer?.[Symbol.asyncDispose]());

const postgresUrl = (user: string): URL => {
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the protocol of Postgres'));
  [url.username, url.password, url.pathname] = [user, token, '/lake'];
  return url;
};
const flightUrl = (): string => must(cluster.ready.flight_sql_url, 'it serves Flight SQL');

test('PyIceberg, with the token as it is and with one that it was exchanged for', async () => {
  const exchanged = await fetch(`${cluster.catalogUrl}/v1/oauth/tokens`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    }),
  });
  const { access_token: ours } = (await exchanged.json()) as { readonly access_token: string };
  for (const shown of [token, ours]) {
    const printed = await python('test/clients/read_rows.py', cluster.catalogUrl, shown, 'id,name', 'jobs.t');
    expect(JSON.parse(printed)).toEqual({ 'jobs.t': ROWS });
  }
}, 300_000);

test('ADBC, as bearer and as password', async () => {
  const sql = 'SELECT id, name FROM lake.jobs.t ORDER BY id';
  const printed = await pythonIn('flight', 'test/clients/flight_token.py', flightUrl(), 'loader', token, sql);
  expect(JSON.parse(printed)).toEqual([ROWS, ROWS]);
}, 300_000);

test('psql, as the password of its account and of no other', async () => {
  const sql = 'SELECT current_user, count(*) FROM lake.jobs.t';
  const ask = (user: string): Promise<string> =>
    postgresProgram('psql', ['-X', '-q', '-A', '-t', '-c', sql, postgresUrl(user).href]);
  expect(await ask('loader')).toBe('loader|2\n');
  await expect(ask('somebody')).rejects.toThrow(/the token is not valid/);
});

test('a provider that is dropped ends it at every door, with the query and the stream that run', async () => {
  const { catalog_url: catalogUrl, query_url: queryUrl } = cluster.ready;
  const status = async (at: string): Promise<number> =>
    (await fetch(at, { headers: { authorization: `Bearer ${token}` } })).status;
  const doors = [`${catalogUrl}/v1/catalogs`, `${queryUrl}/api/whoami`];
  expect(await Promise.all(doors.map(status))).toEqual([200, 200]);
  const session = new pg.Client({ connectionString: postgresUrl('loader').href });
  const told: string[] = [];
  session.on('error', (error) => told.push(String(error)));
  await session.connect();
  expect((await session.query('SELECT current_user AS u')).rows).toEqual([{ u: 'loader' }]);
  using flight = new FlightClient(flightUrl(), `Bearer ${token}`);
  expect((await flight.query('SELECT 42 AS n')).numRows).toBe(1);
  const ended = (running: Promise<unknown>): Promise<string> =>
    running.then(
      () => 'it ran to its end',
      (error: unknown) => String(error),
    );
  const overFlight = ended(flight.query(SLOW));
  const overHttp = cluster.query(SLOW, { token });
  await expect
    .poll(async () => (await cluster.sql(`SELECT 1 FROM (SHOW QUERIES) WHERE username = 'loader'`)).length)
    .toBe(2);
  await cluster.sql('DROP IDENTITY PROVIDER ci');
  for (const at of doors) await expect.poll(() => status(at), { timeout: KNOWN_WITHIN_MS }).toBe(401);
  expect((await overHttp).body.message).toMatch(/its identity provider, was suspended or dropped/);
  expect(await overFlight).toMatch(/its identity provider, was suspended or dropped/);
  // The session is told at once or, if it has not been, at its next query.
  told.push(await ended(session.query('SELECT 1')));
  expect(told.join('\n')).toMatch(/revoked/);
  await expect(flight.query('SELECT 42 AS n')).rejects.toThrow();
  await session.end().catch(() => undefined);
});
