import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { atLocalhost } from '#shared/config/loopback.ts';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { FlightClient, ticketOf } from '#test/support/flight-client.ts';
import { KNOWN_WITHIN_MS } from '#test/support/known-within.ts';
import { OIDC_CLIENT, startOidcIssuer, type OidcIssuer } from '#test/support/oidc-issuer.ts';
import { startOutsideIssuer, type OutsideIssuer } from '#test/support/outside-issuer.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { postgresProgram } from '#test/support/postgres-programs.ts';
import { python, pythonIn } from '#test/support/python.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { terminalTokens } from '#test/support/sign-in-terminal.ts';

/**
 * A job that comes with the token of its pipeline: other people's clients at every door, until the provider is dropped. And a person who has
 * signed in at a provider, until it says that he is not active, or is dropped.
 */
let cluster: Cluster;
let issuer: OutsideIssuer;
let corp: OidcIssuer;
let folder: string;
const redirects: string[] = [];
let token: string;
/** It would run for hours. */
const SLOW = 'SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b';
const ROWS = [
  [1, 'a'],
  [2, 'b'],
];

beforeAll(async () => {
  issuer = await startOutsideIssuer();
  corp = await startOidcIssuer(redirects);
  const { 'webhook.ca_file': ownFile, 'webhook.allowed_networks': networks } = issuer.settings;
  folder = await mkdtemp(join(tmpdir(), 'skein-authorities-'));
  const caFile = join(folder, 'ca.pem');
  const authorities = await Promise.all([ownFile, corp.settings['webhook.ca_file']].map((file) => readFile(file)));
  await writeFile(caFile, Buffer.concat(authorities));
  cluster = await startOwnCluster({
    workers: 1,
    env: { SKEIN_WEBHOOK_CA_FILE: caFile, SKEIN_WEBHOOK_ALLOWED_NETWORKS: networks.join(',') },
  });
  redirects.push(`${atLocalhost(cluster.catalogUrl)}/sign-in/callback`);
  await corp.rotate();
  for (const sql of [
    `CREATE IDENTITY PROVIDER corp ISSUER '${corp.issuer}' AUDIENCES ('skein:default')
      CLIENT_ID '${OIDC_CLIENT.clientId}' CLIENT_SECRET '${OIDC_CLIENT.clientSecret}'`,
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
afterAll(async () => {
  await issuer?.[Symbol.asyncDispose]();
  await corp?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

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

/** How something that runs has ended. */
const ended = (running: Promise<unknown>): Promise<string> =>
  running.then(
    () => 'it ran to its end',
    (error: unknown) => String(error),
  );

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

const pathOf = (address: string): string => address.slice(new URL(address).origin.length);

/** A person who has signed in at the provider: at the pages of the catalog, at the console's page, and in a terminal. */
async function signedIn(): Promise<{
  readonly pages: PageVisitor;
  readonly page: PageVisitor;
  readonly tokens: Awaited<ReturnType<typeof terminalTokens>>;
}> {
  const pages = new PageVisitor(cluster.catalogUrl);
  const page = new PageVisitor(cluster.queryUrl);
  const next = async (at: PageVisitor, path: string): Promise<string> =>
    (await at.get(path)).headers.get('location') ?? '';
  corp.person = { sub: 'mia at corp', claims: { preferred_username: 'mia' } };
  const back = await corp.visit(await next(pages, '/sign-in/provider?provider=corp'));
  expect(await next(pages, pathOf(back))).toBe('/account');
  const code = await next(pages, pathOf(await next(page, '/console/sign-in')));
  await page.get(pathOf(code));
  return { pages, page, tokens: await terminalTokens(pages, cluster.catalogUrl) };
}

test('a person of a provider is out of query, stream, console and terminal, by SCIM and with the provider', async () => {
  const [[, secret] = []] = await cluster.sql(`CREATE PERSONAL ACCESS TOKEN sync SCOPE 'scim:corp'`);
  const scim = async (method: string, path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${cluster.catalogUrl}/scim/v2/Users${path}`, {
      method,
      headers: { authorization: `Bearer ${String(secret)}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBeLessThan(300);
    return (await answer.json()) as Record<string, unknown>;
  };
  const { id } = await scim('POST', '', { userName: 'mia', externalId: 'mia at corp' });
  const active = (value: boolean): Promise<unknown> =>
    scim('PATCH', `/${String(id)}`, { Operations: [{ op: 'replace', path: 'active', value }] });
  const { catalog_url: catalogUrl, query_url: queryUrl } = cluster.ready;

  const outBy = async (end: () => Promise<unknown>, reason: RegExp): Promise<void> => {
    const { pages, page, tokens } = await signedIn();
    const { access_token: shown, refresh_token: refresh } = tokens;
    const bearer = (url: string) => async (): Promise<number> =>
      (await fetch(url, { headers: { authorization: `Bearer ${shown}` } })).status;
    const doors = [
      bearer(`${catalogUrl}/v1/catalogs`),
      bearer(`${queryUrl}/api/whoami`),
      async () => (await page.get('/api/whoami', { 'x-skein-console': '1', origin: page.origin })).status,
      async () => (await pages.get('/account')).status,
    ];
    expect(await Promise.all(doors.map((door) => door()))).toEqual([200, 200, 200, 200]);
    const running = cluster.query(SLOW, { token: shown });
    using flight = new FlightClient(flightUrl(), `Bearer ${shown}`);
    const info = await flight.info('CommandStatementQuery', { query: 'SELECT range FROM range(100000000000)' });
    const stream = flight.client.DoGet({ ticket: ticketOf(info) }, flight.metadata);
    const broken = once(stream, 'error') as Promise<[Error]>;
    await once(stream, 'data');
    stream.pause();
    await expect
      .poll(async () => (await cluster.sql(`SELECT 1 FROM (SHOW QUERIES) WHERE username = 'mia'`)).length)
      .toBe(2);
    await end();
    for (const [at, closed] of [401, 401, 401, 303].entries()) {
      await expect.poll(must(doors[at], 'a door'), { timeout: KNOWN_WITHIN_MS }).toBe(closed);
    }
    const form = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'skein-cli', refresh_token: refresh });
    expect((await fetch(`${catalogUrl}/v1/oauth/tokens`, { method: 'POST', body: form })).status).toBe(400);
    expect((await running).body.message).toMatch(reason);
    stream.resume();
    expect((await broken)[0].message).toMatch(reason);
  };
  await outBy(() => active(false), /was suspended or dropped/);
  await active(true);
  await outBy(() => cluster.sql('DROP IDENTITY PROVIDER corp'), /its identity provider, was suspended or dropped/);
});
