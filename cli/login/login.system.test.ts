import { createServer, type Server } from 'node:http';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { atLocalhost } from '#shared/config/loopback.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { KNOWN_WITHIN_MS } from '#test/support/known-within.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { Flags } from '../command.ts';
import { clientOptions } from '../sql/client-options.ts';
import { whoami } from '../sql/whoami.ts';
import { findLogin, readLogins, type Login } from './login-file.ts';
import { loginToken } from './login-token.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { patience } from '#test/support/run/slowness.ts';

/** The terminal's sign-in against a catalog of this process, and a query API that only says which catalog is its own. */
const PASSWORD = 'Correct-Horse-9';
let catalog: TestCatalog;
let query: Server;
let folder: string;
let file: string;
let printed: string;

beforeAll(async () => {
  catalog = await startTestCatalog();
  // An administrator would have to set up a second factor first.
  const user = { kind: 'create_user', name: 'ann', ifNotExists: false, email: 'ann@example.org', password: PASSWORD };
  await catalog.call('RunPrincipalStatement', {
    principal: catalog.principal(),
    statement: Buffer.from(JSON.stringify(user)),
  });
  query = createServer((request, response) => {
    if (request.url === '/api/whoami') {
      const { preferred_username: username, tenant } = decodeJwt((request.headers.authorization ?? '').slice(7));
      return void response.end(JSON.stringify({ username, tenant, roles: [], scopes: [] }));
    }
    const isAsked = request.url === '/.well-known/oauth-protected-resource';
    const body = { resource: queryUrl(), authorization_servers: [atLocalhost(catalog.running.url)] };
    return void response
      .writeHead(isAsked ? 200 : 404, { 'content-type': 'application/json' })
      .end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => query.listen(0, '127.0.0.1', resolve));
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skein-login-'));
  file = join(folder, 'own', 'login.json');
  printed = '';
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => ((printed += String(text)), true));
  }
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});
afterAll(async () => {
  query.close();
  await catalog[Symbol.asyncDispose]();
});

const queryUrl = (): string => `http://127.0.0.1:${(query.address() as AddressInfo).port}`;
const loadedFor = (url: string): LoadedConfig => ({
  config: defaultConfig({ data_dir: join(folder, 'none'), 'client.login_file': file, 'client.query_url': url }),
  sources: {} as LoadedConfig['sources'],
});

/** Goes to the address that the command has printed, as the person's browser does. @returns where the click leads */
async function agree(): Promise<string> {
  await expect.poll(() => printed, { timeout: patience(30_000) }).toMatch(/^ {2}http\S+\n/m);
  const address = new URL(/^ {2}(http\S+)\n/m.exec(printed)?.[1] ?? '');
  const visitor = new PageVisitor(atLocalhost(catalog.running.url));
  expect(address.origin).toBe(visitor.origin);
  const path = address.pathname + address.search;
  await visitor.get(path);
  await visitor.submit('/sign-in', { username: 'ann', password: PASSWORD });
  const fields = Object.fromEntries(address.searchParams);
  const { headers } = await visitor.submit(path, { ...fields, answer: 'allow' }, { action: '/oauth/authorize' });
  return headers.get('location') ?? '';
}

async function signIn(url = queryUrl(), tenant?: string): Promise<Login> {
  const running = login(loadedFor(url), new Flags(tenant === undefined ? {} : { tenant }));
  const location = await agree();
  // Another page of the browser cannot end the wait with a code of its own.
  const forged = new URL(location);
  forged.searchParams.set('state', 'other');
  expect((await fetch(forged)).status).toBe(400);
  expect(await (await fetch(location)).text()).toContain('Signed in');
  expect(await running).toBe(0);
  const [made] = readLogins(file);
  if (made === undefined) throw new Error('it is kept');
  return made;
}

test('the tokens of a sign-in lie in a file of this account alone, and are refused everywhere after skein logout', async () => {
  const made = await signIn();
  expect(made).toMatchObject({ query_url: queryUrl(), user: 'ann', tenant: 'default' });
  expect([statSync(file).mode & 0o777, statSync(join(folder, 'own')).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(findLogin(readLogins(file), `${queryUrl()}/`)).toEqual(made);
  expect(findLogin(readLogins(file), 'http://127.0.0.1:1')).toBeUndefined();
  const opened = async (): Promise<number> =>
    (await catalog.rest('GET', '/v1/catalogs', { token: made.access_token })).status;
  expect(await opened()).toBe(200);
  // The commands that ask the query API use it, also where no address is named and no cluster runs.
  for (const url of [queryUrl(), '']) {
    const options = clientOptions(loadedFor(url), new Flags({}));
    expect([options.url, await options.token(false)]).toEqual([queryUrl(), made.access_token]);
  }
  expect(await whoami(loadedFor(''), new Flags({ json: true }))).toBe(0);
  expect(printed).toContain(`{"user":"ann","tenant":"default"`);
  expect(await logout(loadedFor(''))).toBe(0);
  expect(readFileSync(file, 'utf8')).not.toContain(made.refresh_token);
  await expect.poll(opened, { timeout: KNOWN_WITHIN_MS }).toBe(401);
  await expect(logout(loadedFor(''))).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
});

test('of many that need the token at once one renews it; one that was refused is renewed, too', async () => {
  const made = await signIn();
  writeFileSync(file, JSON.stringify({ logins: [{ ...made, expires_at: new Date(0).toISOString() }] }));
  const tokens = await Promise.all(Array.from({ length: 5 }, () => loginToken(file, made, {})(false)));
  expect(new Set(tokens).size).toBe(1);
  expect(tokens[0]).not.toBe(made.access_token);
  const token = loginToken(file, made, {});
  const [first, again] = [await token(false), await token(true)];
  expect([first, again === first]).toEqual([tokens[0], false]);
  // A refresh token that comes twice ends the sign-in.
  writeFileSync(file, JSON.stringify({ logins: [{ ...made, expires_at: new Date(0).toISOString() }] }));
  await expect(loginToken(file, made, {})(false)).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
    message: expect.stringContaining('skein login'),
  });
  // A command that only asks who one is tells it as it is.
  await expect(whoami(loadedFor(''), new Flags({}))).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
    message: expect.stringContaining('skein login'),
  });
});

test('an input that ends before the code is no sign-in', async () => {
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([]) as typeof process.stdin);
  await expect(login(loadedFor(queryUrl()), new Flags({ 'no-browser': true }))).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
    message: 'no code was given',
  });
});

test('a service of another kind does not say who one is', async () => {
  const other = createServer((_request, response) => void response.end('<html></html>'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  try {
    const loaded = loadedFor(url);
    const config = { ...loaded.config, 'client.token': 'a token' };
    await expect(whoami({ ...loaded, config }, new Flags({}))).rejects.toMatchObject({ code: 'NO_CLUSTER' });
  } finally {
    other.close();
  }
});

test('a catalog may be named in place of the query API; a file that others can read is not used', async () => {
  expect(await signIn(catalog.running.url)).toMatchObject({ query_url: '', user: 'ann' });
  chmodSync(file, 0o644);
  expect(() => readLogins(file)).toThrow(/chmod 600/);
});

test('another tenant than the one that was asked for is refused, and its sign-in ends', async () => {
  const running = login(loadedFor(queryUrl()), new Flags({ tenant: 'elsewhere' }));
  const refused = expect(running).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  // The form of this catalog has one tenant, and asks for none.
  await fetch(await agree());
  await refused;
  expect(readLogins(file)).toEqual([]);
});

test('an address that is neither is refused', async () => {
  await expect(login(loadedFor(`${queryUrl()}/other`), new Flags({}))).rejects.toMatchObject({
    code: 'NO_CLUSTER',
    message: expect.stringContaining('neither a query API nor a catalog'),
  });
});
