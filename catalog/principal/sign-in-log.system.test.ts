import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import { must } from '#shared/must.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { cheapen } from '#test/support/cheap-password.ts';
import { PASSWORD, statementRunner, type StatementRunner } from '#test/support/run-statements.ts';
import { patience } from '#test/support/run/slowness.ts';

/** The rows of the audit log about sign-ins, as a tenant_admin and the operator see them. */
let catalog: TestCatalog;
let user: StatementRunner;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };

beforeAll(async () => {
  catalog = await startTestCatalog({}, clock);
  user = statementRunner(catalog);
});
afterAll(() => catalog[Symbol.asyncDispose]());

type Row = { readonly target: string | null; readonly details: Readonly<Record<string, unknown>> };
async function rowsOf(event: string): Promise<readonly Row[]> {
  const rows = await user.table('admin', { kind: 'show_audit_log', like: event, after: null, limit: 100 });
  return rows
    .filter((row) => row['event_type'] === event)
    .map((row) => ({
      target: row['target_name'] ?? null,
      details: JSON.parse(row['details'] ?? '{}') as Row['details'],
    }));
}
const signIn = (name: string, password: string, address = '10.0.0.1'): Promise<string> =>
  catalog.call('SignIn', { user: name, password, tenant: '', address, agent: 'psql' }).then(
    () => 'signed in',
    (error: unknown) => (error as { readonly code: string }).code,
  );
const tokens = async (
  form: Readonly<Record<string, string>>,
): Promise<{ status: number; body: Record<string, string> }> => {
  const response = await fetch(`${catalog.running.url}/v1/oauth/tokens`, {
    method: 'POST',
    body: new URLSearchParams(form),
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
};

test('a sign-in by password has its row, and a renewal of a machine’s has none', async () => {
  await user.createUser('signs');
  expect(await signIn('signs', PASSWORD)).toBe('signed in');
  expect(await rowsOf('sign_in')).toEqual([
    { target: 'signs', details: { method: 'password', address: '10.0.0.1', agent: 'psql', factors: ['pwd'] } },
  ]);
  const { client_id: id, client_secret: secret } = await catalog.call<Record<string, string>>('CreateClient', {
    tenant: 'default',
    name: 'machine',
    roles: [],
    scope: [],
  });
  const client = { client_id: must(id, 'an id'), client_secret: must(secret, 'a secret') };
  const first = await tokens({ grant_type: 'client_credentials', ...client });
  expect(first.status).toBe(200);
  const refresh = must(first.body['refresh_token'], 'it renews');
  expect((await tokens({ grant_type: 'refresh_token', refresh_token: refresh, ...client })).status).toBe(200);
  const byMachine = (await rowsOf('sign_in')).filter(({ target }) => target === 'machine');
  expect(byMachine).toEqual([
    { target: 'machine', details: { method: 'client', address: '127.0.0.1', agent: 'node' } },
  ]);
});

test('by a personal access token, too, at the endpoint and at doors', async () => {
  await user.createUser('pats');
  const [made] = await user.table('pats', { kind: 'create_token', name: 't', owner: null });
  const pat = must(made?.['token'], 'a token');
  expect((await tokens({ grant_type: 'pat', pat, client_id: 'service-sql' })).status).toBe(200);
  expect(await signIn('', pat)).toBe('signed in');
  const rows = (await rowsOf('sign_in')).filter(({ target }) => target === 'pats');
  expect(rows.map(({ details }) => details)).toEqual([
    { method: 'pat', address: '10.0.0.1', agent: 'psql' },
    { method: 'pat', address: '127.0.0.1', agent: 'node' },
  ]);
  await user.run('admin', { kind: 'set_user_state', name: 'pats', to: 'SUSPEND' });
  expect((await tokens({ grant_type: 'pat', pat, client_id: 'service-sql' })).status).toBe(400);
  await expect
    .poll(async () => (await rowsOf('sign_in_refused')).filter(({ target }) => target === 'pats'), {
      timeout: patience(10_000),
    })
    .toMatchObject([{ details: { method: 'pat', count: 1, addresses: ['127.0.0.1'] } }]);
});

test('a flood of refusals is one row a minute with its count; no row says what was typed', async () => {
  await user.createUser('target');
  await cheapen(catalog, PASSWORD, 'target');
  const typed = 'My-Password-Typed-As-A-Name-1';
  expect(await signIn('target', 'wrong', '10.9.0.1')).toBe('WRONG_PASSWORD');
  const refused = async (): Promise<readonly Row[]> =>
    (await rowsOf('sign_in_refused')).filter(({ target }) => target === 'target');
  await expect
    .poll(refused, { timeout: patience(10_000) })
    .toMatchObject([{ details: { count: 1, method: 'password', agents: ['psql'] } }]);
  for (let i = 0; i < 12; i += 1) await signIn('target', 'wrong', `10.9.0.${i % 8}`);
  for (let i = 0; i < 5; i += 1) await signIn(`${typed}${i}`, 'wrong', '10.9.1.1');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(await refused()).toHaveLength(1);
  passedMs += 61_000;
  await expect.poll(refused, { timeout: patience(10_000) }).toHaveLength(2);
  const [flood] = await refused();
  expect(flood?.details).toMatchObject({ count: 12, method: 'password' });
  expect(Object.keys(flood?.details['reasons'] ?? {})).toContain('wrong');
  expect(flood?.details['addresses']).toHaveLength(5);
  const nobodys = (await rowsOf('sign_in_refused')).filter(({ target }) => target === null);
  // One at once, and one when the minute was over.
  expect(nobodys.length).toBeLessThanOrEqual(2);
  expect(nobodys.map(({ details }) => Number(details['count'])).reduce((sum, count) => sum + count, 0)).toBe(5);
  expect(JSON.stringify(await catalog.sql('select * from catalog.user_audit_log'))).not.toContain(typed);
  // Five wrong ones in a row have locked the user.
  expect((await rowsOf('lock_user')).map(({ target }) => target)).toContain('target');
});

test('a name that Postgres stores nowhere hides no refusals of others', async () => {
  await user.createUser('shadowed');
  const hide = (): Promise<string> => signIn('a\0', 'skein_cs_x', '10.9.2.1');
  const hiding = setInterval(() => void hide(), 50);
  try {
    await hide();
    expect(await signIn('shadowed', 'wrong', '10.9.2.2')).toBe('WRONG_PASSWORD');
    const refused = async (): Promise<readonly Row[]> =>
      (await rowsOf('sign_in_refused')).filter(({ target }) => target === 'shadowed');
    await expect.poll(refused, { timeout: patience(10_000) }).toMatchObject([{ details: { count: 1 } }]);
  } finally {
    clearInterval(hiding);
  }
});

test('refusals that cannot be looked up for a while have their row afterwards', async () => {
  await user.createUser('unfound');
  const refused = async (): Promise<readonly Row[]> =>
    (await rowsOf('sign_in_refused')).filter(({ target }) => target === 'unfound');
  // The name is found without invitations, but not its record.
  await catalog.sql('alter table catalog.invitation rename to invitation_away');
  try {
    expect(await signIn('unfound', 'wrong', '10.9.3.1')).toBe('WRONG_PASSWORD');
    await new Promise((resolve) => setTimeout(resolve, 2_500));
  } finally {
    await catalog.sql('alter table catalog.invitation_away rename to invitation');
  }
  await expect.poll(refused, { timeout: patience(10_000) }).toMatchObject([{ details: { count: 1 } }]);
});

test('a wrong secret of a client, and refusals that have no row when the catalog ends', async () => {
  const { client_id: id } = await catalog.call<Record<string, string>>('CreateClient', {
    tenant: 'default',
    name: 'wronged',
    roles: [],
    scope: [],
  });
  const wrong = { grant_type: 'client_credentials', client_id: must(id, 'an id'), client_secret: 'skein_cs_wrong' };
  expect((await tokens(wrong)).status).toBe(401);
  expect((await tokens({ ...wrong, client_id: 'nobody' })).status).toBe(401);
  await catalog.restart();
  const rows = (await rowsOf('sign_in_refused')).filter(({ target }) => target === 'wronged');
  expect(rows).toMatchObject([{ details: { count: 1, method: 'client', addresses: ['127.0.0.1'] } }]);
});

test('the operator’s commands have rows, and the log is exported whole, the oldest row first', async () => {
  const tenant = 'audited';
  await catalog.call('CreateTenant', { name: tenant, admin_user: 'root', admin_password: 'Root-Password-12' });
  const rules = { password_min_length: 20, password_classes: -1, password_history: 0 };
  await catalog.call('AlterTenant', { name: tenant, ...rules });
  const client = { tenant, name: 'etl' };
  await catalog.call('CreateClient', { ...client, roles: ['loader'], scope: ['table:read'] });
  await catalog.call('RotateClient', { ...client, overlap_ms: '60000' });
  await catalog.call('DropClient', client);
  await catalog.call('CreateCatalog', { tenant, name: 'audited_lake', undrop_window_ms: '0' });
  await catalog.call('AlterCatalog', { name: 'audited_lake', undrop_window_ms: '1000' });
  await catalog.call('DropCatalog', { name: 'audited_lake' });
  await catalog.mint({ tenant, user: 'root' });
  const page = await catalog.call<{ rows: readonly string[]; next: string }>('ExportAuditLog', {
    tenant,
    since_ms: '0',
  });
  const rows = page.rows.map((row) => JSON.parse(row) as Record<string, unknown>);
  expect(page.next).toBe('');
  expect(rows.map((row) => [row['event_type'], row['actor_id'], row['target_name']])).toEqual([
    ['create_tenant', null, 'root'],
    ['alter_tenant', null, tenant],
    ['create_client', null, 'etl'],
    ['rotate_client', null, 'etl'],
    ['drop_client', null, 'etl'],
    ['create_catalog', null, 'audited_lake'],
    ['alter_catalog', null, 'audited_lake'],
    ['drop_catalog', null, 'audited_lake'],
    ['mint_token', null, 'root'],
  ]);
  expect(rows[1]?.['details']).toEqual({ password_rules: { minLength: 20, history: 0 } });
  expect(Object.keys(rows[0] ?? {})).toEqual([
    'id',
    'created_at',
    'event_type',
    'tenant',
    'tenant_id',
    'actor_id',
    'target_id',
    'target_name',
    'details',
  ]);
  const later = await catalog.call<{ rows: readonly string[] }>('ExportAuditLog', {
    tenant,
    since_ms: String(clock.nowMs() + 1_000),
  });
  expect(later.rows).toEqual([]);
  await catalog.call('DropTenant', { name: tenant });
  const left = await catalog.sql(`select event_type from catalog.user_audit_log where target_name = '${tenant}'`);
  expect(left).toEqual([{ event_type: 'alter_tenant' }, { event_type: 'drop_tenant' }]);
});

test('a tenant’s rules for passwords count from the next password on', async () => {
  const set = (password: string): Promise<string> =>
    user.refusal('admin', { kind: 'alter_user', name: 'signs', password });
  const alter = (rules: object): Promise<unknown> =>
    catalog.call('AlterTenant', {
      name: 'default',
      password_min_length: -1,
      password_classes: -1,
      password_history: -1,
      ...rules,
    });
  await alter({ password_min_length: 16, password_classes: 4 });
  expect(await set('Short-Horse-9')).toBe('PASSWORD_POLICY');
  expect(await set('Longer-Horse-of-Letters')).toBe('PASSWORD_POLICY');
  expect(await set('Longer-Horse-with-9')).toBe('done');
  await alter({ password_min_length: 8, password_classes: 1, password_history: 0 });
  expect(await set('horsehorse')).toBe('done');
  expect(await set('horsehorse')).toBe('done');
  for (const rules of [{ password_min_length: 7 }, { password_classes: 5 }, { password_history: 25 }]) {
    await expect(alter(rules)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  }
});

test('a client for an account that is there: the account stays when the client goes', async () => {
  await user.run('admin', { kind: 'create_account', name: 'there', ifNotExists: false });
  const create = { tenant: 'default', name: 'there', roles: [], scope: [] };
  await expect(catalog.call('CreateClient', { ...create, roles: ['x'] })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
  });
  const made = await catalog.call<Record<string, string>>('CreateClient', create);
  const { client_id: id = '', client_secret: secret = '' } = made;
  const form = { grant_type: 'client_credentials', client_id: id, client_secret: secret };
  const { body, status } = await tokens(form);
  expect(status).toBe(200);
  await expect(catalog.call('CreateClient', create)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  await expect(catalog.call('CreateClient', { ...create, name: 'signs' })).rejects.toMatchObject({
    code: 'ALREADY_EXISTS',
  });
  await catalog.call('DropClient', { tenant: 'default', name: 'there' });
  expect((await tokens(form)).status).toBe(401);
  const token = must(body['access_token'], 'a token');
  await expect.poll(async () => (await catalog.rest('GET', '/v1/catalogs', { token })).status).toBe(401);
  const accounts = await user.table('admin', { kind: 'show_accounts', after: null, limit: 100 });
  expect(accounts.map((row) => row['name'])).toContain('there');
});

test('one account that is tried from ever other addresses is locked for all of them, and no other is', async () => {
  await user.createUser('wanted');
  await user.createUser('beside');
  await cheapen(catalog, PASSWORD, 'wanted', 'beside');
  for (let i = 0; i < 8; i += 1) expect(await signIn('wanted', `wrong ${i}`, `10.8.${i}.1`)).toBe('WRONG_PASSWORD');
  expect(await signIn('wanted', PASSWORD, '10.8.9.1')).toBe('WRONG_PASSWORD');
  expect(await signIn('beside', PASSWORD, '10.8.0.1')).toBe('signed in');
  const locked = (await rowsOf('lock_user')).filter(({ target }) => target === 'wanted');
  expect(locked).toHaveLength(1);
  passedMs += 15 * 60_000 + 1;
  expect(await signIn('wanted', PASSWORD, '10.8.9.1')).toBe('signed in');
});
