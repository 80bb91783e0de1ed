import { createHash, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { must } from '#shared/must.ts';
import type { PrincipalRequest } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { PASSWORD, statementRunner, type StatementRunner } from '#test/support/run-statements.ts';
import { patience } from '#test/support/run/slowness.ts';

/** Each property and each clause of the statements about principals, as the service specification names them. */
const DAY_MS = 86_400_000;
let catalog: TestCatalog;
let user: StatementRunner;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };

beforeAll(async () => {
  catalog = await startTestCatalog(
    { 'catalog.background_interval': 200, 'principal.archive_after': 10 * DAY_MS },
    clock,
  );
  user = statementRunner(catalog);
});
afterAll(() => catalog[Symbol.asyncDispose]());

type Row = Readonly<Record<string, string | null>>;
const described = async (name: string): Promise<Row> =>
  must((await user.table('admin', { kind: 'describe_user', name }))[0], 'a row');
const alter = (name: string, change: object): Promise<string> =>
  user.refusal('admin', { kind: 'alter_user', name, ...change });
const epochOf = async (name: string): Promise<number> => Number((await described(name))['session_epoch']);
/** By how much a statement of the administrator raises a user's session epoch. */
async function raises(name: string, request: PrincipalRequest, nameThen = name): Promise<number> {
  const before = await epochOf(name);
  expect([request.kind, await user.refusal('admin', request)]).toEqual([request.kind, 'done']);
  return (await epochOf(nameThen)) - before;
}
const drop = (name: string, more: object = {}): PrincipalRequest => ({
  kind: 'drop_user',
  name,
  ifExists: false,
  cascade: false,
  ...more,
});
const signIn = (name: string, password: string): Promise<string> =>
  catalog.call('SignIn', { user: name, password, tenant: '', address: '10.3.0.1' }).then(
    () => 'signed in',
    (error: unknown) => (error as { readonly code: string }).code,
  );

describe('the properties of a user', () => {
  test('CREATE USER gives them, ALTER USER SET changes them, one or several at once, and UNSET takes them', async () => {
    await user.run('admin', { kind: 'create_role', name: 'reader', ifNotExists: false, scope: 'table:read' });
    await user.createUser('prop', {
      displayName: 'Prop One',
      defaultRole: 'reader',
      defaultWarehouse: 'lake',
      comment: 'made',
      mustChangePassword: true,
    });
    expect(await described('prop')).toMatchObject({
      email: 'prop@example.org',
      display_name: 'Prop One',
      default_role: 'reader',
      default_warehouse: 'lake',
      comment: 'made',
      must_change_password: 'true',
      identity_source: 'NATIVE',
      status: 'ACTIVE',
      deactivated_at: null,
      last_login_at: null,
    });
    for (const [change, shown] of [
      [{ email: 'other@example.org' }, { email: 'other@example.org' }],
      [{ displayName: 'Prop Two' }, { display_name: 'Prop Two' }],
      [{ defaultWarehouse: 'attic' }, { default_warehouse: 'attic' }],
      [{ mustChangePassword: false }, { must_change_password: 'false' }],
      [{ comment: 'changed' }, { comment: 'changed' }],
      [
        { email: 'third@example.org', comment: 'at once', displayName: 'Prop Three' },
        { email: 'third@example.org', comment: 'at once', display_name: 'Prop Three' },
      ],
      [
        { displayName: null, defaultRole: null },
        { display_name: null, default_role: null },
      ],
      [{ comment: null }, { comment: null, default_warehouse: 'attic' }],
    ] as const) {
      expect([change, await alter('prop', change)]).toEqual([change, 'done']);
      expect(await described('prop')).toMatchObject(shown);
    }
  });

  test('audit timestamps, and the last sign-in, are the moments of what happened', async () => {
    const begin = clock.nowMs();
    await user.createUser('times');
    const made = await described('times');
    expect(Date.parse(must(made['created_at'], 'a time'))).toBeGreaterThanOrEqual(begin - 1);
    passedMs += 5_000;
    await alter('times', { comment: 'later' });
    const changed = await described('times');
    expect(changed['created_at']).toBe(made['created_at']);
    const at = (row: Row, column: string): number => Date.parse(must(row[column], 'a time'));
    expect(at(changed, 'updated_at') - at(made, 'updated_at')).toBeGreaterThanOrEqual(4_990);
    passedMs += 5_000;
    expect(await signIn('times', PASSWORD)).toBe('signed in');
    expect(at(await described('times'), 'last_login_at')).toBeGreaterThanOrEqual(begin + 9_990);
    await user.run('admin', drop('times'));
    expect(at(await described('times'), 'deactivated_at')).toBeGreaterThanOrEqual(begin + 9_990);
  });

  test('DEFAULT_ROLE is kept as the role is spelled, so that REVOKE takes it back', async () => {
    await user.run('admin', { kind: 'create_role', name: 'Spelled', ifNotExists: false });
    await user.createUser('speller');
    const grant = { kind: 'grant_role', role: 'SPELLED', holder: { kind: 'USER', name: 'speller' } } as const;
    await user.run('admin', { ...grant, isRevoke: false });
    expect(await alter('speller', { defaultRole: 'sPELLED' })).toBe('done');
    expect((await described('speller'))['default_role']).toBe('Spelled');
    await user.run('admin', { ...grant, isRevoke: true });
    expect(await described('speller')).toMatchObject({ default_role: null, roles: '' });
  });

  test('a new password leaves MUST_CHANGE_PASSWORD as it is, unless the statement says otherwise', async () => {
    await user.createUser('must', { mustChangePassword: true });
    await alter('must', { password: 'Another-Horse-1' });
    expect((await described('must'))['must_change_password']).toBe('true');
    await alter('must', { password: 'Another-Horse-2', mustChangePassword: false });
    expect((await described('must'))['must_change_password']).toBe('false');
    await alter('must', { password: 'Another-Horse-3' });
    expect((await described('must'))['must_change_password']).toBe('false');
  });

  test.each(['password', 'pat', 'pat grant'])('last_login_at moves with a sign-in by %s', async (way) => {
    const name = `login_${way.replace(' ', '_')}`;
    await user.createUser(name);
    const [made] = await user.table(name, { kind: 'create_token', name: 't', owner: null });
    const token = must(made?.['token'], 'a token');
    expect((await described(name))['last_login_at']).toBeNull();
    expect(await signIn(name, 'Wrong-Horse-9')).toBe('WRONG_PASSWORD');
    passedMs += 5_000;
    const before = clock.nowMs();
    if (way === 'pat grant') {
      const form = new URLSearchParams({ grant_type: 'pat', client_id: 'service-sql', pat: token });
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const answer = await catalog.rest('POST', '/v1/oauth/tokens', { token: null, raw: form.toString(), headers });
      expect(answer.status).toBe(200);
    } else expect(await signIn(name, way === 'pat' ? token : PASSWORD)).toBe('signed in');
    const { last_login_at: last, login_failures: failures } = await described(name);
    expect(Date.parse(must(last ?? undefined, 'a time'))).toBeGreaterThanOrEqual(before - 1);
    // A token shows nothing about the password.
    expect(failures).toBe(way === 'password' ? '0' : '1');
  });

  test('no list and no description shows a hash, a secret or a token', async () => {
    await user.createUser('shown');
    const [token] = await user.table('shown', { kind: 'create_token', name: 'own', owner: null });
    const [stored] = (await catalog.sql(
      `select p.password_hash, encode(a.sha256, 'hex') as sha256 from catalog.principal p
       join catalog.access_token a on a.principal_id = p.id where p.username = 'shown'`,
    )) as { password_hash: string; sha256: string }[];
    const plain = must(token?.['token'], 'a token');
    expect(stored?.sha256).toBe(createHash('sha256').update(plain).digest('hex'));
    const all = JSON.stringify([
      await user.run('admin', { kind: 'describe_user', name: 'shown' }),
      await user.run('admin', { kind: 'show_users', like: 'shown', status: null, after: null, limit: 10 }),
      await user.run('admin', { kind: 'show_tokens', owner: 'shown' }),
      await user.run('admin', { kind: 'show_audit_log', like: null, after: null, limit: 1_000 }),
    ]);
    for (const secret of [must(stored, 'a row').password_hash, must(stored, 'a row').sha256, plain, '$argon2id$']) {
      expect(all).not.toContain(secret);
    }
    const tables = JSON.stringify(await catalog.sql('select * from catalog.access_token'));
    expect(tables).not.toContain(plain);
  });
});

describe('the session epoch', () => {
  test('rises with DROP, RENAME, a new password, a dropped token, and roles and privileges that are granted or revoked', async () => {
    await user.createUser('epo');
    await user.run('admin', { kind: 'create_role', name: 'epo_role', ifNotExists: false, scope: 'table:read' });
    const role = { kind: 'grant_role', role: 'epo_role', holder: { kind: 'USER', name: 'epo' } } as const;
    expect(await raises('epo', { ...role, isRevoke: false })).toBe(1);
    expect(await raises('epo', { ...role, isRevoke: true })).toBe(1);
    await user.run('epo', { kind: 'create_token', name: 't', owner: null });
    expect(await raises('epo', { kind: 'alter_user', name: 'epo', comment: 'x' })).toBe(0);
    expect(await raises('epo', { kind: 'alter_user', name: 'epo', password: 'Another-Horse-9' })).toBe(1);
    expect(await raises('epo', { kind: 'drop_token', name: 't', owner: 'epo', ifExists: false })).toBe(1);
    for (const privilege of ['MANAGE USERS', 'MANAGE PATS', 'MANAGE SERVICE ACCOUNTS'] as const) {
      const grant = { kind: 'grant_privilege', privilege, user: 'epo' } as const;
      expect(await raises('epo', { ...grant, isRevoke: false })).toBe(1);
      expect((await described('epo'))['privileges']).toBe(privilege);
      expect(await raises('epo', { ...grant, isRevoke: true })).toBe(1);
      expect((await described('epo'))['privileges']).toBe('');
    }
    expect(await raises('epo', { kind: 'rename_user', name: 'epo', to: 'epo2' }, 'epo2')).toBe(1);
    expect(await raises('epo2', { kind: 'alter_user', name: 'epo2', mustChangePassword: true })).toBe(1);
    expect(await raises('epo2', drop('epo2'))).toBe(1);
  });

  test('REDEEM INVITATION raises it, and clears must_change_password', async () => {
    const [made] = await user.table('admin', {
      kind: 'create_user',
      name: 'inv',
      ifNotExists: false,
      email: 'inv@example.org',
      mustChangePassword: true,
    });
    expect(await described('inv')).toMatchObject({ status: 'INVITED', must_change_password: 'true' });
    const token = must(made?.['invitation_token'], 'a token');
    expect(await raises('inv', { kind: 'redeem_invitation', token, password: PASSWORD })).toBe(1);
    expect(await described('inv')).toMatchObject({ status: 'ACTIVE', must_change_password: 'false' });
  });

  test('RENAME keeps everything but the name, which is free again', async () => {
    await user.createUser('before', { comment: 'kept' });
    const { id } = await described('before');
    await user.run('admin', { kind: 'rename_user', name: 'before', to: 'After' });
    expect(await described('after')).toMatchObject({ id, username: 'After', comment: 'kept' });
    expect(await signIn('after', PASSWORD)).toBe('signed in');
    await user.createUser('before', { email: 'again@example.org' });
    expect(await user.refusal('admin', { kind: 'rename_user', name: 'before', to: 'AFTER' })).toBe('ALREADY_EXISTS');
  });
});

describe('the end of a user', () => {
  test('SUSPEND preserves what belongs to him; EXPUNGE clears password, tokens and invitations', async () => {
    await user.createUser('gone', { comment: 'personal', displayName: 'Gone' });
    await user.run('gone', { kind: 'create_token', name: 't', owner: null });
    const { id } = await described('gone');
    const rowsOf = async (): Promise<unknown> =>
      (
        await catalog.sql(
          `select (select count(*)::int from catalog.access_token where principal_id = p.id) as tokens,
             (select count(*)::int from catalog.invitation where principal_id = p.id) as invitations,
             (select count(*)::int from catalog.password_history where principal_id = p.id) as former,
             p.password_hash is not null as password, p.display_name, p.comment
           from catalog.principal p where id = '${id}'`,
        )
      )[0];
    await alter('gone', { password: 'Another-Horse-9' });
    await catalog.sql(
      `insert into catalog.invitation (principal_id, sha256, created_at, expires_at)
       values ('${id}', '\\x00', now(), now() + interval '1 day')`,
    );
    const whole = { tokens: 1, invitations: 1, former: 1, password: true, display_name: 'Gone', comment: 'personal' };
    expect(await rowsOf()).toEqual(whole);
    await user.run('admin', { kind: 'set_user_state', name: 'gone', to: 'SUSPEND' });
    expect(await rowsOf()).toEqual(whole);
    await user.run('admin', drop('gone'));
    await user.run('admin', { kind: 'expunge_user', name: 'gone', reason: 'asked' });
    expect(await rowsOf()).toEqual({
      tokens: 0,
      invitations: 0,
      former: 0,
      password: false,
      display_name: null,
      comment: null,
    });
  });

  test('legal hold is engaged and cleared; meanwhile all but EXPUNGE is available', async () => {
    await user.createUser('hold');
    const hold = { kind: 'set_legal_hold', name: 'hold' } as const;
    await user.run('admin', { ...hold, reason: 'case 1' });
    expect(await described('hold')).toMatchObject({ legal_hold: 'true' });
    const requests: readonly PrincipalRequest[] = [
      { kind: 'alter_user', name: 'hold', comment: 'held', password: 'Another-Horse-9' },
      { kind: 'set_user_state', name: 'hold', to: 'SUSPEND' },
      { kind: 'set_user_state', name: 'hold', to: 'UNSUSPEND' },
      { kind: 'unlock_user', name: 'hold' },
      { kind: 'rename_user', name: 'hold', to: 'hold2' },
      { kind: 'rename_user', name: 'hold2', to: 'hold' },
      { kind: 'grant_privilege', privilege: 'MANAGE PATS', user: 'hold', isRevoke: false },
      { kind: 'grant_privilege', privilege: 'MANAGE PATS', user: 'hold', isRevoke: true },
      { kind: 'create_token', name: 't', owner: 'hold' },
      { kind: 'drop_token', name: 't', owner: 'hold', ifExists: false },
      drop('hold'),
      { kind: 'undrop_user', name: 'hold' },
      drop('hold'),
    ];
    for (const request of requests) {
      expect([request.kind, await user.refusal('admin', request)]).toEqual([request.kind, 'done']);
    }
    const expunge = { kind: 'expunge_user', name: 'hold', reason: 'r' } as const;
    expect(await user.refusal('admin', expunge)).toBe('LegalHoldActive');
    await user.run('admin', { ...hold, reason: null });
    expect(await described('hold')).toMatchObject({ legal_hold: 'false' });
    expect(await user.refusal('admin', expunge)).toBe('done');
  });

  test('nobody takes the name that a user gets when he is archived', async () => {
    await user.createUser('stays');
    const { id } = await described('stays');
    const taken = `Archived-${must(id ?? undefined, 'an id').toUpperCase()}`;
    for (const request of [
      { kind: 'create_user', name: taken, ifNotExists: false, email: 'taken@example.org', password: PASSWORD },
      { kind: 'rename_user', name: 'stays', to: taken },
      { kind: 'create_account', name: taken, ifNotExists: false },
    ] as const) {
      expect([request.kind, await user.refusal('admin', request)]).toEqual([request.kind, 'INVALID_REQUEST']);
    }
    await user.run('admin', drop('stays'));
    await user.run('admin', { kind: 'expunge_user', name: 'stays', reason: 'asked' });
  });

  test('DROP USER IF EXISTS of nobody is done', async () => {
    expect(await user.refusal('admin', drop('nobody'))).toBe('PRINCIPAL_NOT_FOUND');
    expect(await user.refusal('admin', drop('nobody', { ifExists: true }))).toBe('done');
  });
});

describe('delegated privileges', () => {
  test('MANAGE USERS: drops, suspends and unlocks users, until it is revoked; none passes it on', async () => {
    await user.createUser('boss');
    await user.createUser('worker');
    const grant = { kind: 'grant_privilege', privilege: 'MANAGE USERS' } as const;
    await user.run('admin', { ...grant, user: 'boss', isRevoke: false });
    for (const request of [
      { kind: 'set_user_state', name: 'worker', to: 'SUSPEND' },
      { kind: 'set_user_state', name: 'worker', to: 'UNSUSPEND' },
      { kind: 'unlock_user', name: 'worker' },
      drop('worker'),
      { kind: 'undrop_user', name: 'worker' },
    ] as const) {
      expect([request.kind, await user.refusal('boss', request)]).toEqual([request.kind, 'done']);
    }
    for (const isRevoke of [false, true]) {
      expect(await user.refusal('boss', { ...grant, user: 'worker', isRevoke })).toBe('FORBIDDEN');
    }
    await user.run('admin', { ...grant, user: 'boss', isRevoke: true });
    expect(await user.refusal('boss', drop('worker'))).toBe('FORBIDDEN');
  });

  test('MANAGE PATS: creates, shows and revokes tokens of others', async () => {
    await user.createUser('keeper');
    await user.createUser('owner');
    const create = { kind: 'create_token', name: 'Theirs', owner: 'owner', days: 2 } as const;
    const revoke = { kind: 'drop_token', name: 'theirs', owner: 'owner', ifExists: false } as const;
    expect(await user.refusal('keeper', create)).toBe('FORBIDDEN');
    const grant = { kind: 'grant_privilege', privilege: 'MANAGE PATS', user: 'keeper' } as const;
    await user.run('admin', { ...grant, isRevoke: false });
    const [made] = await user.table('keeper', create);
    const days = (Date.parse(must(made?.['expires_at'], 'a time')) - clock.nowMs()) / DAY_MS;
    expect(Math.abs(days - 2)).toBeLessThan(0.01);
    expect(await signIn('owner', must(made?.['token'], 'a token'))).toBe('signed in');
    const shown = await user.table('keeper', { kind: 'show_tokens', owner: 'owner' });
    expect(shown.map((row) => [row['name'], row['owner']])).toEqual([['Theirs', 'owner']]);
    expect(await user.refusal('keeper', revoke)).toBe('done');
    expect(await user.refusal('keeper', revoke)).toBe('TOKEN_NOT_FOUND');
    expect(await user.refusal('keeper', { ...revoke, ifExists: true })).toBe('done');
    await user.run('admin', { ...grant, isRevoke: true });
    expect(await user.refusal('keeper', create)).toBe('FORBIDDEN');
  });

  test('MANAGE SERVICE ACCOUNTS: creates, reads, updates and deletes accounts and their keys', async () => {
    await user.createUser('ops');
    const create = { kind: 'create_account', name: 'bot', ifNotExists: false } as const;
    expect(await user.refusal('ops', create)).toBe('FORBIDDEN');
    expect(await user.refusal('ops', { kind: 'show_accounts', after: null, limit: 10 })).toBe('FORBIDDEN');
    const grant = { kind: 'grant_privilege', privilege: 'MANAGE SERVICE ACCOUNTS', user: 'ops' } as const;
    await user.run('admin', { ...grant, isRevoke: false });
    expect(await user.refusal('ops', { ...create, comment: 'loads', defaultRole: 'public' })).toBe('done');
    expect(await user.refusal('ops', create)).toBe('ALREADY_EXISTS');
    expect(await user.refusal('ops', { ...create, ifNotExists: true })).toBe('done');
    const pems: Record<string, string> = {};
    for (const [algorithm, pair] of [
      ['RS256', generateKeyPairSync('rsa', { modulusLength: 2_048 })],
      ['RS512', generateKeyPairSync('rsa', { modulusLength: 2_048 })],
      ['ES256', generateKeyPairSync('ec', { namedCurve: 'P-256' })],
      ['ES384', generateKeyPairSync('ec', { namedCurve: 'P-384' })],
    ] as const) {
      const publicKey = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
      pems[algorithm] = publicKey;
      await user.run('ops', { kind: 'add_keypair', account: 'bot', keyId: `k-${algorithm}`, publicKey, algorithm });
    }
    const [bot] = (await user.table('ops', { kind: 'show_accounts', after: null, limit: 10 })).filter(
      (row) => row['name'] === 'bot',
    );
    expect(bot).toMatchObject({ default_role: 'public', comment: 'loads' });
    expect(bot?.['keypairs']).toBe(
      'k-ES256 (ES256, made by ops), k-ES384 (ES384, made by ops), k-RS256 (RS256, made by ops), k-RS512 (RS512, made by ops)',
    );
    const revoke = { kind: 'drop_keypair', account: 'bot', keyId: 'k-RS256', ifExists: false } as const;
    await user.run('ops', revoke);
    expect(await user.refusal('ops', revoke)).toBe('KEYPAIR_NOT_FOUND');
    expect(await user.refusal('ops', { ...revoke, ifExists: true })).toBe('done');
    await user.run('ops', {
      kind: 'add_keypair',
      account: 'bot',
      keyId: 'k-RS256',
      publicKey: must(pems['RS512'], 'a key'),
    });
    const stored = (await catalog.sql(
      `select key_id, algorithm, public_key, revoked_at is not null as revoked from catalog.keypair
       where key_id = 'k-RS256' order by created_at`,
    )) as Record<string, unknown>[];
    expect(stored).toEqual([
      { key_id: 'k-RS256', algorithm: 'RS256', public_key: pems['RS256'], revoked: true },
      { key_id: 'k-RS256', algorithm: 'RS256', public_key: pems['RS512'], revoked: false },
    ]);
    const machine = await catalog.sql(`select email, password_hash from catalog.principal where username = 'bot'`);
    expect(machine).toEqual([{ email: null, password_hash: null }]);
    const end = { kind: 'drop_account', name: 'bot', ifExists: false } as const;
    expect(await user.refusal('ops', end)).toBe('done');
    expect(await user.refusal('ops', { ...end, ifExists: true })).toBe('done');
    await user.run('admin', { ...grant, isRevoke: true });
    expect(await user.refusal('ops', create)).toBe('FORBIDDEN');
  });
});

test('the privileges apply to requests of the catalog itself, by what the database says and not by what the request claims', async () => {
  const kinds = { 'MANAGE USERS': 'users', 'MANAGE PATS': 'pats', 'MANAGE SERVICE ACCOUNTS': 'accounts' } as const;
  await user.createUser('caller');
  await user.createUser('called');
  const requests: Readonly<Record<keyof typeof kinds, PrincipalRequest>> = {
    'MANAGE USERS': { kind: 'alter_user', name: 'called', comment: 'x' },
    'MANAGE PATS': { kind: 'show_tokens', owner: 'called' },
    'MANAGE SERVICE ACCOUNTS': { kind: 'show_accounts', after: null, limit: 1 },
  };
  const send = async (request: PrincipalRequest): Promise<string> =>
    catalog
      .call('RunPrincipalStatement', {
        principal: {
          ...catalog.principal(await catalog.mint({ user: 'caller' })),
          roles: ['tenant_admin', 'MANAGE USERS', 'MANAGE PATS', 'MANAGE SERVICE ACCOUNTS'],
          scope: 'catalog:read catalog:write table:write principal:read principal:write',
        },
        statement: Buffer.from(JSON.stringify(request)),
      })
      .then(
        () => 'done',
        (error: unknown) => (error as { readonly code: string }).code,
      );
  const privileges = Object.keys(kinds) as (keyof typeof kinds)[];
  for (const privilege of privileges) {
    for (const one of privileges) expect([one, await send(requests[one])]).toEqual([one, 'FORBIDDEN']);
    const grant = { kind: 'grant_privilege', privilege, user: 'caller' } as const;
    await user.run('admin', { ...grant, isRevoke: false });
    for (const one of privileges) {
      expect([privilege, one, await send(requests[one])]).toEqual([
        privilege,
        one,
        one === privilege ? 'done' : 'FORBIDDEN',
      ]);
    }
    await user.run('admin', { ...grant, isRevoke: true });
  }
});

test('a text with a NUL character is refused wherever a statement has one', async () => {
  const name = 'nu\0l';
  const page = { after: null, limit: 1 } as const;
  const requests: readonly PrincipalRequest[] = [
    { kind: 'create_user', name: 'nul', ifNotExists: false, email: 'n@example.org', comment: name },
    { kind: 'alter_user', name: 'admin', defaultRole: name },
    { kind: 'set_legal_hold', name: 'admin', reason: name },
    { kind: 'show_users', like: name, status: null, ...page },
    { kind: 'show_audit_log', like: name, ...page },
    { kind: 'drop_role', name, ifExists: true },
    { kind: 'drop_token', name, owner: null, ifExists: true },
    { kind: 'drop_keypair', account: 'bot', keyId: name, ifExists: true },
    { kind: 'drop_webhook', name, ifExists: true },
    { kind: 'redeem_invitation', token: name, password: PASSWORD },
  ];
  for (const request of requests) {
    expect([request.kind, await user.refusal('admin', request)]).toEqual([request.kind, 'INVALID_REQUEST']);
  }
  // The six characters of its escape are no NUL.
  expect(await user.refusal('admin', { kind: 'describe_user', name: String.raw`nu\u0000l` })).toBe(
    'PRINCIPAL_NOT_FOUND',
  );
});

test('a caller who is suspended or dropped runs nothing, also before the end of his tokens is told', async () => {
  await user.createUser('ousted', { defaultRole: 'tenant_admin' });
  const token = await catalog.mint({ user: 'ousted' });
  const run = (request: PrincipalRequest): Promise<string> =>
    catalog
      .call('RunPrincipalStatement', {
        // As if the epoch of the token had not been raised.
        principal: { ...catalog.principal(token), sess_epoch: 2_000_000_000 },
        statement: Buffer.from(JSON.stringify(request)),
      })
      .then(
        () => 'done',
        (error: unknown) => (error as { readonly code: string }).code,
      );
  const role: PrincipalRequest = { kind: 'create_role', name: 'ousted_role', ifNotExists: true };
  expect(await run(role)).toBe('done');
  await user.run('admin', { kind: 'set_user_state', name: 'ousted', to: 'SUSPEND' });
  expect(await run(role)).toBe('UNAUTHENTICATED');
  expect(await run({ kind: 'show_roles' })).toBe('UNAUTHENTICATED');
  await user.run('admin', drop('ousted', { cascade: true }));
  expect(await run({ kind: 'show_roles' })).toBe('UNAUTHENTICATED');
});

test('every change of a principal has its row in the audit log', async () => {
  const holder = { kind: 'USER', name: 'log' } as const;
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const privilege = { kind: 'grant_privilege', privilege: 'MANAGE PATS', user: 'log' } as const;
  const role = { kind: 'grant_role', role: 'logged', holder } as const;
  const steps: readonly (readonly [PrincipalRequest, string])[] = [
    [{ kind: 'create_role', name: 'logged', ifNotExists: false }, 'create_role'],
    [{ kind: 'alter_role', name: 'logged', scope: 'table:read' }, 'alter_role'],
    [
      { kind: 'create_user', name: 'log', ifNotExists: false, email: 'log@example.org', password: PASSWORD },
      'create_user',
    ],
    [{ kind: 'alter_user', name: 'log', comment: 'c' }, 'alter_user'],
    [{ kind: 'alter_user', name: 'log', password: 'Another-Horse-9' }, 'set_password'],
    [{ ...role, isRevoke: false }, 'grant_role'],
    [{ ...role, isRevoke: true }, 'revoke_role'],
    [{ ...privilege, isRevoke: false }, 'grant_privilege'],
    [{ ...privilege, isRevoke: true }, 'revoke_privilege'],
    [{ kind: 'create_token', name: 't', owner: 'log' }, 'create_pat'],
    [{ kind: 'drop_token', name: 't', owner: 'log', ifExists: false }, 'drop_pat'],
    [{ kind: 'unlock_user', name: 'log' }, 'unlock_user'],
    [{ kind: 'set_user_state', name: 'log', to: 'SUSPEND' }, 'suspend_user'],
    [{ kind: 'set_user_state', name: 'log', to: 'UNSUSPEND' }, 'unsuspend_user'],
    [{ kind: 'set_legal_hold', name: 'log', reason: 'r' }, 'set_legal_hold'],
    [{ kind: 'set_legal_hold', name: 'log', reason: null }, 'clear_legal_hold'],
    [{ kind: 'rename_user', name: 'log', to: 'log2' }, 'rename_user'],
    [drop('log2'), 'drop_user'],
    [{ kind: 'undrop_user', name: 'log2' }, 'undrop_user'],
    [drop('log2'), 'drop_user'],
    [{ kind: 'expunge_user', name: 'log2', reason: 'r' }, 'expunge_user'],
    [{ kind: 'create_account', name: 'logbot', ifNotExists: false }, 'create_service_account'],
    [{ kind: 'add_keypair', account: 'logbot', keyId: 'k', publicKey: pem }, 'add_keypair'],
    [{ kind: 'drop_keypair', account: 'logbot', keyId: 'k', ifExists: false }, 'drop_keypair'],
    [{ kind: 'drop_account', name: 'logbot', ifExists: false }, 'drop_service_account'],
    [{ kind: 'drop_role', name: 'logged', ifExists: false }, 'drop_role'],
  ];
  const rowsNow = async (): Promise<readonly string[]> =>
    (
      await catalog.sql(`select event_type from catalog.user_audit_log where event_type <> 'mint_token' order by id`)
    ).map((row) => Object.values(row)[0] as string);
  const before = (await rowsNow()).length;
  for (const [request] of steps) await user.run('admin', request);
  expect((await rowsNow()).slice(before)).toEqual(steps.map(([, event]) => event));
});

describe('the background work', () => {
  test('the window of the sweeper is a setting; it skips the first administrator', async () => {
    await user.createUser('heir', { defaultRole: 'tenant_admin' });
    await user.createUser('swept');
    await user.run('heir', drop('admin', { cascade: true }));
    await user.run('heir', drop('swept'));
    passedMs += 11 * DAY_MS;
    const names = async (): Promise<unknown> =>
      (await catalog.sql(`select username from catalog.principal where username in ('admin', 'swept')`)).map(
        (row) => Object.values(row)[0] as string,
      );
    await expect.poll(names, { timeout: patience(20_000) }).toEqual(['admin']);
    expect(await user.refusal('heir', { kind: 'undrop_user', name: 'admin' })).toBe('done');
    const again = { kind: 'grant_role', role: 'tenant_admin', holder: { kind: 'USER', name: 'admin' } } as const;
    await user.run('heir', { ...again, isRevoke: false });
  });

  test('months of the audit log are made hourly, and dropped after seven years, but never the catch-all', async () => {
    expect(defaultConfig()['audit.retention']).toBe(2_557 * DAY_MS);
    const months = async (): Promise<readonly string[]> =>
      (
        await catalog.sql(
          `select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
           where i.inhparent = 'catalog.user_audit_log'::regclass order by 1`,
        )
      ).map((row) => Object.values(row)[0] as string);
    const thisMonth = `user_audit_log_${new Date(clock.nowMs()).toISOString().slice(0, 7).replace('-', '_')}`;
    const [last] = (await months()).filter((name) => name !== 'user_audit_log_other').slice(-1);
    await catalog.sql(`drop table catalog.${must(last, 'a month')}`);
    passedMs += 3_600_000;
    await expect.poll(months, { timeout: patience(20_000) }).toContain(last);
    expect(await months()).toContain(thisMonth);
    await catalog.sql(
      `insert into catalog.user_audit_log (id, tenant_id, event_type, details, created_at)
       select gen_random_uuid(), id, 'ancient', '{}', '1999-01-01' from catalog.tenant limit 1`,
    );
    passedMs += 2_557 * DAY_MS + 32 * DAY_MS;
    await expect.poll(months, { timeout: patience(20_000) }).not.toContain(thisMonth);
    expect(await months()).toContain('user_audit_log_other');
    // Once a day: an hour later the months are made, and none is dropped.
    await catalog.sql(
      `create table catalog.user_audit_log_2000_01 partition of catalog.user_audit_log for values from ('2000-01-01') to ('2000-02-01')`,
    );
    const [newest] = (await months()).filter((name) => name !== 'user_audit_log_other').slice(-1);
    await catalog.sql(`drop table catalog.${must(newest, 'a month')}`);
    passedMs += 3_600_000;
    await expect.poll(months, { timeout: patience(20_000) }).toContain(newest);
    expect(await months()).toContain('user_audit_log_2000_01');
    passedMs += DAY_MS;
    await expect.poll(months, { timeout: patience(20_000) }).not.toContain('user_audit_log_2000_01');
    expect(
      await catalog.sql(`select event_type from catalog.user_audit_log_other where event_type = 'ancient'`),
    ).toEqual([{ event_type: 'ancient' }]);
  });
});
