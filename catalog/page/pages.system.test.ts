import { request } from 'node:http';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import type { PrincipalAnswer, PrincipalRequest } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { cheapen } from '#test/support/cheap-password.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { patience } from '#test/support/run/slowness.ts';
import { statementRunner } from '#test/support/run-statements.ts';

const PASSWORD = 'Correct-Horse-9';
const NEXT = 'Battery-Staple-8';
let catalog: TestCatalog;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };
let visitor: PageVisitor;

beforeAll(async () => {
  catalog = await startTestCatalog({ 'catalog.cors_origins': ['*'] }, clock);
  for (const name of ['ann', 'ben', 'eve']) await create(name, { password: PASSWORD });
  await create('new', { password: PASSWORD, mustChangePassword: true });
  await cheapen(catalog, PASSWORD, 'ann', 'ben', 'eve', 'new');
});
beforeEach(() => {
  // Wrong passwords of the test before refuse nobody.
  passedMs += 61_000;
  visitor = new PageVisitor(catalog.running.url);
});
afterAll(() => catalog[Symbol.asyncDispose]());

const run = (user: string, statement: PrincipalRequest): Promise<PrincipalAnswer> =>
  statementRunner(catalog).run(user, statement);
const create = (name: string, more: object): Promise<PrincipalAnswer> =>
  run('admin', { kind: 'create_user', name, ifNotExists: false, email: `${name}@example.org`, ...more });
const signIn = (who: PageVisitor, username: string, password = PASSWORD) =>
  who.submit('/sign-in', { username, password });
const account = async (who: PageVisitor): Promise<string> => {
  const { status, headers, text } = await who.get('/account');
  return status === 200 ? (/signed in as <strong>(.*?)</.exec(text)?.[1] ?? 'nobody') : (headers.get('location') ?? '');
};

/** Another process that changes principals: all further changes wait for it. */
async function holdPrincipals(): Promise<
  { readonly query: (text: string) => Promise<unknown>; readonly waited: () => Promise<void> } & AsyncDisposable
> {
  const client = new Client(catalog.databaseUrl);
  await client.connect();
  await client.query('begin');
  await client.query('select from catalog.tenant for no key update');
  const waiting = `select from pg_locks where not granted and pid <> pg_backend_pid()`;
  return {
    query: (text) => client.query(text),
    waited: () => expect.poll(() => catalog.sql(waiting), { timeout: patience(10_000) }).not.toEqual([]),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

describe('signing in', () => {
  test('by name or email, and out again', async () => {
    expect(await account(visitor)).toBe('/sign-in');
    for (const name of ['ann', 'ANN', 'Ann@Example.org']) {
      const { status, headers } = await signIn(visitor, name);
      expect([status, headers.get('location')]).toEqual([303, '/account']);
      expect(await account(visitor)).toBe('ann');
      const before = new Map(visitor.cookies);
      expect((await visitor.submit('/sign-out', {})).headers.get('location')).toBe('/sign-in');
      // The cookie that the browser had opens nothing any more.
      for (const [key, value] of before) visitor.cookies.set(key, value);
      expect(await account(visitor)).toBe('/sign-in');
    }
    const rows = await catalog.sql(`select distinct event_type from catalog.user_audit_log
      where target_name = 'ann' and event_type in ('sign_in', 'end_sign_in') order by 1`);
    expect(rows).toEqual([{ event_type: 'end_sign_in' }, { event_type: 'sign_in' }]);
  });

  test('wrong password, unknown user, locked, suspended and invited read alike', async () => {
    await create('idle', { password: PASSWORD });
    await run('admin', { kind: 'set_user_state', name: 'idle', to: 'SUSPEND' });
    await create('ida', {});
    await create('lou', { password: PASSWORD });
    await cheapen(catalog, PASSWORD, 'lou');
    for (let i = 0; i < 5; i += 1) await signIn(visitor, 'lou', 'wrong');
    const shown = [
      ['ann', 'wrong'],
      ['nobody', PASSWORD],
      ['idle', PASSWORD],
      ['ida', PASSWORD],
      ['lou', PASSWORD],
      ['', ''],
      ['ann\0', PASSWORD],
    ] as const;
    for (const [name, password] of shown) {
      const { status, text } = await signIn(new PageVisitor(catalog.running.url), name, password);
      const alert = /role="alert" class="error">(.*?)</.exec(text)?.[1];
      expect([name, status, alert]).toEqual([name, 403, 'The user, the password or the code is wrong.']);
    }
  });

  test('who must change the password gets nowhere before', async () => {
    await signIn(visitor, 'new');
    expect(await account(visitor)).toBe('/sign-in');
    const first = new Map(visitor.cookies);
    expect((await visitor.submit('/sign-in', { new_password: 'short' }, { action: '/sign-in/password' })).status).toBe(
      400,
    );
    await visitor.submit('/sign-in', { new_password: NEXT }, { action: '/sign-in/password' });
    expect(await account(visitor)).toBe('new');
    // The step is done once: the cookie before it is worth nothing.
    const other = new PageVisitor(catalog.running.url);
    for (const [key, value] of first) other.cookies.set(key, value);
    expect(await account(other)).toBe('/sign-in');
    expect((await signIn(other, 'new')).status).toBe(403);
  });

  test('a step ends after ten minutes, a sign-in after its time', async () => {
    await create('slow', { password: PASSWORD, mustChangePassword: true });
    await signIn(visitor, 'slow');
    passedMs += 600_001;
    await visitor.submit('/sign-in', { new_password: NEXT }, { action: '/sign-in/password' });
    expect(await account(visitor)).toBe('/sign-in');
    await signIn(visitor, 'ann');
    passedMs += 43_200_001;
    expect(await account(visitor)).toBe('/sign-in');
  });

  test('another catalog process on the same data goes on', async () => {
    await signIn(visitor, 'ann');
    await catalog.restart();
    const moved = new PageVisitor(catalog.running.url);
    for (const [key, value] of visitor.cookies) moved.cookies.set(key, value);
    expect(await account(moved)).toBe('ann');
  });
});

test('an invitation is redeemed by the one whom it is for, once', async () => {
  const { rows } = await create('guest', {});
  const fields = { invitation_token: rows[0]?.[1] ?? '', new_password: PASSWORD };
  const at = '/sign-in/invitation';
  expect((await visitor.submit(at, { ...fields, new_password: 'short' })).status).toBe(400);
  expect((await visitor.submit(at, { ...fields, invitation_token: 'skein_inv_other' })).status).toBe(400);
  expect((await visitor.submit(at, fields)).headers.get('location')).toBe('/sign-in?tenant=default');
  expect((await visitor.submit(at, fields)).text).toContain('The invitation is not valid');
  await signIn(visitor, 'guest');
  expect(await account(visitor)).toBe('guest');
});

describe('the account', () => {
  test('a new password ends the other sign-ins, and this browser goes on with another secret', async () => {
    const other = new PageVisitor(catalog.running.url);
    await signIn(visitor, 'ben');
    await signIn(other, 'ben');
    const fixed = new PageVisitor(catalog.running.url);
    for (const [key, value] of visitor.cookies) fixed.cookies.set(key, value);
    const change = { password: 'wrong', new_password: NEXT };
    expect((await visitor.submit('/account', change, { action: '/account/password' })).status).toBe(403);
    await visitor.submit('/account', { ...change, password: PASSWORD }, { action: '/account/password' });
    expect(await Promise.all([visitor, other, fixed].map(account))).toEqual(['ben', '/sign-in', '/sign-in']);
  });

  test('one sign-in ends, or all; never one of somebody else', async () => {
    const others = [new PageVisitor(catalog.running.url), new PageVisitor(catalog.running.url)] as const;
    await signIn(visitor, 'ann');
    await signIn(others[0], 'ann');
    await signIn(others[1], 'eve');
    const newest = async (name: string): Promise<string> => {
      const [row] = await catalog.sql(`select s.id from catalog.browser_sign_in s join catalog.principal p
        on p.id = s.principal_id where p.username = '${name}' order by s.authenticated_at desc limit 1`);
      return (row as { readonly id: string }).id;
    };
    const end = (id: string) => visitor.submit('/account', { sign_in: id }, { action: '/account/end' });
    await end(await newest('eve'));
    await end(await newest('ann'));
    expect(await Promise.all([visitor, ...others].map(account))).toEqual(['ann', '/sign-in', 'eve']);
    await end('all');
    expect(await account(visitor)).toBe('/sign-in');
  });

  test('what has waited for the end of its sign-in does not happen', async () => {
    await create('late', { password: PASSWORD });
    await signIn(visitor, 'late');
    for (const end of [
      `update catalog.principal set session_epoch = session_epoch + 1 where username = 'late'`,
      `delete from catalog.browser_sign_in where principal_id = (select id from catalog.principal where username = 'late')`,
    ]) {
      if ((await account(visitor)) !== 'late') await signIn(visitor, 'late');
      await using other = await holdPrincipals();
      const made = visitor.submit(
        '/account',
        { name: 'late', days: '1', 'scope table:read': 'on' },
        { action: '/account/token' },
      );
      await other.waited();
      await other.query(end);
      await other.query('commit');
      expect((await made).status).toBe(401);
      expect(await catalog.sql(`select from catalog.access_token where name = 'late'`)).toEqual([]);
    }
  });

  test('a sign-in ends with the epoch of its user, and who is asked for a new password begins anew', async () => {
    await signIn(visitor, 'eve');
    await catalog.sql(`update catalog.principal set must_change_password = true where username = 'eve'`);
    expect(await account(visitor)).toBe('/sign-in');
    await catalog.sql(`update catalog.principal set must_change_password = false where username = 'eve'`);
    expect(await account(visitor)).toBe('eve');
    await catalog.sql(`update catalog.principal set session_epoch = session_epoch + 1 where username = 'eve'`);
    expect(await account(visitor)).toBe('/sign-in');
  });
});

describe('attacks', () => {
  test('a form of another origin, or without the token of ours, is refused', async () => {
    const fields = { username: 'ann', password: PASSWORD };
    const refused = { 'another origin': 'https://evil.example', 'no page': 'null' };
    for (const origin of Object.values(refused)) {
      expect((await visitor.submit('/sign-in', fields, { headers: { origin } })).status).toBe(403);
    }
    expect((await visitor.post('/sign-in', fields)).status).toBe(403);
    expect((await visitor.post('/sign-in', { ...fields, _csrf: 'guessed' })).status).toBe(403);
    const stranger = new PageVisitor(catalog.running.url);
    const theirs = /name="_csrf" value="([^"]+)"/.exec((await stranger.get('/sign-in')).text)?.[1] ?? '';
    expect((await visitor.post('/sign-in', { ...fields, _csrf: theirs })).status).toBe(403);
    expect(await account(visitor)).toBe('/sign-in');
  });

  test('a secret that another has put into the browser signs nobody in, and does not survive the sign-in', async () => {
    await signIn(visitor, 'ann');
    const victim = new PageVisitor(catalog.running.url);
    for (const [key, value] of visitor.cookies) victim.cookies.set(key, value);
    await victim.submit('/sign-out', {});
    await signIn(visitor, 'ann');
    for (const [key, value] of visitor.cookies) victim.cookies.set(key, value);
    const planted = new Map(victim.cookies);
    const { text } = await victim.get('/account');
    const token = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    await victim.post('/sign-in', { _csrf: token, username: 'eve', password: PASSWORD });
    expect(await account(victim)).toBe('eve');
    for (const [key, value] of planted) visitor.cookies.set(key, value);
    expect(await account(visitor)).toBe('/sign-in');
  });

  test('no frame, no script of others, no cache, no other name of this machine', async () => {
    const { headers, text } = await visitor.get('/sign-in', { origin: 'https://evil.example' });
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(text).not.toContain('://');
    for (const cookie of headers.getSetCookie()) expect(cookie).toMatch(/HttpOnly.*SameSite=Lax/i);
    const { port } = new URL(catalog.running.url);
    const status = await new Promise((resolve, reject) => {
      const sent = { port, path: '/sign-in', headers: { host: `rebound.example:${port}` } };
      request(sent, (answer) => resolve(answer.statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });

  test('the address of the catalog itself leads to the sign-in', async () => {
    const { status, headers } = await visitor.get('/', { origin: 'https://evil.example' });
    expect([status, headers.get('location'), headers.get('access-control-allow-origin')]).toEqual([
      303,
      '/sign-in',
      null,
    ]);
    await signIn(visitor, 'ann');
    expect((await visitor.get('/sign-in')).headers.get('location')).toBe('/account');
  });

  test('an address of loopback leads to its name, where passkeys are kept', async () => {
    const { port } = new URL(catalog.running.url);
    const placeOf = async (host: string, path: string): Promise<string | null> =>
      (await fetch(`http://${host}:${port}${path}`, { redirect: 'manual' })).headers.get('location');
    const path = '/oauth/authorize?client_id=x&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcallback';
    expect(await placeOf('127.0.0.1', path)).toBe(`http://localhost:${port}${path}`);
    expect(await placeOf('127.0.0.1', '//evil.example/sign-in')).toBeNull();
    expect(await placeOf('localhost', '/sign-in')).toBeNull();
  });

  test('a body that is no short form is not read', async () => {
    const body = { body: 'x'.repeat(20_000) };
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'application/octet-stream']) {
      expect((await visitor.post('/sign-in', body, { 'content-type': type })).status).toBeGreaterThanOrEqual(413);
    }
  });

  test('names are text in the page, whatever they hold', async () => {
    const { text } = await signIn(visitor, '"><script>alert(1)</script>', 'wrong');
    expect(text).not.toContain('<script>alert');
  });
});
