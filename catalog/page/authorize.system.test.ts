import { createHash, randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import { atLocalhost } from '#shared/config/loopback.ts';
import type { PrincipalRequest } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { cheapen } from '#test/support/cheap-password.ts';
import { KNOWN_WITHIN_MS } from '#test/support/known-within.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';

const PASSWORD = 'Correct-Horse-9';
const CALLBACK = 'http://127.0.0.1:4711/callback';
const NOTEBOOK = 'https://notebooks.example.com/back?at=1';
const OOB = 'urn:ietf:wg:oauth:2.0:oob';
let catalog: TestCatalog;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };
let visitor: PageVisitor;
let verifier: string;

beforeAll(async () => {
  catalog = await startTestCatalog({ 'catalog.sign_in_redirects': [`notebook=${NOTEBOOK}`] }, clock);
  for (const name of ['ann', 'ben', 'eve', 'new']) await create(name);
  await cheapen(catalog, PASSWORD, 'ann', 'ben', 'eve', 'new');
});
beforeEach(() => {
  passedMs += 61_000;
  visitor = new PageVisitor(catalog.running.url);
  verifier = randomBytes(32).toString('base64url');
});
afterAll(() => catalog[Symbol.asyncDispose]());

async function run(user: string, statement: PrincipalRequest): Promise<void> {
  await catalog.call('RunPrincipalStatement', {
    principal: catalog.principal(await catalog.mint({ user })),
    statement: Buffer.from(JSON.stringify(statement)),
  });
}
const create = (name: string): Promise<void> =>
  run('admin', { kind: 'create_user', name, ifNotExists: false, email: `${name}@example.org`, password: PASSWORD });

type Fields = Readonly<Record<string, string>>;
const asked = (more: Fields = {}): Fields => ({
  response_type: 'code',
  client_id: 'skein-cli',
  redirect_uri: CALLBACK,
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
  state: 'a state & more',
  ...more,
});
const path = (more?: Fields): string => `/oauth/authorize?${new URLSearchParams(asked(more)).toString()}`;
const signIn = (who: PageVisitor, username: string, password = PASSWORD) =>
  who.submit('/sign-in', { username, password });
/** Another sign-in in a browser that has one already. */
async function signInAgain(who: PageVisitor, username: string): Promise<void> {
  await who.get(path({ prompt: 'login' }));
  passedMs += 1_000;
  expect((await signIn(who, username)).status).toBe(303);
  await who.get(path());
}
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const placeOf = ({ headers }: { readonly headers: Headers }): string => headers.get('location') ?? '';
const answerOf = (from: { readonly headers: Headers }): Fields =>
  Object.fromEntries(new URL(placeOf(from)).searchParams);
/** The answer of the page after a click on its first button. */
const click = (who: PageVisitor, more: Fields = {}, answer = 'allow') =>
  who.submit(path(more), { ...asked(more), answer }, { action: '/oauth/authorize' });
const code = async (who: PageVisitor, more: Fields = {}): Promise<string> =>
  answerOf(await click(who, more))['code'] ?? '';
const post = (at: string, form: Fields, headers: Fields = {}): Promise<RestAnswer> =>
  catalog.rest('POST', at, {
    token: null,
    raw: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
const redeem = (shown: string, more: Fields = {}): Promise<RestAnswer> =>
  post('/v1/oauth/tokens', {
    grant_type: 'authorization_code',
    client_id: 'skein-cli',
    redirect_uri: CALLBACK,
    code: shown,
    code_verifier: verifier,
    ...more,
  });
const renew = (token: unknown, more: Fields = {}): Promise<RestAnswer> =>
  post('/v1/oauth/tokens', {
    grant_type: 'refresh_token',
    client_id: 'skein-cli',
    refresh_token: textOf(token),
    ...more,
  });
const refused = ({ status, body }: RestAnswer): [number, unknown] => [status, body['error']];
const INVALID = [400, 'invalid_grant'];
const open = async (token: unknown): Promise<number> =>
  (await catalog.rest('GET', '/v1/catalogs', { token: textOf(token) })).status;
/** The tokens of a terminal to which a browser has signed in. */
async function login(who: PageVisitor, name: string): Promise<RestAnswer['body']> {
  await signIn(who, name);
  const { status, body } = await redeem(await code(who));
  expect(status).toBe(200);
  return body;
}
const untilRefused = (token: unknown): Promise<unknown> =>
  expect.poll(() => open(token), { timeout: KNOWN_WITHIN_MS }).toBe(401);

describe('from the client to its token', () => {
  test('a person signs in, agrees, and the terminal has tokens of this sign-in', async () => {
    expect(placeOf(await visitor.get(path()))).toBe('/sign-in');
    expect(placeOf(await signIn(visitor, 'ann'))).toBe('/sign-in');
    const back = placeOf(await visitor.get('/sign-in'));
    expect(back).toBe(path());
    const question = await visitor.get(back);
    expect(question.text).toContain('signed in as <strong>ann</strong>');
    // The address behind the click, beside those of the configuration.
    expect(question.headers.get('content-security-policy')).toMatch(
      /form-action 'self' http:\/\/127\.0\.0\.1:4711 https:\/\/notebooks\.example\.com$/,
    );
    const went = await click(visitor);
    expect(went.status).toBe(303);
    const { code: got = '', ...more } = answerOf(went);
    expect(more).toEqual({ state: 'a state & more', iss: atLocalhost(catalog.running.url) });
    const { status, body, headers } = await redeem(got);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    const claims = decodeJwt(textOf(body['access_token']));
    expect(claims).toMatchObject({ preferred_username: 'ann', auth_method: 'password', amr: ['pwd'] });
    expect(claims['auth_time']).toBeLessThanOrEqual(Number(claims.iat));
    expect(await open(body['access_token'])).toBe(200);
    // The sign-in is done: the next one leads to the account.
    expect(placeOf(await visitor.get('/sign-in'))).toBe('/account');
  });

  test('a code is shown where no browser reaches the terminal', async () => {
    await signIn(visitor, 'ann');
    const { text } = await click(visitor, { redirect_uri: OOB });
    const shown = /class="code">(.*?)</.exec(text)?.[1] ?? '';
    expect((await redeem(shown, { redirect_uri: OOB })).status).toBe(200);
  });

  test('a client with an address of its own gets a code without a click, and what it asks for', async () => {
    await signIn(visitor, 'ann');
    const more = { client_id: 'notebook', redirect_uri: NOTEBOOK, scope: 'table:read' };
    const went = await visitor.get(path(more));
    expect(placeOf(went).startsWith(`${NOTEBOOK}&code=skein_code_`)).toBe(true);
    const form = { client_id: 'notebook', redirect_uri: NOTEBOOK };
    expect((await redeem(answerOf(went)['code'] ?? '', form)).body['scope']).toBe('table:read');
  });

  test('prompt=login and max_age ask for the password again, prompt=none never asks', async () => {
    await signIn(visitor, 'ann');
    for (const more of [{ prompt: 'login' }, { max_age: '0' }, { max_age: '60' }]) {
      passedMs += 61_000;
      expect(placeOf(await visitor.get(path(more)))).toBe('/sign-in');
      // Another page of the signed-in browser is no way around it.
      expect((await visitor.get('/sign-in')).text).toContain('name="password"');
      passedMs += 1_000;
      await signIn(visitor, 'ann');
      expect(placeOf(await visitor.get('/sign-in'))).toBe(path());
    }
    expect(answerOf(await visitor.get(path({ prompt: 'none' })))).toMatchObject({ error: 'interaction_required' });
    const nobody = new PageVisitor(catalog.running.url);
    expect(answerOf(await nobody.get(path({ prompt: 'none' })))).toEqual({
      error: 'login_required',
      state: 'a state & more',
      iss: atLocalhost(catalog.running.url),
    });
    passedMs += 43_200_001;
    expect(placeOf(await visitor.get(path()))).toBe('/sign-in');
  });

  test('who cancels sends the terminal away', async () => {
    await signIn(visitor, 'ann');
    expect(answerOf(await click(visitor, {}, 'deny'))).toMatchObject({ error: 'access_denied' });
  });
});

describe('a request that is refused', () => {
  test.each([
    [{ client_id: 'other' }],
    [{ redirect_uri: 'https://evil.example/callback' }],
    [{ redirect_uri: 'http://127.0.0.1:4711/callback/../x' }],
    [{ redirect_uri: '' }],
    [{ client_id: 'notebook', redirect_uri: `${NOTEBOOK}&more=1` }],
    [{ state: 'x'.repeat(2_001) }],
  ] as const)('to nowhere: %j', async (more) => {
    const { status, headers, text } = await visitor.get(path(more));
    expect([status, headers.get('location')]).toEqual([400, null]);
    expect(text).toContain('role="alert"');
  });

  test.each([
    [{ code_challenge: '' }, 'invalid_request'],
    [{ code_challenge: 'short' }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ scope: 'nothing:known' }, 'invalid_scope'],
    [{ max_age: 'x' }, 'invalid_request'],
    [{ prompt: 'none login' }, 'invalid_request'],
  ] as const)('back to the client: %j', async (more, error) => {
    expect(answerOf(await visitor.get(path(more as unknown as Fields)))).toMatchObject({
      error,
      state: 'a state & more',
    });
  });

  test('the click needs the form of our own page, and the session of its browser', async () => {
    await signIn(visitor, 'ann');
    expect((await visitor.post('/oauth/authorize', { ...asked(), answer: 'allow' })).status).toBe(403);
    const origin = { origin: 'https://evil.example' };
    const forged = await visitor.submit(
      path(),
      { ...asked(), answer: 'allow' },
      { action: '/oauth/authorize', headers: origin },
    );
    expect(forged.status).toBe(403);
    const host = await visitor.get(path(), { host: 'evil.example' }).catch(() => ({ status: 403 }));
    expect(host.status).not.toBe(303);
  });
});

describe('a code', () => {
  test('is good once; of many at once one passes, and then its sign-in ends', async () => {
    await signIn(visitor, 'ann');
    const shown = await code(visitor);
    const answers = await Promise.all(Array.from({ length: 8 }, () => redeem(shown)));
    const granted = answers.filter(({ status }) => status === 200);
    expect(granted.length).toBe(1);
    expect(answers.filter((one) => one.status !== 200).map(refused)).toEqual(Array.from({ length: 7 }, () => INVALID));
    await untilRefused(granted[0]?.body['access_token']);
    expect(refused(await renew(granted[0]?.body['refresh_token']))).toEqual(INVALID);
  });

  test.each([
    ['no verifier', { code_verifier: '' }, 'invalid_request'],
    ['another verifier', { code_verifier: 'x'.repeat(43) }, 'invalid_grant'],
    ['another client', { client_id: 'notebook' }, 'invalid_grant'],
    ['another address', { redirect_uri: 'http://127.0.0.1:4712/callback' }, 'invalid_grant'],
  ] as const)('is refused with %s', async (_what, more, error) => {
    await signIn(visitor, 'ann');
    expect(refused(await redeem(await code(visitor), more as unknown as Fields))).toEqual([400, error]);
  });

  test('with a wrong verifier is used up', async () => {
    await signIn(visitor, 'ann');
    const shown = await code(visitor);
    await redeem(shown, { code_verifier: 'x'.repeat(43) });
    expect(refused(await redeem(shown))).toEqual(INVALID);
  });

  test('ends after a minute, with the sign-in of its browser, and with the session epoch', async () => {
    await signIn(visitor, 'ann');
    const late = await code(visitor);
    passedMs += 60_001;
    expect(refused(await redeem(late))).toEqual(INVALID);
    const orphan = await code(visitor);
    await visitor.submit('/sign-out', {});
    expect(refused(await redeem(orphan))).toEqual(INVALID);
    await signIn(visitor, 'ben');
    const before = await code(visitor);
    await catalog.sql("update catalog.principal set session_epoch = session_epoch + 1 where username = 'ben'");
    expect(refused(await redeem(before))).toEqual(INVALID);
    expect(refused(await redeem('skein_code_unknown'))).toEqual(INVALID);
  });
});

describe('a terminal’s sign-in', () => {
  test('is renewed by refresh tokens that are good once, and is never newer', async () => {
    const first = await login(visitor, 'ann');
    passedMs += 1_800_000;
    const second = await renew(first['refresh_token']);
    const [before, after] = [first, second.body].map((body) => decodeJwt(textOf(body['access_token'])));
    for (const claim of ['sid', 'auth_time', 'amr']) expect(after?.[claim]).toEqual(before?.[claim]);
    expect(second.body['refresh_token']).not.toBe(first['refresh_token']);
    expect(refused(await renew(second.body['refresh_token'], { client_id: 'notebook' }))).toEqual(INVALID);
  });

  test('ends when a refresh token comes twice, with all its tokens', async () => {
    const first = await login(visitor, 'ann');
    const second = (await renew(first['refresh_token'])).body;
    expect(refused(await renew(first['refresh_token']))).toEqual(INVALID);
    await untilRefused(second['access_token']);
    expect(refused(await renew(second['refresh_token']))).toEqual(INVALID);
    const [row] = await catalog.sql(`select details->>'reason' as reason from catalog.user_audit_log
      where event_type = 'end_sign_in' order by created_at desc limit 1`);
    expect(row).toEqual({ reason: 'its refresh token came twice' });
  });

  test('of many that renew at once with one token one passes', async () => {
    const { refresh_token: token } = await login(visitor, 'ann');
    const answers = await Promise.all(Array.from({ length: 6 }, () => renew(token)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(1);
  });

  test('ends a week after the password, however often it is renewed', async () => {
    let { refresh_token: token } = await login(visitor, 'ann');
    for (let day = 0; day < 6; day += 1) {
      passedMs += 86_400_000;
      ({ refresh_token: token } = (await renew(token)).body);
    }
    passedMs += 86_400_000;
    expect(refused(await renew(token))).toEqual(INVALID);
  });

  test.each(['refresh_token', 'access_token'])(
    'is revoked by its %s, in another catalog process, too',
    async (which) => {
      const tokens = await login(visitor, 'ann');
      const other = await login(visitor, 'ann');
      const { status } = await post('/oauth/revoke', { token: textOf(tokens[which]), client_id: 'skein-cli' });
      expect(status).toBe(200);
      await untilRefused(tokens['access_token']);
      expect(refused(await renew(tokens['refresh_token']))).toEqual(INVALID);
      // The browser's other terminals go on.
      expect(await open(other['access_token'])).toBe(200);
      await catalog.restart();
      expect(await open(tokens['access_token'])).toBe(401);
      visitor = new PageVisitor(catalog.running.url);
      expect((await post('/oauth/revoke', { token: 'unknown' })).status).toBe(200);
    },
  );

  test('ends with the sign-out of its browser, at the account page, and with all; a new sign-in there keeps it', async () => {
    const first = await login(visitor, 'ann');
    // A new sign-in in this browser keeps the terminals; a sign-out of it ends them.
    await signInAgain(visitor, 'ann');
    expect(await open(first['access_token'])).toBe(200);
    const second = (await redeem(await code(visitor))).body;
    const { sid } = decodeJwt(textOf(second['access_token']));
    expect((await visitor.get('/account')).text).toContain('the program');
    await visitor.submit('/account', { sign_in: textOf(sid) }, { action: '/account/end' });
    await untilRefused(second['access_token']);
    expect(await open(first['access_token'])).toBe(200);
    await visitor.submit('/sign-out', {});
    await untilRefused(first['access_token']);
    const third = await login(visitor, 'ann');
    await visitor.submit('/account', { sign_in: 'all' }, { action: '/account/end' });
    await untilRefused(third['access_token']);
  });

  test('nobody ends another’s', async () => {
    const { access_token: token } = await login(visitor, 'ann');
    const other = new PageVisitor(catalog.running.url);
    await signIn(other, 'ben');
    await other.submit('/account', { sign_in: textOf(decodeJwt(textOf(token))['sid']) }, { action: '/account/end' });
    await other.submit('/account', { sign_in: 'all' }, { action: '/account/end' });
    expect(await open(token)).toBe(200);
  });

  test('ends with the session epoch', async () => {
    const { access_token: token, refresh_token: refresh } = await login(visitor, 'ben');
    await run('admin', { kind: 'set_user_state', name: 'ben', to: 'SUSPEND' });
    await untilRefused(token);
    expect(refused(await renew(refresh))).toEqual(INVALID);
  });
});

test('another who signs in by a browser ends what was allowed there', async () => {
  const { access_token: token } = await login(visitor, 'ann');
  await signInAgain(visitor, 'eve');
  await untilRefused(token);
});

test('the catalog describes itself to clients', async () => {
  const { status, body } = await catalog.rest('GET', '/.well-known/oauth-authorization-server', { token: null });
  const at = atLocalhost(catalog.running.url);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    issuer: at,
    authorization_endpoint: `${at}/oauth/authorize`,
    token_endpoint: `${at}/v1/oauth/tokens`,
    revocation_endpoint: `${at}/oauth/revoke`,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  });
  const { body: config } = await catalog.rest('GET', '/v1/config');
  expect(JSON.stringify(config)).not.toContain('authorize');
});
