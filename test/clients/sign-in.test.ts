import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { compileJava, java, mavenClasspath } from '#test/support/java.ts';
import { loadIceberg } from '#test/support/duckdb-extension.ts';
import { python, pythonBin } from '#test/support/python.ts';

/** Clients of other projects sign in with a credential, and stay signed in although their tokens expire every few seconds. */
const TOKEN_TTL_MS = 15_000;
/** Times of a catalog whose sign-ins end soon, too. */
const SHORT_TOKEN_TTL_MS = 15_000;
const SHORT_SIGN_IN_MS = 22_000;

type Client = { readonly client_id: string; readonly client_secret: string };
/** A request to the token endpoint, and the status of its answer. */
type Asked = { readonly grant: string; readonly scheme: string; readonly scope: string; readonly status: number };

let catalog: TestCatalog;
let client: Client;
let shortCatalog: TestCatalog;
let classpath: string;
let proxy: Server;
let proxyUrl: string;
type Endpoint = { readonly url: string; readonly of: TestCatalog; readonly asked: Asked[] };
/** Endpoints by test; the path of a test's token endpoint begins with its key. The tests run concurrently, because they mostly wait. */
const endpoints = new Map<string, Endpoint>();

/** A token endpoint for one test, which forwards to that of a catalog and records the requests. */
function tokenEndpoint(key: string, of = catalog): Endpoint {
  const endpoint = { url: `${proxyUrl}/${key}/v1/oauth/tokens`, of, asked: [] };
  endpoints.set(key, endpoint);
  return endpoint;
}

beforeAll(async () => {
  const kit = await mavenClasspath('test/conformance/rest-kit/pom.xml');
  classpath = `${await compileJava('test/clients/SignedInCatalog.java', kit)}:${kit}`;
  await pythonBin();
  catalog = await startTestCatalog({ 'catalog.token_ttl': TOKEN_TTL_MS });
  client = await catalog.call<Client>('CreateClient', { tenant: 'default', name: 'engine' });
  shortCatalog = await startTestCatalog({
    'catalog.token_ttl': SHORT_TOKEN_TTL_MS,
    'catalog.refresh_token_ttl': SHORT_SIGN_IN_MS,
  });
  proxy = createServer((request, response) => void passOn(request, response)).listen(0, '127.0.0.1');
  await new Promise((resolve) => proxy.once('listening', resolve));
  proxyUrl = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
}, 300_000);
afterAll(async () => {
  proxy?.close();
  await catalog?.[Symbol.asyncDispose]();
  await shortCatalog?.[Symbol.asyncDispose]();
});

/** Forwards a request to the catalog's token endpoint and records it. */
async function passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = (await buffer(request)).toString();
  const { authorization = '', 'content-type': type = '' } = request.headers;
  const headers = { 'content-type': type, ...(authorization === '' ? {} : { authorization }) };
  const [, key = '', path = ''] = /^\/([^/]+)(.*)$/.exec(request.url ?? '') ?? [];
  const endpoint = must(endpoints.get(key), 'a test asked for it');
  const answer = await fetch(`${endpoint.of.running.url}${path}`, { method: 'POST', body, headers });
  const form = new URLSearchParams(body);
  endpoint.asked.push({
    grant: (form.get('grant_type') ?? '').replace(/^.*:/, ''),
    scheme: authorization.split(' ')[0] ?? '',
    scope: form.get('scope') ?? '',
    status: answer.status,
  });
  response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
  response.end(await answer.text());
}

/** The credential, for how many lives of a token the client uses it, and how many tokens it needs for that at least. */
const CREDENTIALS = [
  ['id-and-secret', () => `${client.client_id}:${client.client_secret}`, 2.3, 3],
  ['secret-alone', () => client.client_secret, 0.1, 1],
] as const;
const secondsOf = (lives: number): string => String(Math.ceil((lives * TOKEN_TTL_MS) / 1_000));

test.concurrent.each(CREDENTIALS)(
  'Java, %s: it renews its own token by exchange',
  async (what, credential, lives, tokens) => {
    const endpoint = tokenEndpoint(`java-${what}`);
    const args = ['SignedInCatalog', catalog.running.url, endpoint.url, credential(), secondsOf(lives)];
    const result = await java(classpath, { 'org.slf4j.simpleLogger.defaultLogLevel': 'error' }, args);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout).toMatch(/^\[default\]\n/);
    const [first, ...renewals] = endpoint.asked;
    expect(first).toEqual({ grant: 'client_credentials', scheme: '', scope: 'catalog', status: 200 });
    expect(renewals.length).toBeGreaterThanOrEqual(tokens - 1);
    const renewal = { grant: 'token-exchange', scheme: 'Bearer', scope: 'catalog', status: 200 };
    for (const one of renewals) expect(one).toEqual(renewal);
  },
  300_000,
);

test.concurrent('Java: when its sign-in ends, its secret begins another', async () => {
  const { client_id, client_secret } = await shortCatalog.call<Client>('CreateClient', {
    tenant: 'default',
    name: 'engine',
  });
  const endpoint = tokenEndpoint('java-short', shortCatalog);
  const seconds = String((SHORT_SIGN_IN_MS * 3) / 1_000);
  const args = ['SignedInCatalog', shortCatalog.running.url, endpoint.url, `${client_id}:${client_secret}`, seconds];
  const result = await java(classpath, { 'org.slf4j.simpleLogger.defaultLogLevel': 'error' }, args);
  expect(result).toMatchObject({ code: 0, stderr: '' });
  // The client asks with its secret when its token has ended, and not before: on a slow machine calls in between are refused.
  expect(result.stdout).toMatch(/^((\[default\]\n){5,}(refused\n){0,20})*(\[default\]\n){5,}$/);
  const exchanges = endpoint.asked.filter(({ grant }) => grant === 'token-exchange');
  expect(exchanges).toContainEqual({ grant: 'token-exchange', scheme: 'Bearer', scope: 'catalog', status: 200 });
  expect(exchanges).toContainEqual({ grant: 'token-exchange', scheme: 'Basic', scope: 'catalog', status: 200 });
}, 300_000);

test.concurrent.each(CREDENTIALS)(
  'PyIceberg, %s: it signs in again when its token has ended',
  async (what, credential, lives, tokens) => {
    const endpoint = tokenEndpoint(`python-${what}`);
    const args = [catalog.running.url, endpoint.url, credential(), secondsOf(lives)];
    const seen = await python('test/clients/signed_in_catalog.py', ...args);
    expect(new Set(seen.trim().split('\n'))).toEqual(new Set(["[('default',)]"]));
    expect(endpoint.asked.length).toBeGreaterThanOrEqual(tokens);
    const grant = { grant: 'client_credentials', scope: 'catalog', status: 200 };
    for (const one of endpoint.asked) expect(one).toMatchObject(grant);
  },
  300_000,
);

test.concurrent('DuckDB: it signs in with its secret, and goes on when its token has ended', async () => {
  const endpoint = tokenEndpoint('duckdb');
  const instance = await DuckDBInstance.create(':memory:', {
    allow_unsigned_extensions: 'true',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  });
  const duckdb = await instance.connect();
  try {
    for (const sql of await loadIceberg()) await duckdb.run(sql);
    await duckdb.run(`CREATE SECRET skein (TYPE iceberg, CLIENT_ID '${client.client_id}',
      CLIENT_SECRET '${client.client_secret}', OAUTH2_SERVER_URI '${endpoint.url}')`);
    await duckdb.run(`ATTACH 'lake' AS lake (TYPE iceberg, SECRET skein, ENDPOINT '${catalog.running.url}')`);
    for (let i = 0; i < 2; i += 1) {
      await duckdb.run(`CREATE TABLE lake.default.t${i} (a INTEGER)`);
      await sleep(TOKEN_TTL_MS + 500);
    }
    const rows = await duckdb.runAndReadAll('SELECT count(*)::INTEGER FROM lake.default.t1');
    expect(rows.getRowsJson()).toEqual([[0]]);
    const scope = 'PRINCIPAL_ROLE:ALL';
    expect(endpoint.asked[0]).toEqual({ grant: 'client_credentials', scheme: 'Basic', scope, status: 200 });
    expect(endpoint.asked.length).toBeGreaterThanOrEqual(2);
    for (const one of endpoint.asked.slice(1))
      expect(one).toEqual({ grant: 'refresh_token', scheme: '', scope, status: 200 });

    // The client goes on when its refresh token is refused.
    endpoint.asked.length = 0;
    await catalog.sql('delete from catalog.refresh_family');
    await sleep(TOKEN_TTL_MS + 500);
    await duckdb.run('DROP TABLE lake.default.t0');
    expect(endpoint.asked).toEqual([
      { grant: 'refresh_token', scheme: '', scope, status: 400 },
      { grant: 'client_credentials', scheme: 'Basic', scope, status: 200 },
    ]);
  } finally {
    duckdb.closeSync();
    instance.closeSync();
  }
}, 300_000);
