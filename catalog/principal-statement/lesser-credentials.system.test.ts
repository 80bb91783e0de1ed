import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { importPKCS8, SignJWT } from 'jose';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { must } from '#shared/must.ts';
import type { PrincipalRequest } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { cheapen } from '#test/support/cheap-password.ts';
import { PASSWORD, statementRunner, type StatementRunner } from '#test/support/run-statements.ts';

/** A grant of tenant_admin or a privilege ends what was made by who could not grant it: a maker opens nothing greater than himself. */
let catalog: TestCatalog;
let user: StatementRunner;
const GRANTS = ['tenant_admin', 'MANAGE USERS', 'MANAGE PATS', 'MANAGE SERVICE ACCOUNTS'] as const;
type Granted = (typeof GRANTS)[number];
const HOLDERS = { users: 'MANAGE USERS', pats: 'MANAGE PATS', accounts: 'MANAGE SERVICE ACCOUNTS' } as const;

beforeAll(async () => {
  catalog = await startTestCatalog();
  user = statementRunner(catalog);
  for (const [name, privilege] of Object.entries(HOLDERS)) {
    await user.createUser(name);
    await user.run('admin', { kind: 'grant_privilege', privilege, user: name, isRevoke: false });
  }
});
afterAll(() => catalog[Symbol.asyncDispose]());

let addresses = 0;
const opens = (name: string, password: string): Promise<boolean> =>
  catalog.call('SignIn', { user: name, password, tenant: '', address: `10.2.0.${(addresses += 1)}` }).then(
    () => true,
    // An administrator's password is right, and is not enough.
    (error: unknown) => (error as { readonly code: string }).code === 'FACTOR_REQUIRED',
  );
/** A statement by a principal that has signed in with a password or a token. */
async function runAs(name: string, password: string, request: PrincipalRequest): Promise<string> {
  const address = `10.3.0.${(addresses += 1)}`;
  const { token } = await catalog.call<{ token: string }>('SignIn', { user: name, password, tenant: '', address });
  const { answer } = await catalog.call<{ answer: Buffer }>('RunPrincipalStatement', {
    principal: catalog.principal(token),
    statement: Buffer.from(JSON.stringify(request)),
  });
  return answer.toString();
}
const grant = (name: string, what: Granted, kind: 'USER' | 'SERVICE' = 'USER'): PrincipalRequest =>
  what === 'tenant_admin'
    ? { kind: 'grant_role', role: what, holder: { kind, name }, isRevoke: false }
    : { kind: 'grant_privilege', privilege: what, user: name, isRevoke: false };
const created = (name: string, password?: string): PrincipalRequest => ({
  kind: 'create_user',
  name,
  ifNotExists: false,
  email: `${name}@example.org`,
  ...(password === undefined ? {} : { password }),
});
const auditOf = async (name: string): Promise<readonly string[]> => {
  const rows = await user.table('admin', {
    kind: 'show_audit_log',
    like: 'end_credentials',
    after: null,
    limit: 1_000,
  });
  return rows.filter((row) => row['target_name'] === name).map((row) => must(row['details'] ?? undefined, 'details'));
};
const nameOf = (what: string, granted: Granted): string => `${what}_${granted.replaceAll(' ', '_').toLowerCase()}`;

test.each(GRANTS)(
  '%s: a password that a holder has set opens no more, and a tenant_admin sets another',
  async (what) => {
    const name = nameOf('password', what);
    await user.run('users', created(name, PASSWORD));
    await cheapen(catalog, PASSWORD, name);
    expect(await opens(name, PASSWORD)).toBe(true);
    const [row] = await user.table('admin', grant(name, what));
    expect(row?.['ended']).toBe('the password that users has made');
    expect(await opens(name, PASSWORD)).toBe(false);
    expect(await auditOf(name)).toEqual(['{"ended":["the password that users has made"]}']);
    await user.run('admin', { kind: 'alter_user', name, password: 'Another-Horse-9' });
    await cheapen(catalog, 'Another-Horse-9', name);
    expect(await opens(name, 'Another-Horse-9')).toBe(true);
    // Granted again it ends nothing: an administrator has set it.
    expect((await user.run('admin', grant(name, what))).columns).toEqual(['status']);
    expect(await opens(name, 'Another-Horse-9')).toBe(true);
  },
);

test.each(GRANTS)(
  '%s: an invitation that a holder has kept opens nothing, and the user gets another one',
  async (what) => {
    const name = nameOf('invited', what);
    const [kept] = await user.table('users', created(name));
    const [row] = await user.table('admin', grant(name, what));
    expect(row).toMatchObject({ ended: 'the invitation that users has made', username: name });
    const redeem = (token: string | null | undefined): PrincipalRequest => ({
      kind: 'redeem_invitation',
      token: must(token ?? undefined, 'an invitation'),
      password: PASSWORD,
    });
    expect(await user.refusal('users', redeem(kept?.['invitation_token']))).toBe('InvalidInvitation');
    expect(await user.refusal('admin', redeem(row?.['invitation_token']))).toBe('done');
    expect(await opens(name, PASSWORD)).toBe(true);
  },
);

test.each(GRANTS)('%s: a token that a holder has made opens nothing, the user’s own stays', async (what) => {
  const name = nameOf('token', what);
  await user.createUser(name);
  await cheapen(catalog, PASSWORD, name);
  const [theirs] = await user.table('pats', { kind: 'create_token', name: 'theirs', owner: name });
  const [own] = await user.table(name, { kind: 'create_token', name: 'own', owner: null });
  expect((await user.table(name, { kind: 'show_tokens', owner: null })).map((row) => row['created_by'])).toEqual([
    name,
    'pats',
  ]);
  const [row] = await user.table('admin', grant(name, what));
  expect(row?.['ended']).toBe('the personal access token theirs that pats has made');
  expect(await opens(name, theirs?.['token'] ?? '')).toBe(false);
  expect(await opens(name, own?.['token'] ?? '')).toBe(true);
  expect(await opens(name, PASSWORD)).toBe(true);
});

test('what somebody makes by a password that another has given is the other’s, too', async () => {
  // An invitation is redeemed, a password is changed, and a token is made: by the holder, in the name of the user.
  const [invited] = await user.table('users', created('laundered'));
  const token = must(invited?.['invitation_token'] ?? undefined, 'an invitation');
  await user.run('users', { kind: 'redeem_invitation', token, password: PASSWORD });
  await runAs('laundered', PASSWORD, { kind: 'set_own_password', password: 'Second-Horse-9', oldPassword: PASSWORD });
  const made = await runAs('laundered', 'Second-Horse-9', { kind: 'create_token', name: 'kept', owner: null });
  const kept = must(/skein_pat_[\w-]+/.exec(made)?.[0], 'a token');
  const [row] = await user.table('admin', grant('laundered', 'tenant_admin'));
  expect(row?.['ended']).toBe(
    'the password that users has made, the personal access token kept that laundered has made',
  );
  expect(await opens('laundered', 'Second-Horse-9')).toBe(false);
  expect(await opens('laundered', kept)).toBe(false);
});

/** Runs statements whose turn comes in their order: all wait for the same change of principals before the first of them begins. */
async function inTurn<T>(calls: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
  const holder = new Client(catalog.databaseUrl);
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('select id from catalog.tenant for no key update');
    const answers: Promise<T>[] = [];
    for (const call of calls) {
      answers.push(call());
      await vi.waitFor(async () => {
        const waiting = await catalog.sql(`select pid from pg_stat_activity
          where wait_event_type = 'Lock' and query like '%tenant%for no key update%'`);
        expect(waiting).toHaveLength(answers.length);
      }, 20_000);
    }
    await holder.query('commit');
    return await Promise.all(answers);
  } finally {
    await holder.end();
  }
}

test.each(GRANTS)('%s: a statement that waited for the grant makes nothing', async (what) => {
  const name = nameOf('waited', what);
  await user.run('users', created(name, PASSWORD));
  await cheapen(catalog, PASSWORD, name);
  const address = `10.3.0.${(addresses += 1)}`;
  const { token } = await catalog.call<{ token: string }>('SignIn', {
    user: name,
    password: PASSWORD,
    tenant: '',
    address,
  });
  // The holder sends it in the user's name before the grant has happened, and its turn comes after that.
  const late = (request: PrincipalRequest) => (): Promise<string> =>
    catalog
      .call('RunPrincipalStatement', {
        principal: catalog.principal(token),
        statement: Buffer.from(JSON.stringify(request)),
      })
      .then(
        () => 'done',
        (error: unknown) => (error as { readonly code: string }).code,
      );
  const answers = await inTurn([
    () => user.refusal('admin', grant(name, what)),
    late({ kind: 'create_token', name: 'late', owner: null }),
    late({ kind: 'drop_token', name: 'late', owner: null, ifExists: true }),
  ]);
  expect(answers).toEqual(['done', 'UNAUTHENTICATED', 'UNAUTHENTICATED']);
  expect(await user.table('admin', { kind: 'show_tokens', owner: name })).toEqual([]);
});

test('a password that a tenant_admin has set, and one that its user has changed since, stay', async () => {
  await user.createUser('second_admin', { defaultRole: 'tenant_admin' });
  for (const name of ['given', 'changed']) await user.run('second_admin', created(name, PASSWORD));
  const changed = 'Second-Horse-9';
  await runAs('changed', PASSWORD, { kind: 'set_own_password', password: changed, oldPassword: PASSWORD });
  expect((await user.run('admin', grant('given', 'MANAGE PATS'))).columns).toEqual(['status']);
  await user.run('admin', { kind: 'drop_user', name: 'second_admin', ifExists: false, cascade: true });
  // The one who has set it is no tenant_admin any more.
  const [row] = await user.table('admin', grant('given', 'MANAGE USERS'));
  expect(row?.['ended']).toBe('the password that second_admin has made');
  expect((await user.run('admin', grant('changed', 'MANAGE USERS'))).columns).toEqual(['status']);
  expect(await opens('changed', changed)).toBe(true);
});

test('a key has no more scopes than its maker had, and ends when its account rises', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const signing = await importPKCS8(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), 'ES256');
  await user.run('admin', { kind: 'create_account', name: 'etl', ifNotExists: false });
  const add = { kind: 'add_keypair', account: 'etl', keyId: 'k', publicKey: pem, algorithm: 'ES256' } as const;
  const maker = await catalog.mint({ user: 'accounts', scope: ['principal:write', 'table:read'] });
  await catalog.call('RunPrincipalStatement', {
    principal: catalog.principal(maker),
    statement: Buffer.from(JSON.stringify(add)),
  });
  const signIn = async (): Promise<unknown> => {
    const assertion = await new SignJWT({ jti: randomUUID() })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setIssuer('default/etl')
      .setSubject('default/etl')
      .setAudience('skein')
      .setExpirationTime('5m')
      .sign(signing);
    const { body } = await catalog.rest('POST', '/v1/oauth/tokens', {
      token: null,
      raw: new URLSearchParams({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    return body['scope'] ?? body['error'];
  };
  expect(await signIn()).toBe('table:read');
  const accounts = await user.table('admin', { kind: 'show_accounts', after: null, limit: 10 });
  expect(accounts.map((row) => row['keypairs'])).toEqual(['k (ES256, made by accounts)']);
  const [row] = await user.table('admin', grant('etl', 'tenant_admin', 'SERVICE'));
  expect(row?.['ended']).toBe('the key k that accounts has made');
  expect(await signIn()).toBe('invalid_grant');
});

test('a repeated grant or revoke ends tokens and is audited, as the first', async () => {
  await user.createUser('repeated');
  const requests = ['MANAGE PATS', 'tenant_admin'].flatMap((what) => {
    const once = grant('repeated', what as Granted);
    return [
      once,
      once,
      { ...once, isRevoke: true } as PrincipalRequest,
      { ...once, isRevoke: true } as PrincipalRequest,
    ];
  });
  const epoch = async (): Promise<number> =>
    Number((await user.table('admin', { kind: 'describe_user', name: 'repeated' }))[0]?.['session_epoch']);
  for (const request of requests) {
    const before = await epoch();
    await user.run('admin', request);
    expect(await epoch()).toBe(before + 1);
  }
  const rows = await user.table('admin', { kind: 'show_audit_log', like: null, after: null, limit: 100 });
  const seen = rows.filter((row) => row['target_name'] === 'repeated').map((row) => row['event_type']);
  expect(seen.filter((type) => type?.startsWith('grant_') === true || type?.startsWith('revoke_') === true)).toEqual([
    'revoke_role',
    'revoke_role',
    'grant_role',
    'grant_role',
    'revoke_privilege',
    'revoke_privilege',
    'grant_privilege',
    'grant_privilege',
  ]);
});

test('a legal hold of a tenant_admin is not cleared, replaced or outlived by a holder; one of a holder is', async () => {
  await user.createUser('held');
  const hold = (by: string, reason: string | null): Promise<string> =>
    user.refusal(by, { kind: 'set_legal_hold', name: 'held', reason });
  expect(await hold('users', 'mine')).toBe('done');
  expect(await hold('users', null)).toBe('done');
  expect(await hold('admin', 'a case')).toBe('done');
  expect([await hold('users', null), await hold('users', 'mine')]).toEqual(['FORBIDDEN', 'FORBIDDEN']);
  expect(await user.refusal('users', { kind: 'drop_user', name: 'held', ifExists: false, cascade: false })).toBe(
    'done',
  );
  expect(await hold('users', null)).toBe('FORBIDDEN');
  const expunge: PrincipalRequest = { kind: 'expunge_user', name: 'held', reason: 'r' };
  expect(await user.refusal('users', expunge)).toBe('LegalHoldActive');
  expect(await hold('admin', null)).toBe('done');
  expect(await user.refusal('users', expunge)).toBe('done');
});
