import { createHash } from 'node:crypto';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCatalogProcess, type CatalogProcess } from '#test/support/catalog-process.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { PASSWORD, statementRunner } from '#test/support/run-statements.ts';

/** A catalog is killed after each step of a sign-in, and another one goes on where the browser is. */
let catalog: TestCatalog;
let served: CatalogProcess;
let cookies = new Map<string, string>();

beforeAll(async () => {
  catalog = await startTestCatalog();
  await statementRunner(catalog).createUser('ann');
  await catalog.sql(`update catalog.tenant set mfa_required = 'everyone'`);
});
afterAll(async () => {
  await served?.kill();
  await catalog?.[Symbol.asyncDispose]();
});

/** Does something at a catalog that has just begun, and kills it. */
async function atNewCatalog(work: (visitor: PageVisitor) => Promise<void>): Promise<void> {
  served = await startCatalogProcess(catalog.config);
  const visitor = new PageVisitor(served.url);
  for (const [key, value] of cookies) visitor.cookies.set(key, value);
  await work(visitor);
  cookies = new Map(visitor.cookies);
  await served.kill();
}
const headingOf = (text: string): string => /<h1>(.*?)</.exec(text)?.[1] ?? '';
const secretIn = (text: string): string => /<code>([A-Z2-7 ]+)<\/code>/.exec(text)?.[1]?.replaceAll(' ', '') ?? '';

test('password, a new factor, the account, and the factor of the next sign-in', async () => {
  let secret = '';
  await atNewCatalog(async (visitor) => {
    expect((await visitor.submit('/sign-in', { username: 'ann', password: PASSWORD })).status).toBe(303);
    secret = secretIn((await visitor.get('/sign-in')).text);
  });
  await atNewCatalog(async (visitor) => {
    // The secret that the browser was shown before is the one that counts.
    expect(secretIn((await visitor.get('/sign-in')).text)).toBe(secret);
    const shown = { code: generateSync({ secret }) };
    const { text } = await visitor.submit('/sign-in', shown, { action: '/sign-in/authenticator' });
    expect(headingOf(text)).toBe('Your recovery codes');
  });
  await atNewCatalog(async (visitor) => {
    expect(headingOf((await visitor.get('/account')).text)).toBe('Your account');
    await visitor.submit('/sign-in?again=1', { username: 'ann', password: PASSWORD }, { action: '/sign-in' });
  });
  await atNewCatalog(async (visitor) => {
    expect(headingOf((await visitor.get('/sign-in')).text)).toBe('Show your second factor');
    // The code before was used up, also for this catalog.
    const next = { code: generateSync({ secret, epoch: Math.floor(Date.now() / 1_000) + 30 }) };
    expect((await visitor.submit('/sign-in', next, { action: '/sign-in/factor' })).status).toBe(303);
    expect(headingOf((await visitor.get('/account')).text)).toBe('Your account');
  });
});

test('a forced password, and a terminal: its code, its tokens, their renewal and their end', async () => {
  await statementRunner(catalog).createUser('bob', { mustChangePassword: true });
  await catalog.sql(`update catalog.tenant set mfa_required = 'administrators'`);
  cookies = new Map();
  const next = 'Battery-Staple-8';
  await atNewCatalog(async (visitor) => {
    await visitor.submit('/sign-in', { username: 'bob', password: PASSWORD });
    expect(headingOf((await visitor.get('/sign-in')).text)).toBe('Choose a new password');
  });
  await atNewCatalog(async (visitor) => {
    expect((await visitor.submit('/sign-in', { new_password: next }, { action: '/sign-in/password' })).status).toBe(
      303,
    );
  });
  const verifier = 'v'.repeat(43);
  const client = { client_id: 'skein-cli', redirect_uri: 'http://127.0.0.1:4711/callback' };
  const question = {
    response_type: 'code',
    ...client,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  const tokens = async (form: Record<string, string>): Promise<Record<string, string>> => {
    const answer = await fetch(`${served.url}/v1/oauth/tokens`, { method: 'POST', body: new URLSearchParams(form) });
    return (await answer.json()) as Record<string, string>;
  };
  let code = '';
  await atNewCatalog(async (visitor) => {
    expect(headingOf((await visitor.get('/account')).text)).toBe('Your account');
    const path = `/oauth/authorize?${new URLSearchParams(question).toString()}`;
    const { headers } = await visitor.submit(path, { ...question, answer: 'allow' }, { action: '/oauth/authorize' });
    code = new URL(headers.get('location') ?? '').searchParams.get('code') ?? '';
  });
  let shown: Record<string, string> = {};
  await atNewCatalog(async () => {
    shown = await tokens({ grant_type: 'authorization_code', ...client, code, code_verifier: verifier });
    expect(shown['access_token']).toBeDefined();
  });
  const used = shown['refresh_token'] ?? '';
  const renewal = { grant_type: 'refresh_token', client_id: 'skein-cli' };
  await atNewCatalog(async () => {
    shown = await tokens({ ...renewal, refresh_token: used });
    expect(shown['access_token']).toBeDefined();
  });
  // A code and a refresh token that another catalog has taken end the sign-in here, too.
  await atNewCatalog(async () => {
    expect((await tokens({ ...renewal, refresh_token: used }))['error']).toBe('invalid_grant');
  });
  await atNewCatalog(async () => {
    expect((await tokens({ ...renewal, refresh_token: shown['refresh_token'] ?? '' }))['error']).toBe('invalid_grant');
    const bearer = { authorization: `Bearer ${shown['access_token']}` };
    expect((await fetch(`${served.url}/v1/catalogs`, { headers: bearer })).status).toBe(401);
  });
});
