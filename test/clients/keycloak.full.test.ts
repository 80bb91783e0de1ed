import { decodeJwt } from 'jose';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { startChromium } from '#test/support/chromium.ts';
import {
  KEYCLOAK_CLIENT,
  KEYCLOAK_JOB,
  KEYCLOAK_MS,
  KEYCLOAK_PERSON,
  startKeycloak,
  type Keycloak,
} from '#test/support/keycloak.ts';
import { freePort } from '#test/support/postgres.ts';
import { statementRunner, type StatementRunner } from '#test/support/run-statements.ts';

/** Keycloak's own server as the identity provider: a person signs in at it in chromium, a job comes with its token. */
let keycloak: Keycloak;
let catalog: TestCatalog;
let runner: StatementRunner;
let browser: Browser;
let home: string;

beforeAll(async () => {
  const port = await freePort();
  home = `http://localhost:${port}`;
  keycloak = await startKeycloak(`${home}/sign-in/callback`);
  catalog = await startTestCatalog({ ...keycloak.settings, 'catalog.port': port });
  runner = statementRunner(catalog);
  browser = await startChromium();
}, KEYCLOAK_MS);
afterAll(async () => {
  await browser?.close();
  await catalog?.[Symbol.asyncDispose]();
  await keycloak?.[Symbol.asyncDispose]();
});

test('CREATE IDENTITY PROVIDER takes its discovery document', async () => {
  await runner.run('admin', {
    kind: 'create_provider',
    name: 'corp',
    ifNotExists: false,
    issuer: keycloak.issuer,
    audiences: ['skein:default'],
    ...KEYCLOAK_CLIENT,
    provision: 'USERS',
    domains: ['example.com'],
    label: 'Keycloak',
  });
  await runner.run('admin', { kind: 'create_role', name: 'reader', ifNotExists: false, scope: 'table:read' });
  await runner.run('admin', {
    kind: 'grant_group_role',
    role: 'reader',
    group: 'analysts',
    provider: 'corp',
    withAdministration: false,
    isRevoke: false,
  });
  const shown = await runner.table('admin', { kind: 'describe_provider', name: 'corp' });
  expect(JSON.stringify(shown)).toContain(keycloak.issuer);
  expect(JSON.stringify(shown)).not.toContain(KEYCLOAK_CLIENT.clientSecret);
});

test('a person signs in at its page, is made with name, e-mail and groups, and is the same the next time', async () => {
  for (let times = 0; times < 2; times++) {
    const page = await browser.newPage({ ignoreHTTPSErrors: true });
    await page.goto(`${home}/sign-in`);
    await page.getByRole('link', { name: 'Continue with Keycloak' }).click();
    await page.locator('#username').fill(KEYCLOAK_PERSON.name);
    await page.locator('#password').fill(KEYCLOAK_PERSON.password);
    await page.locator('#kc-login').click();
    await page.getByText(`You are signed in as ${KEYCLOAK_PERSON.name}`).waitFor();
    await page.close();
  }
  const users = await runner.table('admin', { kind: 'show_users', like: 'bea%', status: null, after: null, limit: 10 });
  expect(users).toHaveLength(1);
  const described = JSON.stringify(await runner.table('admin', { kind: 'describe_user', name: KEYCLOAK_PERSON.name }));
  for (const fact of ['PROVISIONED', 'EXTERNAL', KEYCLOAK_PERSON.email, 'analysts', 'reader']) {
    expect(described).toContain(fact);
  }
});

test('a wrong password there signs nobody in here', async () => {
  const page = await browser.newPage({ ignoreHTTPSErrors: true });
  await page.goto(`${home}/sign-in?provider=corp`);
  await page.locator('#username').fill(KEYCLOAK_PERSON.name);
  await page.locator('#password').fill('another password');
  await page.locator('#kc-login').click();
  await page.getByText('Invalid username or password').waitFor();
  await page.goto(`${home}/account`);
  expect(new URL(page.url()).pathname).toBe('/sign-in');
  await page.close();
});

test('the token of a job is the service account that trusts it, exchanged and as it is', async () => {
  const token = await keycloak.jobToken();
  await runner.run('admin', { kind: 'create_account', name: 'loader', ifNotExists: false });
  await runner.run('admin', {
    kind: 'set_trust',
    account: 'loader',
    provider: 'corp',
    conditions: [
      { claim: 'sub', operator: '=', value: decodeJwt(token).sub ?? '' },
      { claim: 'azp', operator: '=', value: KEYCLOAK_JOB.clientId },
    ],
  });
  const exchanged = await catalog.rest('POST', '/v1/oauth/tokens', {
    token: null,
    raw: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(exchanged.status, JSON.stringify(exchanged.body)).toBe(200);
  for (const shown of [exchanged.body['access_token'] as string, token]) {
    expect((await catalog.rest('GET', '/v1/lake/namespaces', { token: shown })).status).toBe(200);
  }
  const altered = token.replace(/.{5}$/, 'AAAAA');
  expect((await catalog.rest('GET', '/v1/lake/namespaces', { token: altered })).status).toBe(401);
});
