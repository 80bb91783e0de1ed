import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import type { PrincipalAnswer, PrincipalRequest } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { cheapen } from '#test/support/cheap-password.ts';
import { patience } from '#test/support/run/slowness.ts';

const PASSWORD = 'Correct-Horse-9';
let catalog: TestCatalog;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };

beforeAll(async () => {
  catalog = await startTestCatalog({ 'catalog.background_interval': 500 }, clock);
});
afterAll(() => catalog[Symbol.asyncDispose]());

/** Runs a statement by a user's new token. */
async function run(user: string, request: PrincipalRequest, scope?: readonly string[]): Promise<PrincipalAnswer> {
  const token = await catalog.mint({ user, ...(scope === undefined ? {} : { scope }) });
  const { answer } = await catalog.call<{ answer: Buffer }>('RunPrincipalStatement', {
    principal: catalog.principal(token),
    statement: Buffer.from(JSON.stringify(request)),
  });
  return JSON.parse(answer.toString()) as PrincipalAnswer;
}
const refusal = async (user: string, request: PrincipalRequest): Promise<string> =>
  run(user, request).then(
    () => 'done',
    (error: unknown) => (error as { readonly code: string }).code,
  );
/** The answer's only row, by its columns. */
async function row(user: string, request: PrincipalRequest): Promise<Readonly<Record<string, string | null>>> {
  const { columns, rows } = await run(user, request);
  return Object.fromEntries(columns.map((column, i) => [column, rows[0]?.[i] ?? null]));
}
const createUser = (name: string, more: object = {}): Promise<PrincipalAnswer> =>
  run('admin', {
    kind: 'create_user',
    name,
    ifNotExists: false,
    email: `${name}@example.org`,
    password: PASSWORD,
    ...more,
  });
const statusOf = async (name: string): Promise<string | null> =>
  (await row('admin', { kind: 'describe_user', name }))['status'] ?? null;
const signIn = (user: string, password: string): Promise<string> =>
  catalog.call('SignIn', { user, password, tenant: '', address: `10.1.0.${(passedMs / 1_000) % 250}` }).then(
    () => 'signed in',
    (error: unknown) => (error as { readonly code: string }).code,
  );
const dropUser = (name: string, cascade = false): PrincipalRequest => ({
  kind: 'drop_user',
  name,
  ifExists: false,
  cascade,
});

describe('users', () => {
  test('one with a password is active, and signs in with it', async () => {
    await createUser('ann');
    expect(await row('admin', { kind: 'describe_user', name: 'ANN' })).toMatchObject({
      username: 'ann',
      status: 'ACTIVE',
      email: 'ann@example.org',
      must_change_password: 'false',
    });
    expect(await signIn('ann', PASSWORD)).toBe('signed in');
    const [stored] = await catalog.sql(`select password_hash from catalog.principal where username = 'ann'`);
    expect(stored).toEqual({
      password_hash: expect.stringMatching(/^\$argon2id\$v=19\$m=65536,t=3,p=1\$|^\$argon2id\$v=19\$m=65536,p=1,t=3\$/),
    });
  });

  test('one without is invited, and the invitation is good once', async () => {
    const { invitation_token: token, invitation_url: url } = await row('admin', {
      kind: 'create_user',
      name: 'ida',
      ifNotExists: false,
      email: 'ida@example.org',
    });
    expect(url).toMatch(/\/sign-in\/invitation#skein_inv_/);
    expect(await statusOf('ida')).toBe('INVITED');
    const redeem: PrincipalRequest = { kind: 'redeem_invitation', token: token ?? '', password: PASSWORD };
    expect(await refusal('ann', { ...redeem, password: 'short' })).toBe('PASSWORD_POLICY');
    expect(await refusal('ann', { kind: 'alter_user', name: 'ida', password: PASSWORD })).toBe('FORBIDDEN');
    expect(await refusal('admin', { kind: 'alter_user', name: 'ida', password: PASSWORD })).toBe('INVALID_STATE');
    await run('ann', redeem);
    expect(await statusOf('ida')).toBe('ACTIVE');
    expect(await signIn('ida', PASSWORD)).toBe('signed in');
    expect(await refusal('ann', redeem)).toBe('InvalidInvitation');
  });

  test('names and emails are unique without regard to case, over users and service accounts', async () => {
    await createUser('bob');
    const create = { kind: 'create_user', ifNotExists: false, password: PASSWORD } as const;
    expect(await refusal('admin', { ...create, name: 'BOB', email: 'x@example.org' })).toBe('ALREADY_EXISTS');
    expect(await refusal('admin', { ...create, name: 'bert', email: 'Bob@Example.org' })).toBe('ALREADY_EXISTS');
    expect(await refusal('admin', { kind: 'create_account', name: 'Bob', ifNotExists: false })).toBe('ALREADY_EXISTS');
    await run('admin', { ...create, ifNotExists: true, name: 'BOB', email: 'x@example.org' });
  });

  test('suspended, back, dropped, back, dropped, expunged: each as the table has it', async () => {
    await createUser('sue', { displayName: 'Sue' });
    await cheapen(catalog, PASSWORD, 'sue');
    const suspend = { kind: 'set_user_state', name: 'sue', to: 'SUSPEND' } as const;
    const token = await catalog.mint({ user: 'sue' });
    await run('admin', suspend);
    expect(await statusOf('sue')).toBe('SUSPENDED');
    expect(await signIn('sue', PASSWORD)).toBe('WRONG_PASSWORD');
    await expect.poll(async () => (await catalog.rest('GET', '/v1/catalogs', { token })).status).toBe(401);
    expect(await refusal('admin', suspend)).toBe('INVALID_STATE');
    await run('admin', { ...suspend, to: 'UNSUSPEND' });
    expect(await statusOf('sue')).toBe('ACTIVE');
    await run('admin', dropUser('sue'));
    expect(await statusOf('sue')).toBe('DEACTIVATED');
    await run('admin', { kind: 'undrop_user', name: 'sue' });
    expect(await signIn('sue', PASSWORD)).toBe('signed in');
    const expunge = { kind: 'expunge_user', name: 'sue', reason: 'asked for it' } as const;
    expect(await refusal('admin', expunge)).toBe('INVALID_STATE');
    await run('admin', dropUser('sue'));
    await run('admin', { kind: 'set_legal_hold', name: 'sue', reason: 'case 12' });
    expect(await refusal('admin', expunge)).toBe('LegalHoldActive');
    await run('admin', { kind: 'set_legal_hold', name: 'sue', reason: null });
    const { id } = await row('admin', { kind: 'describe_user', name: 'sue' });
    await run('admin', expunge);
    expect(await refusal('admin', { kind: 'describe_user', name: 'sue' })).toBe('PRINCIPAL_NOT_FOUND');
    expect(await refusal('admin', { kind: 'undrop_user', name: 'sue' })).toBe('PRINCIPAL_NOT_FOUND');
    const rows = await catalog.sql(`select username, email, display_name, password_hash, status
      from catalog.principal where id = '${id}'`);
    expect(rows).toEqual([
      { username: `archived-${id}`, email: null, display_name: null, password_hash: null, status: 'DEACTIVATED' },
    ]);
    await createUser('sue');
  });

  test('PROVISIONED signs in as ACTIVE does; no statement leads to it, and back from SUSPENDED or DEACTIVATED he is ACTIVE', async () => {
    await createUser('scim');
    await cheapen(catalog, PASSWORD, 'scim');
    await catalog.sql(`update catalog.principal set status = 'PROVISIONED' where username = 'scim'`);
    expect(await statusOf('scim')).toBe('PROVISIONED');
    const show = { kind: 'show_users', like: null, status: 'provisioned', after: null, limit: 10 } as const;
    expect((await run('admin', show)).rows.map(([name, status]) => [name, status])).toEqual([['scim', 'PROVISIONED']]);
    expect(await signIn('scim', PASSWORD)).toBe('signed in');
    await catalog.mint({ user: 'scim' });
    expect(await refusal('admin', { kind: 'set_user_state', name: 'scim', to: 'UNSUSPEND' })).toBe('INVALID_STATE');
    expect(await refusal('admin', { kind: 'undrop_user', name: 'scim' })).toBe('INVALID_STATE');
    await run('admin', { kind: 'create_token', name: 't', owner: 'scim', scope: 'table:read' });
    await run('admin', { kind: 'set_user_state', name: 'scim', to: 'SUSPEND' });
    expect(await signIn('scim', PASSWORD)).toBe('WRONG_PASSWORD');
    await run('admin', { kind: 'set_user_state', name: 'scim', to: 'UNSUSPEND' });
    expect(await statusOf('scim')).toBe('ACTIVE');
    await run('admin', dropUser('scim'));
    await run('admin', { kind: 'undrop_user', name: 'scim' });
    expect(await statusOf('scim')).toBe('ACTIVE');
  });

  test('a list takes a pattern and a status, and comes in pages', async () => {
    await createUser('list_one');
    await createUser('list_two');
    const show = { kind: 'show_users', like: 'list%', status: null, after: null, limit: 1 } as const;
    const first = await run('admin', show);
    expect([first.rows.map(([name]) => name), first.next]).toEqual([['list_one'], 'list_one']);
    const second = await run('admin', { ...show, after: first.next });
    expect(second.rows.map(([name]) => name)).toEqual(['list_two']);
    expect((await run('admin', { ...show, status: 'SUSPENDED', limit: 10 })).rows).toEqual([]);
    expect((await run('admin', { ...show, like: String.raw`list\_two`, limit: 10 })).rows).toHaveLength(1);
    expect((await run('admin', { ...show, like: 'x\\', limit: 10 })).rows).toEqual([]);
  });
});

describe('passwords', () => {
  test('the policy is checked before anything is stored, and former passwords do not come again', async () => {
    await createUser('pat');
    await cheapen(catalog, PASSWORD, 'pat');
    const set = (password: string): Promise<string> => refusal('admin', { kind: 'alter_user', name: 'pat', password });
    for (const bad of ['Short-1', 'alllowercaseletters', 'Aa1-'.repeat(70), 'My-Name-Is-pat-1', PASSWORD]) {
      expect([bad, await set(bad)]).toEqual([bad, 'PASSWORD_POLICY']);
    }
    expect(await set('Another-Horse-9')).toBe('done');
    expect(await set(PASSWORD)).toBe('PASSWORD_POLICY');
    expect(await signIn('pat', 'Another-Horse-9')).toBe('signed in');
  });

  test('the own one needs the old one; five wrong ones lock, and UNLOCK opens', async () => {
    await createUser('lou');
    await cheapen(catalog, PASSWORD, 'lou');
    const set = (oldPassword: string): Promise<string> =>
      refusal('lou', { kind: 'set_own_password', password: 'Another-Horse-9', oldPassword });
    for (let i = 0; i < 5; i += 1) expect(await set('wrong')).toBe('WRONG_PASSWORD');
    expect(await statusOf('lou')).toBe('LOCKED');
    expect(await set(PASSWORD)).toBe('WRONG_PASSWORD');
    await run('admin', { kind: 'unlock_user', name: 'lou' });
    expect(await set(PASSWORD)).toBe('done');
    expect(await signIn('lou', 'Another-Horse-9')).toBe('signed in');
  });
});

test('many old passwords that are shown at once are no more tries than five: the right one among them meets the lock', async () => {
  await createUser('swarm');
  const principal = catalog.principal(await catalog.mint({ user: 'swarm' }));
  const set = (oldPassword: string): Promise<string> => {
    const request: PrincipalRequest = { kind: 'set_own_password', password: 'Another-Horse-9', oldPassword };
    return catalog.call('RunPrincipalStatement', { principal, statement: Buffer.from(JSON.stringify(request)) }).then(
      () => 'done',
      (error: unknown) => (error as { readonly code: string }).code,
    );
  };
  const wrong = Array.from({ length: 10 }, () => set('wrong'));
  const failed = `select from catalog.principal_sign_in s join catalog.principal p on p.id = s.principal_id
    where p.username = 'swarm' and s.login_failures > 0`;
  await expect
    .poll(async () => (await catalog.sql(failed)).length, { interval: 20, timeout: patience(20_000) })
    .toBe(1);
  // The others wait for their turn, and the right one behind them.
  const outcomes = await Promise.all([...wrong, set(PASSWORD)]);
  // On a machine that has other work some wait too long, and count for nothing; the fifth that counts locks.
  const counted = outcomes.slice(0, wrong.length).filter((outcome) => outcome === 'WRONG_PASSWORD').length;
  const refusals = new Set(['WRONG_PASSWORD', 'TOO_MANY_SIGN_INS', ...(counted < 5 ? ['done'] : [])]);
  expect(outcomes.filter((outcome) => !refusals.has(outcome))).toEqual([]);
});

test('a wrong old password is counted before the next one is compared, however long the database takes', async () => {
  await createUser('slowly');
  const principal = catalog.principal(await catalog.mint({ user: 'slowly' }));
  const set = (oldPassword: string): Promise<string> => {
    const request: PrincipalRequest = { kind: 'set_own_password', password: 'Another-Horse-9', oldPassword };
    return catalog.call('RunPrincipalStatement', { principal, statement: Buffer.from(JSON.stringify(request)) }).then(
      () => 'done',
      (error: unknown) => (error as { readonly code: string }).code,
    );
  };
  for (let i = 0; i < 4; i += 1) expect(await set('wrong')).toBe('WRONG_PASSWORD');
  let isHeld = true;
  const held = catalog
    .sql(
      `with held as materialized (select s.principal_id from catalog.principal_sign_in s
         join catalog.principal p on p.id = s.principal_id where p.username = 'slowly' for update of s)
       select pg_sleep(20) from held`,
    )
    .catch(() => [])
    .then(() => (isHeld = false));
  // Two are compared at once, and either of them locks: the third must not be compared until one has.
  const wrong = [set('wrong'), set('wrong')];
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect
    .poll(async () => !isHeld || (await catalog.sql(waiting)).length >= 2, { interval: 20, timeout: patience(20_000) })
    .toBe(true);
  const right = set(PASSWORD);
  await Promise.race([right, new Promise((resolve) => setTimeout(resolve, 4_000))]);
  await catalog.sql(`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'`);
  await Promise.all([...wrong, held]);
  expect(['WRONG_PASSWORD', 'TOO_MANY_SIGN_INS']).toContain(await right);
});

describe('a holder does not grow', () => {
  test('MANAGE USERS changes users, but none who has tenant_admin or a privilege', async () => {
    await createUser('hal');
    await createUser('plain');
    expect(await refusal('hal', { kind: 'alter_user', name: 'plain', comment: 'x' })).toBe('FORBIDDEN');
    await run('admin', { kind: 'grant_privilege', privilege: 'MANAGE USERS', user: 'hal', isRevoke: false });
    expect(await refusal('hal', { kind: 'alter_user', name: 'plain', comment: 'x' })).toBe('done');
    for (const name of ['admin', 'hal']) {
      expect(await refusal('hal', { kind: 'alter_user', name, email: 'mine@example.org' })).toBe('FORBIDDEN');
      expect(await refusal('hal', { kind: 'alter_user', name, password: PASSWORD })).toBe('FORBIDDEN');
    }
    expect(await refusal('hal', dropUser('admin'))).toBe('FORBIDDEN');
    expect(await refusal('hal', { kind: 'create_token', name: 't', owner: 'plain' })).toBe('FORBIDDEN');
    const role = { kind: 'grant_role', role: 'tenant_admin', isRevoke: false } as const;
    expect(await refusal('hal', { ...role, holder: { kind: 'USER', name: 'plain' } })).toBe('FORBIDDEN');
    const create = { kind: 'create_user', ifNotExists: false, password: PASSWORD, email: 'n@example.org' } as const;
    expect(await refusal('hal', { ...create, name: 'new', defaultRole: 'tenant_admin' })).toBe('FORBIDDEN');
    expect(await refusal('hal', { ...create, name: 'new', defaultRole: 'public' })).toBe('done');
  });

  test('nobody drops or suspends himself, and the last tenant_admin stays', async () => {
    expect(await refusal('admin', dropUser('admin', true))).toBe('FORBIDDEN');
    const revoke = {
      kind: 'grant_role',
      role: 'tenant_admin',
      holder: { kind: 'USER', name: 'admin' },
      isRevoke: true,
    } as const;
    expect(await refusal('admin', revoke)).toBe('INVALID_STATE');
    await createUser('second', { defaultRole: 'tenant_admin' });
    expect(await refusal('second', { kind: 'set_user_state', name: 'admin', to: 'SUSPEND' })).toBe('done');
    expect(await refusal('second', { ...revoke, holder: { kind: 'USER', name: 'second' } })).toBe('INVALID_STATE');
    await run('second', { kind: 'set_user_state', name: 'admin', to: 'UNSUSPEND' });
    expect(await refusal('admin', dropUser('second'))).toBe('HOLDS_GRANTS');
    expect(await refusal('admin', dropUser('second', true))).toBe('done');
    await run('admin', { kind: 'undrop_user', name: 'second' });
    expect((await row('admin', { kind: 'describe_user', name: 'second' }))['roles']).toBe('');
  });
});

describe('service accounts, keys and tokens', () => {
  test('an account has keys of the algorithms, and no private ones', async () => {
    await run('admin', { kind: 'create_account', name: 'etl', ifNotExists: false });
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const add = { kind: 'add_keypair', account: 'etl', keyId: 'k1', publicKey: pem } as const;
    expect(await refusal('admin', { ...add, algorithm: 'ES384' })).toBe('INVALID_REQUEST');
    const secret = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(await refusal('admin', { ...add, publicKey: secret })).toBe('INVALID_REQUEST');
    expect(await refusal('admin', add)).toBe('done');
    expect(await refusal('admin', add)).toBe('ALREADY_EXISTS');
    const drop = { kind: 'drop_keypair', account: 'etl', keyId: 'k1', ifExists: false } as const;
    expect(await refusal('admin', drop)).toBe('done');
    expect(await refusal('admin', drop)).toBe('KEYPAIR_NOT_FOUND');
    expect(await refusal('admin', add)).toBe('done');
    const short = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey;
    const weak = short.export({ type: 'spki', format: 'pem' }).toString();
    expect(await refusal('admin', { ...add, keyId: 'k2', publicKey: weak })).toBe('INVALID_REQUEST');
    const { rows } = await run('admin', { kind: 'show_accounts', after: null, limit: 10 });
    expect(rows.find(([name]) => name === 'etl')?.[5]).toBe('k1 (ES256, made by admin)');
    await run('admin', { kind: 'drop_account', name: 'etl', ifExists: false });
    expect(await refusal('admin', { kind: 'drop_account', name: 'etl', ifExists: false })).toBe('PRINCIPAL_NOT_FOUND');
  });

  test('a token is shown once and stored as its SHA-256, within the scopes of its creator', async () => {
    await createUser('tom');
    const create = { kind: 'create_token', name: 'laptop', owner: null } as const;
    await expect(run('tom', { ...create, scope: 'catalog:write' }, ['table:read'])).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    const { rows } = await run('tom', { ...create, days: 30 }, ['table:read']);
    expect(rows[0]?.[1]).toMatch(/^skein_pat_/);
    expect(await refusal('tom', create)).toBe('ALREADY_EXISTS');
    expect(await refusal('tom', { ...create, name: 'long', days: 366 })).toBe('INVALID_REQUEST');
    const shown = await run('tom', { kind: 'show_tokens', owner: null });
    expect(shown.rows.map(([name, owner, scope]) => [name, owner, scope])).toEqual([['laptop', 'tom', 'table:read']]);
    expect(shown.rows[0]?.[shown.columns.indexOf('ttl')]).toBe('30');
    const two = { ...create, name: 'two', scope: 'table:read  catalog:read' };
    await run('tom', two, ['table:read', 'catalog:read']);
    const scopes = (await run('tom', { kind: 'show_tokens', owner: null })).rows.map(([name, , scope]) => [
      name,
      scope,
    ]);
    expect(scopes).toEqual([
      ['laptop', 'table:read'],
      ['two', 'table:read catalog:read'],
    ]);
    expect(await refusal('tom', { kind: 'show_tokens', owner: 'admin' })).toBe('FORBIDDEN');
    const before = decodeJwt(await catalog.mint({ user: 'tom' }));
    await run('tom', { kind: 'drop_token', name: 'LAPTOP', owner: null, ifExists: false });
    const after = decodeJwt(await catalog.mint({ user: 'tom' }));
    expect(Number(after['sess_epoch'])).toBe(Number(before['sess_epoch']) + 1);
  });
});

describe('roles', () => {
  test('are made, granted, in use, and taken away', async () => {
    await createUser('rob');
    const role = (more: object): PrincipalRequest => ({
      kind: 'create_role',
      name: 'analyst',
      ifNotExists: false,
      scope: 'table:read',
      ...more,
    });
    expect(await refusal('rob', role({}))).toBe('FORBIDDEN');
    expect(await refusal('admin', role({ scope: 'table:everything' }))).toBe('INVALID_REQUEST');
    expect(await refusal('admin', role({}))).toBe('done');
    expect(await refusal('admin', role({}))).toBe('ALREADY_EXISTS');
    const grant = {
      kind: 'grant_role',
      role: 'Analyst',
      holder: { kind: 'USER', name: 'rob' },
      isRevoke: false,
    } as const;
    expect(await refusal('admin', { kind: 'alter_user', name: 'rob', defaultRole: 'analyst' })).toBe('INVALID_REQUEST');
    await run('admin', grant);
    expect(decodeJwt(await catalog.mint({ user: 'rob' }))['roles']).toEqual(['analyst']);
    await run('admin', { kind: 'alter_user', name: 'rob', defaultRole: 'analyst' });
    expect(await refusal('admin', { kind: 'drop_role', name: 'analyst', ifExists: false })).toBe('ROLE_IN_USE');
    const { rows } = await run('rob', { kind: 'show_grants', holder: { kind: 'USER', name: 'rob' } });
    expect(rows).toEqual([
      ['ROLE', 'analyst'],
      ['ROLE', 'public'],
    ]);
    await run('admin', { ...grant, isRevoke: true });
    expect((await row('admin', { kind: 'describe_user', name: 'rob' }))['default_role']).toBeNull();
    await run('admin', { kind: 'drop_role', name: 'analyst', ifExists: false });
    expect(await refusal('admin', { kind: 'drop_role', name: 'public', ifExists: false })).toBe('INVALID_STATE');
  });
});

describe('the audit log', () => {
  test('has a row of every change, none of a refusal, and no secret; nobody changes it', async () => {
    await createUser('aud');
    await refusal('aud', dropUser('admin'));
    const shown = await run('admin', { kind: 'show_audit_log', like: 'create%', after: null, limit: 100 });
    expect(shown.columns).toEqual([
      'tenant_id',
      'actor_id',
      'target_id',
      'target_name',
      'event_type',
      'details',
      'created_at',
    ]);
    expect(shown.rows[0]?.slice(3, 6)).toEqual(['aud', 'create_user', '{"status":"ACTIVE"}']);
    expect(await refusal('aud', { kind: 'show_audit_log', like: null, after: null, limit: 1 })).toBe('FORBIDDEN');
    for (const change of [
      'update catalog.user_audit_log set event_type = null',
      'delete from catalog.user_audit_log',
    ]) {
      await expect(catalog.sql(change)).rejects.toMatchObject({ code: '42501' });
    }
    const log = JSON.stringify(await catalog.sql('select * from catalog.user_audit_log'));
    expect(log).not.toContain(PASSWORD);
    expect(log).not.toMatch(/skein_(?:pat|inv)_/);
  });
});

describe('the background work', () => {
  test('archives who was dropped a month ago, but not under legal hold; the log has its months', async () => {
    for (const name of ['old', 'held', 'young']) await createUser(name);
    await run('admin', dropUser('old'));
    await run('admin', dropUser('held'));
    await run('admin', { kind: 'set_legal_hold', name: 'held', reason: 'case 13' });
    passedMs += 31 * 86_400_000;
    await run('admin', dropUser('young'));
    const left = async (): Promise<unknown> =>
      (
        await catalog.sql(
          `select username from catalog.principal where username in ('old', 'held', 'young') order by 1`,
        )
      ).length;
    await expect.poll(left, { timeout: patience(40_000) }).toBe(2);
    expect(await refusal('admin', { kind: 'undrop_user', name: 'old' })).toBe('PRINCIPAL_NOT_FOUND');
    expect(await refusal('admin', { kind: 'undrop_user', name: 'held' })).toBe('done');
    expect(await refusal('admin', { kind: 'undrop_user', name: 'young' })).toBe('done');
    const shown = await run('admin', { kind: 'show_audit_log', like: 'archive_user', after: null, limit: 10 });
    expect(shown.rows.map(([, actor, , name]) => [actor, name?.startsWith('archived-')])).toEqual([[null, true]]);
    const months = async (): Promise<unknown> =>
      (await catalog.sql(`select from pg_inherits where inhparent = 'catalog.user_audit_log'::regclass`)).length;
    // This month, the last one, 24 months ahead and the catch-all.
    await expect.poll(months, { timeout: patience(20_000) }).toBe(27);
  });

  test('months of the audit log that are over are dropped once a day, and those to come are looked for every hour', async () => {
    await catalog.sql(`create table catalog.user_audit_log_2001_01 partition of catalog.user_audit_log
      for values from ('2001-01-01') to ('2001-02-01')`);
    const nameOf = (later: number): string => {
      const now = new Date(clock.nowMs());
      const begin = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + later));
      return `catalog.user_audit_log_${begin.toISOString().slice(0, 7).replace('-', '_')}`;
    };
    const isThere = async (name: string): Promise<boolean> =>
      (await catalog.sql(`select where to_regclass('${name}') is not null`)).length === 1;
    // A look at the months to come, an hour later, is none at those that are over.
    await catalog.sql(`drop table ${nameOf(23)}`);
    passedMs += 2 * 3_600_000;
    await expect.poll(() => isThere(nameOf(23)), { timeout: patience(20_000) }).toBe(true);
    expect(await isThere('catalog.user_audit_log_2001_01')).toBe(true);
    passedMs += 24 * 3_600_000;
    await expect.poll(() => isThere('catalog.user_audit_log_2001_01'), { timeout: patience(20_000) }).toBe(false);
  });

  test('rows of the audit log that came before the partition of their month are moved into it', async () => {
    const created = new Date(Date.UTC(new Date(clock.nowMs()).getUTCFullYear() + 4, 2, 9));
    await catalog.sql(
      `insert into catalog.user_audit_log (id, tenant_id, event_type, details, created_at)
       select gen_random_uuid(), id, 'early', '{}', '${created.toISOString()}' from catalog.tenant limit 1`,
    );
    const places = async (): Promise<unknown> =>
      (
        await catalog.sql(`select tableoid::regclass::text from catalog.user_audit_log where event_type = 'early'`)
      ).flatMap((row) => Object.values(row) as unknown[]);
    expect(await places()).toEqual(['catalog.user_audit_log_other']);
    passedMs = created.getTime() - Date.now();
    await expect
      .poll(places, { timeout: patience(20_000) })
      .toEqual([`catalog.user_audit_log_${String(created.getUTCFullYear())}_03`]);
  });
});
