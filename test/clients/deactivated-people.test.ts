import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import pg from 'pg';
import { atLocalhost } from '#shared/config/loopback.ts';
import { must } from '#shared/must.ts';
import type { Cluster, StartedCluster } from '#test/support/cluster.ts';
import { FlightClient } from '#test/support/flight-client.ts';
import { KNOWN_WITHIN_MS } from '#test/support/known-within.ts';
import { OIDC_CLIENT, startOidcIssuer, type OidcIssuer } from '#test/support/oidc-issuer.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { startOwnCluster } from '#test/support/resources.ts';

/** People of a company who are deactivated, by SCIM or with their provider, while they have everything open. */
let cluster: StartedCluster;
let issuer: OidcIssuer;
let scimToken: string;
/** They would run for hours; the second one gives rows meanwhile. */
const SLOW = 'SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b';
const STREAM = 'SELECT a.range AS a, b.range AS b FROM range(1000000) a, range(1000000) b';
const CALLBACK = 'http://127.0.0.1:4711/callback';
const PROVIDER = 'corp';

beforeAll(async () => {
  const redirects: string[] = [];
  issuer = await startOidcIssuer(redirects);
  const { 'webhook.ca_file': caFile, 'webhook.allowed_networks': networks } = issuer.settings;
  cluster = await startOwnCluster({
    workers: 1,
    env: {
      SKEIN_WEBHOOK_CA_FILE: caFile,
      SKEIN_WEBHOOK_ALLOWED_NETWORKS: networks.join(','),
    },
  });
  redirects.push(`${atLocalhost(cluster.catalogUrl)}/sign-in/callback`);
  await issuer.rotate();
  const { clientId, clientSecret } = OIDC_CLIENT;
  await cluster.sql(`CREATE IDENTITY PROVIDER ${PROVIDER} ISSUER '${issuer.issuer}' AUDIENCES ('skein:default')
    CLIENT_ID '${clientId}' CLIENT_SECRET '${clientSecret}' PROVISION USERS DOMAINS ('example.com') LABEL 'Corp'`);
  const [row = []] = await cluster.sql(`CREATE PERSONAL ACCESS TOKEN sync TTL '1 days' SCOPE 'scim:${PROVIDER}'`);
  scimToken = must(
    row.find((value) => typeof value === 'string' && value.startsWith('skein_pat_')),
    'the token is shown once',
  ) as string;
});
afterAll(async () => {
  await cluster?.stop();
  await issuer?.[Symbol.asyncDispose]();
});

async function scim(method: string, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${cluster.catalogUrl}/scim/v2/Users${path}`, {
    method,
    headers: { authorization: `Bearer ${scimToken}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as Record<string, unknown>;
}
const pathOf = (address: string | null): string => {
  const url = new URL(must(address, 'a way on'), 'http://x');
  return url.pathname + url.search;
};
const refresh = (token: string): Promise<Response> =>
  fetch(`${cluster.catalogUrl}/v1/oauth/tokens`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'refresh_token', client_id: 'skein-cli', refresh_token: token }),
  });

/** A browser in which the person has come back from the provider. */
async function signedIn(sub: string): Promise<PageVisitor> {
  issuer.person = { sub, claims: { preferred_username: sub } };
  const browser = new PageVisitor(cluster.catalogUrl);
  const to = await browser.get(pathOf((await browser.get(`/sign-in?provider=${PROVIDER}`)).headers.get('location')));
  const back = await issuer.visit(must(to.headers.get('location'), 'the provider'));
  expect((await browser.get(pathOf(back))).status).toBe(303);
  return browser;
}

/** `skein login` in that browser. */
async function loggedIn(browser: PageVisitor): Promise<{ access_token: string; refresh_token: string }> {
  const verifier = randomBytes(32).toString('base64url');
  const client = { client_id: 'skein-cli', redirect_uri: CALLBACK };
  const request = {
    response_type: 'code',
    ...client,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  const question = `/oauth/authorize?${new URLSearchParams(request).toString()}`;
  const { headers } = await browser.submit(question, { ...request, answer: 'allow' }, { action: '/oauth/authorize' });
  const code = new URL(headers.get('location') ?? '').searchParams.get('code') ?? '';
  const answer = await fetch(`${cluster.catalogUrl}/v1/oauth/tokens`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'authorization_code', ...client, code, code_verifier: verifier }),
  });
  return (await answer.json()) as { access_token: string; refresh_token: string };
}

/** The console, in which that browser signs in without another question. */
async function openedConsole(browser: PageVisitor): Promise<() => Promise<number>> {
  const page = new PageVisitor(cluster.queryUrl);
  const asked = await browser.get(pathOf((await page.get('/console/sign-in')).headers.get('location')));
  await page.get(pathOf(asked.headers.get('location')));
  const headers = { 'x-skein-console': '1', origin: atLocalhost(cluster.queryUrl) };
  return async () => (await page.get('/api/whoami', headers)).status;
}

/** How something that runs has ended, and when. */
type Ending = { readonly atMs: number; readonly how: string };
const ending = (running: Promise<unknown>): Promise<Ending> =>
  running.then(
    () => ({ atMs: performance.now(), how: 'it ran to its end' }),
    (error: unknown) => ({ atMs: performance.now(), how: String(error) }),
  );

/** Everything that a person may have open, and a query in each of it. */
type Opened = {
  readonly endings: Readonly<Record<'http' | 'stream' | 'postgres', Promise<Ending>>>;
  /** Whether each door takes the person: the statuses of REST, the query API, the console, and a refresh. */
  doors(): Promise<readonly number[]>;
  readonly refreshToken: string;
  [Symbol.asyncDispose](): Promise<void>;
};

async function open(name: string, browser: PageVisitor): Promise<Opened> {
  const { access_token: token, refresh_token: refreshToken } = await loggedIn(browser);
  const consoleStatus = await openedConsole(browser);
  const status = async (at: string): Promise<number> =>
    (await fetch(at, { headers: { authorization: `Bearer ${token}` } })).status;
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the protocol of Postgres'));
  [url.username, url.password, url.pathname] = [name, token, '/lake'];
  const session = new pg.Client({ connectionString: url.href });
  session.on('error', () => undefined);
  await session.connect();
  const flight = new FlightClient(must(cluster.ready.flight_sql_url, 'it serves Flight SQL'), `Bearer ${token}`);
  const seen = Promise.withResolvers<void>();
  const stream = async (): Promise<void> => {
    const info = await flight.info('CommandStatementQuery', { query: STREAM });
    const ticket = must(info.endpoint[0]?.ticket, 'an endpoint').ticket;
    for await (const message of flight.client.DoGet({ ticket }, flight.metadata)) if (message !== null) seen.resolve();
  };
  const endings = {
    http: ending(cluster.query(SLOW, { token }).then(({ body }) => Promise.reject(new Error(body.message)))),
    stream: ending(stream()),
    postgres: ending(session.query(SLOW)),
  };
  await seen.promise;
  await expect.poll(async () => (await running(cluster, name)).length, { timeout: 30_000 }).toBe(3);
  return {
    endings,
    refreshToken,
    doors: () =>
      Promise.all([
        status(`${cluster.catalogUrl}/v1/catalogs`),
        status(`${cluster.queryUrl}/api/whoami`),
        consoleStatus(),
      ]),
    async [Symbol.asyncDispose]() {
      flight[Symbol.dispose]();
      await session.end().catch(() => undefined);
    },
  };
}
const running = async (on: Cluster, name: string): Promise<readonly unknown[]> =>
  (await on.sql('SHOW QUERIES')).filter((row) => row.includes(name));

/** Each way out: what is done beforehand, and the one call after whose answer nothing is open any more. */
const WAYS: readonly (readonly [string, (sub: string) => Promise<() => Promise<unknown>>])[] = [
  [
    'active: false by SCIM',
    async (sub) => {
      const { id } = await scim('POST', '', { userName: `${sub}@example.com`, externalId: sub });
      return () => scim('PATCH', `/${String(id)}`, { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] });
    },
  ],
  [
    'a provider that is disabled',
    () => Promise.resolve(() => cluster.sql(`ALTER IDENTITY PROVIDER ${PROVIDER} SET ENABLED FALSE`)),
  ],
  ['a provider that is dropped', () => Promise.resolve(() => cluster.sql(`DROP IDENTITY PROVIDER ${PROVIDER}`))],
];

test.each(WAYS)(
  '%s: out within a second, with queries, streams, sessions, the console and refreshes',
  async (way, prepare) => {
    const name = `person${WAYS.findIndex(([one]) => one === way)}`;
    const browser = await signedIn(name);
    const leave = await prepare(name);
    await using opened = await open(name, browser);
    expect(await opened.doors()).toEqual([200, 200, 200]);
    await leave();
    const answeredMs = performance.now();
    // The database is asked at each refresh.
    expect((await refresh(opened.refreshToken)).status).toBe(400);
    await expect.poll(() => opened.doors(), { timeout: KNOWN_WITHIN_MS, interval: 20 }).toEqual([401, 401, 401]);
    const lateness: Record<string, number> = {};
    for (const [what, end] of Object.entries(opened.endings)) {
      const { atMs, how } = await end;
      expect([what, how]).toEqual([what, expect.stringMatching(/revoked|suspended or dropped/)]);
      lateness[what] = Math.max(0, Math.round(atMs - answeredMs));
    }
    console.info(JSON.stringify({ way, lateness }));
    for (const [what, ms] of Object.entries(lateness))
      expect([what, ms < KNOWN_WITHIN_MS, ms]).toEqual([what, true, ms]);
    expect(await running(cluster, name)).toEqual([]);
    expect((await browser.get('/account')).headers.get('location')).toBe('/sign-in');
    if (way.includes('disabled')) await cluster.sql(`ALTER IDENTITY PROVIDER ${PROVIDER} SET ENABLED TRUE`);
  },
  120_000,
);
