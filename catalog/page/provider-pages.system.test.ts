import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { decodeJwt, type JWTPayload } from 'jose';
import { generateSync } from 'otplib';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import type { PrincipalAnswer, PrincipalRequest, RequestOf } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { cheapen } from '#test/support/cheap-password.ts';
import { KNOWN_WITHIN_MS } from '#test/support/known-within.ts';
import { OIDC_CLIENT, startOidcIssuer, type OidcIssuer, type OidcPerson } from '#test/support/oidc-issuer.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { statementRunner } from '#test/support/run-statements.ts';

/** People who sign in at a real OpenID provider. */
const PASSWORD = 'Correct-Horse-9';
const REDIRECT = 'http://127.0.0.1:4711/callback';
let catalog: TestCatalog;
let issuer: OidcIssuer;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

beforeAll(async () => {
  const port = await freePort();
  issuer = await startOidcIssuer([`http://localhost:${port}/sign-in/callback`]);
  catalog = await startTestCatalog({ ...issuer.settings, 'catalog.port': port }, clock);
  await run(PROVIDER());
  await statementRunner(catalog).createUser('ann', { password: PASSWORD });
});
beforeEach(() => {
  // Short enough for tokens of the provider, whose clock does not pass.
  passedMs += 1;
});
afterAll(async () => {
  await catalog[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const PROVIDER = (more: Partial<RequestOf<'create_provider'>> = {}): RequestOf<'create_provider'> => ({
  kind: 'create_provider',
  name: 'corp',
  ifNotExists: false,
  issuer: issuer.issuer,
  audiences: ['skein:default'],
  ...OIDC_CLIENT,
  provision: 'USERS',
  domains: ['example.com'],
  label: 'Example & Co',
  ...more,
});
const run = (request: PrincipalRequest, user = 'admin') => statementRunner(catalog).run(user, request);
const describeUser = async (name: string) =>
  (await statementRunner(catalog).table('admin', { kind: 'describe_user', name }))[0];
const newVisitor = (): PageVisitor => new PageVisitor(catalog.running.url);
const account = async (who: PageVisitor): Promise<string> => {
  const { status, headers, text } = await who.get('/account');
  return status === 200 ? (/signed in as <strong>(.*?)</.exec(text)?.[1] ?? 'nobody') : (headers.get('location') ?? '');
};
const pathOf = (address: string): string => address.slice(new URL(address).origin.length);

/** Goes to the provider, and comes back. @returns the address of the return, which was not visited yet */
async function toProvider(who: PageVisitor, person: OidcPerson, from = '/sign-in?provider=corp'): Promise<string> {
  issuer.person = person;
  const to = (await who.get(from)).headers.get('location') ?? '';
  const address = to.startsWith('http') ? to : ((await who.get(to)).headers.get('location') ?? '');
  return pathOf(await issuer.visit(address));
}
async function signIn(
  who: PageVisitor,
  person: OidcPerson,
): Promise<{ status: number; location: string | null; alert: string }> {
  const { status, headers, text } = await who.get(await toProvider(who, person));
  return {
    status,
    location: headers.get('location'),
    alert: /role="alert" class="error">(.*?)</.exec(text)?.[1] ?? '',
  };
}

/** Counts how often the catalog tells that what a principal runs is to end. */
async function stoppedPrincipals(): Promise<{ times: (id: string) => number } & Disposable> {
  const client = new Client(catalog.databaseUrl);
  const told: string[] = [];
  client.on('notification', ({ payload = '' }) => {
    const { principal, stopped } = JSON.parse(payload) as { principal: string; stopped?: boolean };
    if (stopped === true) told.push(principal);
  });
  await client.connect();
  await client.query('listen skein_session_epoch');
  return {
    times: (id) => told.filter((one) => one === id).length,
    [Symbol.dispose]: () => void client.end(),
  };
}

const tokens = (form: Record<string, string>): Promise<RestAnswer> =>
  catalog.rest('POST', '/v1/oauth/tokens', {
    token: null,
    raw: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
/** `skein login` in a browser that is signed in. */
async function login(who: PageVisitor): Promise<RestAnswer['body']> {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const client = { client_id: 'skein-cli', redirect_uri: REDIRECT };
  const query = { response_type: 'code', ...client, code_challenge: challenge, code_challenge_method: 'S256' };
  const path = `/oauth/authorize?${new URLSearchParams(query).toString()}`;
  const { headers } = await who.submit(path, { ...query, answer: 'allow' }, { action: '/oauth/authorize' });
  const code = new URL(headers.get('location') ?? '').searchParams.get('code') ?? '';
  return (await tokens({ grant_type: 'authorization_code', ...client, code, code_verifier: verifier })).body;
}
const claimsOf = (body: RestAnswer['body']): JWTPayload => decodeJwt(body['access_token'] as string);
const PERSON: OidcPerson = {
  sub: '00u1',
  claims: { preferred_username: 'bea', name: 'Bea', email: 'bea@example.com', email_verified: true, groups: ['staff'] },
};
const REFUSED = { status: 403, location: null, alert: 'You cannot sign in here with this identity.' };

test('the page offers the provider; a first sign-in makes a user, and skein login has a token of it', async () => {
  const who = newVisitor();
  expect((await who.get('/sign-in')).text).toContain('Continue with Example &amp; Co');
  expect(await signIn(who, PERSON)).toMatchObject({ status: 303, location: '/account' });
  expect(await account(who)).toBe('bea');
  expect(await describeUser('bea')).toMatchObject({
    status: 'PROVISIONED',
    identity_source: 'EXTERNAL',
    email: 'bea@example.com',
    identity_provider: 'corp',
    subject: '00u1',
    groups: 'staff',
    roles: '',
  });
  const body = await login(who);
  expect(claimsOf(body)).toMatchObject({ preferred_username: 'bea', auth_method: 'sso', amr: ['sso', 'pwd'] });
  const token = body['access_token'] as string;
  expect((await catalog.rest('GET', '/v1/lake/namespaces', { token })).status).toBe(200);
  // The second time he is the same, whatever his name there is now.
  expect(
    await signIn(newVisitor(), { ...PERSON, claims: { ...PERSON.claims, preferred_username: 'admin' } }),
  ).toMatchObject({ location: '/account' });
  const refreshed = await tokens({
    grant_type: 'refresh_token',
    client_id: 'skein-cli',
    refresh_token: body['refresh_token'] as string,
  });
  expect(claimsOf(refreshed.body)).toMatchObject({ auth_method: 'sso', auth_time: claimsOf(body)['auth_time'] });
});

test('groups give roles at each sign-in; tenant_admin only with administration, which ends credentials', async () => {
  await run({ kind: 'create_role', name: 'reader', ifNotExists: false, scope: 'table:read' });
  const group = { kind: 'grant_group_role', group: 'staff', provider: 'corp', isRevoke: false } as const;
  await run({ ...group, role: 'reader', withAdministration: false });
  expect((await describeUser('bea'))?.['roles']).toBe('reader');
  const who = newVisitor();
  await signIn(who, PERSON);
  expect(claimsOf(await login(who))['roles']).toEqual(['reader']);
  // The group is gone at the next sign-in, and so is the role, also for the sign-in before.
  await signIn(newVisitor(), {
    ...PERSON,
    claims: { ...PERSON.claims, groups: ['others', 7, '', 'reader', 'tenant_admin'] },
  });
  expect(await describeUser('bea')).toMatchObject({ roles: '', groups: 'others, reader, tenant_admin' });
  expect(await account(who)).toBe('/sign-in');
  const { refusal, table } = statementRunner(catalog);
  const admins = { ...group, group: 'admins', role: 'tenant_admin' } as const;
  expect(await refusal('admin', { ...admins, withAdministration: false })).toBe('INVALID_REQUEST');
  await run({ ...admins, withAdministration: true });
  expect(await table('admin', { kind: 'show_group_grants', group: 'admins', provider: 'corp' })).toEqual([
    { grant_type: 'ROLE', name: 'tenant_admin', with_administration: 'true' },
  ]);
  // Somebody who may manage users has set a password for him before he rises.
  await statementRunner(catalog).createUser('manager', { password: PASSWORD });
  await run({ kind: 'grant_privilege', privilege: 'MANAGE USERS', user: 'manager', isRevoke: false });
  await run({ kind: 'alter_user', name: 'bea', password: 'Another-Horse-9' }, 'manager');
  const risen = { ...PERSON, claims: { ...PERSON.claims, groups: ['admins'] }, amr: ['pwd', 'mfa'] };
  await signIn(newVisitor(), risen);
  expect(await describeUser('bea')).toMatchObject({ roles: 'tenant_admin', password_set_by: null });
  const ended = await catalog.sql(`select details -> 'ended' as ended from catalog.user_audit_log
    where event_type = 'end_credentials' and target_name = 'bea'`);
  expect(JSON.stringify(ended)).toContain('the password that manager has made');
  await run({ ...admins, withAdministration: false, isRevoke: true });
  expect((await describeUser('bea'))?.['roles']).toBe('');
  expect(await refusal('admin', { kind: 'drop_role', name: 'reader', ifExists: false })).toBe('ROLE_IN_USE');
});

test('tokens and factors that were made in a sign-in at a provider of a lesser one end when their owner rises', async () => {
  await statementRunner(catalog).createUser('keeper', { password: PASSWORD });
  const byKeeper = `by_admin = false, created_by = (select id from catalog.principal where username = 'keeper')`;
  await catalog.sql(`update catalog.identity_provider set ${byKeeper} where name = 'corp'`);
  try {
    const who = newVisitor();
    await signIn(who, { sub: 'mo', claims: { preferred_username: 'mo' } });
    const made = await who.submit(
      '/account',
      { name: 'by page', days: '30', 'scope table:read': 'on' },
      { action: '/account/token' },
    );
    expect([made.status, made.text]).toEqual([200, expect.stringContaining('skein_pat_')]);
    const token = (await login(who))['access_token'] as string;
    const statement = { kind: 'create_token', name: 'by statement', owner: null, scope: 'table:read' };
    await catalog.call('RunPrincipalStatement', {
      principal: catalog.principal(token),
      statement: Buffer.from(JSON.stringify(statement)),
    });
    const asMo = async (request: object): Promise<PrincipalAnswer> => {
      const { answer } = await catalog.call<{ answer: Buffer }>('RunPrincipalStatement', {
        principal: { ...catalog.principal(token), auth_time: String(Math.floor(clock.nowMs() / 1_000)) },
        statement: Buffer.from(JSON.stringify(request)),
      });
      return JSON.parse(answer.toString()) as PrincipalAnswer;
    };
    const secret = (await asMo({ kind: 'enroll_mfa' })).rows[0]?.[0] ?? '';
    await asMo({ kind: 'verify_mfa', code: generateSync({ secret, epoch: Math.floor(clock.nowMs() / 1_000) }) });
    const { rows } = await run({
      kind: 'grant_role',
      role: 'tenant_admin',
      holder: { kind: 'USER', name: 'mo' },
      isRevoke: false,
    });
    for (const name of ['by page', 'by statement']) {
      expect(JSON.stringify(rows)).toContain(`the personal access token ${name}`);
    }
    expect(JSON.stringify(rows)).toContain('the authenticator that keeper has made');
    expect((await describeUser('mo'))?.['mfa']).toBeNull();
    expect(
      await catalog.sql(`select name from catalog.access_token t
      join catalog.principal p on p.id = t.principal_id where p.username = 'mo'`),
    ).toEqual([]);
  } finally {
    await catalog.sql(`update catalog.identity_provider set by_admin = true where name = 'corp'`);
    await run({ kind: 'drop_user', name: 'mo', ifExists: false, cascade: true });
  }
});

test('the last active tenant_admin keeps the group that makes him one, until there is another', async () => {
  const group = { kind: 'grant_group_role', group: 'platform', provider: 'corp', role: 'tenant_admin' } as const;
  await run({ ...group, withAdministration: true, isRevoke: false });
  const sent = (...groups: readonly string[]): Promise<object> =>
    signIn(newVisitor(), { sub: 'gus', claims: { preferred_username: 'gus', groups }, amr: ['pwd', 'mfa'] });
  const setAdmin = (status: string) =>
    catalog.sql(`update catalog.principal set status = '${status}' where username = 'admin'`);
  const rolesOf = () => catalog.sql(`select roles from catalog.principal where username = 'gus'`);
  await sent('platform', 'staff');
  await setAdmin('SUSPENDED');
  try {
    expect(await sent()).toMatchObject({ location: '/account' });
    expect(await rolesOf()).toEqual([{ roles: ['tenant_admin'] }]);
    const [row] = await catalog.sql(`select details from catalog.user_audit_log where event_type = 'change_groups'
      and target_name = 'gus' order by created_at desc, id desc limit 1`);
    expect(row).toEqual({ details: { provider: 'corp', added: [], removed: ['staff'], kept: ['platform'] } });
  } finally {
    await setAdmin('ACTIVE');
  }
  await sent();
  expect(await rolesOf()).toEqual([{ roles: [] }]);
});

describe('the second factor', () => {
  test('counts where amr or acr of the provider says so; else ours is asked for', async () => {
    await run({
      kind: 'grant_group_role',
      group: 'chiefs',
      provider: 'corp',
      role: 'tenant_admin',
      withAdministration: true,
      isRevoke: false,
    });
    const chief = (more: Partial<OidcPerson>): OidcPerson => ({
      sub: 'chief',
      claims: { preferred_username: 'chief', groups: ['chiefs'] },
      ...more,
    });
    expect(await signIn(newVisitor(), chief({ amr: ['pwd'] }))).toMatchObject({ location: '/sign-in' });
    const who = newVisitor();
    await signIn(who, chief({ amr: ['otp', 'hwk'] }));
    expect((await who.get('/sign-in')).text).toContain('second factor');
    expect(await signIn(newVisitor(), chief({ amr: ['pwd', 'mfa'] }))).toMatchObject({ location: '/account' });
    expect(await signIn(newVisitor(), chief({ acr: 'phr' }))).toMatchObject({ location: '/account' });
  });
});

test('a provider that signs with a new key is asked for it', async () => {
  await issuer.rotate();
  // A key that is not known is asked for once a minute at most.
  passedMs += 61_000;
  expect(await signIn(newVisitor(), PERSON)).toMatchObject({ status: 303, location: '/account' });
});

describe('who is known', () => {
  test('a name that is taken gets a suffix; an email counts only verified, and in a domain of ours', async () => {
    await signIn(newVisitor(), {
      sub: 'x1',
      claims: { preferred_username: 'ann', email: 'ann@example.org', email_verified: true },
    });
    expect(await describeUser('ann-2')).toMatchObject({ subject: 'x1', email: null });
    await signIn(newVisitor(), { sub: 'x2', claims: { preferred_username: 'ann', email: 'x2@example.com' } });
    expect(await describeUser('ann-3')).toMatchObject({ subject: 'x2', email: null });
    await signIn(newVisitor(), {
      sub: 'x3',
      claims: { preferred_username: 'self', email: 'bea@example.com', email_verified: true },
    });
    const [row] = await catalog.sql(`select username, email from catalog.principal p join catalog.principal_identity i
      on i.principal_id = p.id where i.subject = 'x3'`);
    expect(row).toMatchObject({ username: expect.stringMatching(/^corp-[0-9a-f]{12}$/), email: null });
    // Whoever is called as an account, or has its email, is not that account.
    expect((await describeUser('ann'))?.['identity_provider']).toBeNull();
  });

  test('suspended, dropped, unknown without PROVISION, or at a provider that is switched off: refused alike', async () => {
    const person = { sub: 'y1', claims: { preferred_username: 'yan' } };
    const who = newVisitor();
    await signIn(who, person);
    const body = await login(who);
    const token = body['access_token'] as string;
    await run({ kind: 'set_user_state', name: 'yan', to: 'SUSPEND' });
    await expect
      .poll(async () => (await catalog.rest('GET', '/v1/lake/namespaces', { token })).status, {
        timeout: KNOWN_WITHIN_MS,
      })
      .toBe(401);
    expect(await signIn(newVisitor(), person)).toEqual(REFUSED);
    const refresh = {
      grant_type: 'refresh_token',
      client_id: 'skein-cli',
      refresh_token: body['refresh_token'] as string,
    };
    expect((await tokens(refresh)).status).toBe(400);
    await run({ kind: 'drop_user', name: 'yan', ifExists: false, cascade: true });
    expect(await signIn(newVisitor(), person)).toEqual(REFUSED);
    await run({ kind: 'undrop_user', name: 'yan' });
    expect(await signIn(newVisitor(), person)).toMatchObject({ location: '/account' });
    await run({ kind: 'alter_provider', name: 'corp', provision: 'NONE' });
    expect(await signIn(newVisitor(), { sub: 'y2' })).toEqual(REFUSED);
    await run({ kind: 'alter_provider', name: 'corp', provision: 'USERS' });
    const back = newVisitor();
    const path = await toProvider(back, person);
    await run({ kind: 'alter_provider', name: 'corp', enabled: false });
    expect((await back.get(path)).status).toBe(403);
    expect((await newVisitor().get('/sign-in')).text).not.toContain('Continue with');
    await run({ kind: 'alter_provider', name: 'corp', enabled: true });
  });
});

describe('attacks', () => {
  test('a return is good once, in its own browser, with its own state, code and issuer', async () => {
    const [who, thief] = [newVisitor(), newVisitor()];
    const path = await toProvider(who, PERSON);
    const asks = (by: PageVisitor, changed: Record<string, string>): Promise<{ status: number }> => {
      const url = new URL(path, 'http://x');
      for (const [name, value] of Object.entries(changed)) url.searchParams.set(name, value);
      return by.get(url.pathname + url.search);
    };
    // Another browser than that which has begun: a thief's, or that of one who is to be signed in as somebody else.
    expect((await thief.get(path)).status).toBe(403);
    const other = await toProvider(thief, PERSON);
    const otherCode = new URL(other, 'http://x').searchParams.get('code') ?? '';
    expect((await asks(who, { state: 'x' })).status).toBe(403);
    const first = await toProvider(who, PERSON);
    expect((await who.get(first)).status).toBe(303);
    expect(await account(who)).toBe('bea');
    expect((await who.get(first)).status).toBe(403);
    // The code of another sign-in has another verifier and another nonce.
    const second = newVisitor();
    const mine = new URL(await toProvider(second, PERSON), 'http://x');
    mine.searchParams.set('code', otherCode);
    expect((await second.get(mine.pathname + mine.search)).status).toBe(403);
    const third = newVisitor();
    const mixed = new URL(await toProvider(third, PERSON), 'http://x');
    expect(mixed.searchParams.get('iss')).toBe(issuer.issuer);
    mixed.searchParams.set('iss', 'https://evil.example');
    expect((await third.get(mixed.pathname + mixed.search)).status).toBe(403);
    const fourth = newVisitor();
    const silent = new URL(await toProvider(fourth, PERSON), 'http://x');
    silent.searchParams.delete('iss');
    expect((await fourth.get(silent.pathname + silent.search)).status).toBe(403);
    for (const by of [thief, second, third, fourth]) expect(await account(by)).toBe('/sign-in');
  });

  test('a provider of another tenant, or none, is no way', async () => {
    const { status, headers } = await newVisitor().get('/sign-in/provider?provider=nobody');
    expect([status, headers.get('location')]).toEqual([303, '/sign-in']);
    expect((await newVisitor().get('/sign-in/provider?provider=corp&tenant=other')).headers.get('location')).toBe(
      '/sign-in',
    );
  });
});

test('an account that is there is linked by its own person, with password, and unlinked', async () => {
  const who = newVisitor();
  await who.submit('/sign-in', { username: 'ann', password: PASSWORD });
  expect((await who.get('/account')).text).toContain('Link Example &amp; Co');
  issuer.person = { sub: 'ann at corp' };
  const { text } = await who.submit('/account', { provider: 'corp' }, { action: '/account/link' });
  const address = (/<a href="(https:[^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');
  const back = await who.get(pathOf(await issuer.visit(address)));
  expect([back.status, await account(who)]).toEqual([303, 'ann']);
  expect(await describeUser('ann')).toMatchObject({
    identity_provider: 'corp',
    subject: 'ann at corp',
    status: 'ACTIVE',
  });
  const other = newVisitor();
  expect(await signIn(other, { sub: 'ann at corp' })).toMatchObject({ location: '/account' });
  expect(await account(other)).toBe('ann');
  // A sign-in at the provider links no further identity.
  const again = await other.submit('/account', { provider: 'corp' }, { action: '/account/link' });
  expect(again.text).toContain('sign in with your password'.replace('s', 'S'));
  const [row] = await catalog.sql(`select id from catalog.identity_provider where name = 'corp'`);
  await who.submit('/account', { provider: (row as { id: string }).id }, { action: '/account/unlink' });
  expect((await describeUser('ann'))?.['identity_provider']).toBeNull();
  expect(await account(who)).toBe('ann');
  expect(await account(other)).toBe('/sign-in');
});

test('a link that was made by the password of a lesser one ends when its user rises, with the groups of it', async () => {
  const { createUser, table } = statementRunner(catalog);
  await createUser('giver', { password: PASSWORD });
  await run({ kind: 'grant_privilege', privilege: 'MANAGE USERS', user: 'giver', isRevoke: false });
  const link = async (name: string): Promise<void> => {
    await cheapen(catalog, PASSWORD, name);
    const who = newVisitor();
    await who.submit('/sign-in', { username: name, password: PASSWORD });
    issuer.person = { sub: `${name} at corp` };
    const { text } = await who.submit('/account', { provider: 'corp' }, { action: '/account/link' });
    const address = (/<a href="(https:[^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');
    await who.get(pathOf(await issuer.visit(address)));
    expect((await describeUser(name))?.['identity_provider']).toBe('corp');
  };
  // The giver signs in as each of them, and links an identity of his own.
  const risen: Record<string, PrincipalRequest> = {
    by_role: {
      kind: 'grant_role',
      role: 'tenant_admin',
      holder: { kind: 'USER', name: 'by_role' },
      isRevoke: false,
    },
    by_privilege: { kind: 'grant_privilege', privilege: 'MANAGE PATS', user: 'by_privilege', isRevoke: false },
  };
  for (const [name, grant] of Object.entries(risen)) {
    const email = `${name}@example.org`;
    await run({ kind: 'create_user', name, ifNotExists: false, email, password: PASSWORD }, 'giver');
    await link(name);
    await signIn(newVisitor(), { sub: `${name} at corp`, claims: { groups: ['theirs'] } });
    const [row] = await table('admin', grant);
    expect(row?.['ended']).toBe('the password that giver has made, the link with corp that giver has made');
    expect((await describeUser(name))?.['identity_provider']).toBeNull();
    const left = `from catalog.group_member m join catalog.principal p on p.id = m.principal_id where p.username = '${name}'`;
    expect(await catalog.sql(`select group_name ${left}`)).toEqual([]);
    const who = newVisitor();
    await signIn(who, { sub: `${name} at corp`, claims: { preferred_username: name } });
    expect(await account(who)).not.toBe(name);
  }
  // One's own link stays.
  await createUser('by_himself', { password: PASSWORD });
  await link('by_himself');
  await run({ kind: 'grant_privilege', privilege: 'MANAGE PATS', user: 'by_himself', isRevoke: false });
  expect((await describeUser('by_himself'))?.['identity_provider']).toBe('corp');
  for (const name of Object.keys(risen)) {
    await run({ kind: 'drop_user', name, ifExists: false, cascade: true });
  }
});

test('whom SCIM has sent before he links his account is that account from then on, until he unlinks it', async () => {
  await statementRunner(catalog).createUser('lea', { password: PASSWORD });
  await cheapen(catalog, PASSWORD, 'lea');
  const { rows } = await run({ kind: 'create_token', name: 'sync', owner: null, scope: 'scim:corp' });
  const scim = async (method: string, path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${catalog.running.url}/scim/v2/Users${path}`, {
      method,
      headers: { authorization: `Bearer ${rows[0]?.[1] ?? ''}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Record<string, unknown>;
  };
  const { id } = await scim('POST', '', { userName: 'lea', externalId: 'lea at corp' });
  const active = (value: boolean): Promise<unknown> =>
    scim('PATCH', `/${String(id)}`, { Operations: [{ op: 'replace', path: 'active', value }] });
  const statuses = async (): Promise<readonly unknown[]> => [
    (await describeUser('lea'))?.['status'],
    (await describeUser('lea-2'))?.['status'],
  ];
  const who = newVisitor();
  await who.submit('/sign-in', { username: 'lea', password: PASSWORD });
  issuer.person = { sub: 'lea at corp' };
  const { text } = await who.submit('/account', { provider: 'corp' }, { action: '/account/link' });
  const address = (/<a href="(https:[^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&amp;', '&');
  await who.get(pathOf(await issuer.visit(address)));
  expect(await statuses()).toEqual(['ACTIVE', 'DEACTIVATED']);
  await active(false);
  expect((await statuses())[0]).toBe('SUSPENDED');
  expect(await account(who)).toBe('/sign-in');
  await active(true);
  const back = newVisitor();
  await back.submit('/sign-in', { username: 'lea', password: PASSWORD });
  const [row] = await catalog.sql(`select id from catalog.identity_provider where name = 'corp'`);
  await back.submit('/account', { provider: (row as { id: string }).id }, { action: '/account/unlink' });
  expect(await active(false)).toMatchObject({ status: '404' });
  expect((await statuses())[0]).toBe('ACTIVE');
});

test('it ends with the session of the browser, and with the provider', async () => {
  const who = newVisitor();
  await signIn(who, { sub: 'z1', claims: { preferred_username: 'zoe' } });
  const body = await login(who);
  const refresh = (from: RestAnswer['body']): Promise<RestAnswer> =>
    tokens({ grant_type: 'refresh_token', client_id: 'skein-cli', refresh_token: from['refresh_token'] as string });
  passedMs += 11.5 * 3_600_000;
  const late = (await refresh(body)).body;
  expect(Number(late['expires_in'])).toBeLessThanOrEqual(1_800);
  passedMs += 3_600_000;
  expect((await refresh(late)).status).toBe(400);
  passedMs -= 12.5 * 3_600_000;
  const next = newVisitor();
  await signIn(next, { sub: 'z1' });
  const token = (await login(next))['access_token'] as string;
  using stopped = await stoppedPrincipals();
  await run({ kind: 'alter_provider', name: 'corp', label: 'Other' });
  await run({ kind: 'alter_provider', name: 'corp', enabled: false });
  await run({ kind: 'alter_provider', name: 'corp', enabled: true });
  const [zoe] = await catalog.sql(`select id from catalog.principal where username = 'zoe'`);
  const [bea] = await catalog.sql(`select id from catalog.principal where username = 'bea'`);
  await run({ kind: 'drop_provider', name: 'corp', ifExists: false });
  // Statements that they run end, also those of bea, whose groups have gone with the provider.
  await expect.poll(() => stopped.times((zoe as { id: string }).id), { timeout: KNOWN_WITHIN_MS }).toBe(2);
  await expect.poll(() => stopped.times((bea as { id: string }).id), { timeout: KNOWN_WITHIN_MS }).toBe(2);
  await expect
    .poll(async () => (await catalog.rest('GET', '/v1/lake/namespaces', { token })).status, {
      timeout: KNOWN_WITHIN_MS,
    })
    .toBe(401);
  expect(await account(next)).toBe('/sign-in');
  expect(await describeUser('bea')).toMatchObject({ roles: '', groups: null, identity_provider: null });
});
