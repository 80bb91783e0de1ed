import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { statementRunner, type StatementRunner } from '#test/support/run-statements.ts';

let catalog: TestCatalog;
let user: StatementRunner;
beforeAll(async () => {
  catalog = await startTestCatalog();
  user = statementRunner(catalog);
  await user.createUser('ann', { displayName: 'Ann O’Brien', email: 'first@example.org' });
  await user.createUser('bob', { displayName: 'Bob%', email: 'second@example.org' });
  await user.createUser('plain');
});
afterAll(() => catalog[Symbol.asyncDispose]());

const names = async (search: string): Promise<readonly unknown[]> => {
  const page = { like: null, status: null, after: null, limit: 100 };
  return (await user.run('admin', { kind: 'show_users', ...page, search })).rows.map(([name]) => name);
};

test('users are found by a part of their name, address or display name, in any case, and no sign is a pattern', async () => {
  expect(await names('AN')).toEqual(['ann']);
  expect(await names('SECOND@')).toEqual(['bob']);
  expect(await names('o’brien')).toEqual(['ann']);
  expect(await names('%')).toEqual(['bob']);
  expect(await names('_')).toEqual([]);
  expect(await names('gone')).toEqual([]);
});

test('holders of a role or a privilege are found by it, by those alone who see users', async () => {
  await user.run('admin', { kind: 'create_role', name: 'reads', ifNotExists: false });
  const holder = { kind: 'USER', name: 'bob' } as const;
  await user.run('admin', { kind: 'grant_role', role: 'reads', holder, isRevoke: false });
  await user.run('admin', { kind: 'grant_privilege', privilege: 'BYPASS POLICIES', user: 'ann', isRevoke: false });
  const page = { like: null, status: null, after: null, limit: 100 };
  const holding = async (asked: { readonly role?: string; readonly privilege?: 'BYPASS POLICIES' }) =>
    (await user.run('admin', { kind: 'show_users', ...page, ...asked })).rows.map(([name]) => name);
  expect(await holding({ role: 'READS' })).toEqual(['bob']);
  expect(await holding({ role: 'tenant_admin' })).toEqual(['admin']);
  expect(await holding({ privilege: 'BYPASS POLICIES' })).toEqual(['ann']);
  expect(await holding({ privilege: 'BYPASS POLICIES', role: 'reads' })).toEqual([]);
  expect((await holding({ role: 'public' })).length).toBeGreaterThanOrEqual(4);
  const accounts = { kind: 'show_accounts', after: null, limit: 100, role: 'reads' } as const;
  expect((await user.run('admin', accounts)).rows).toEqual([]);
  expect(await user.refusal('admin', { kind: 'show_users', ...page, role: 'none' })).toBe('ROLE_NOT_FOUND');
  expect(await user.refusal('ann', { kind: 'show_users', ...page, role: 'reads' })).toBe('FORBIDDEN');
});

test('the audit log is found by event, actor, target and time, with the name of the actor', async () => {
  const none = { event: null, actor: null, target: null, from: null, to: null, after: null };
  const find = async (filter: object, as = 'admin') => {
    const { columns, rows } = await user.run(as, { kind: 'search_audit_log', ...none, limit: 100, ...filter });
    return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i] ?? null])));
  };
  const created = await find({ event: 'create_user' });
  expect(created.map(({ target_name: target, actor_name: actor }) => [target, actor]).slice(0, 3)).toEqual([
    ['plain', 'admin'],
    ['bob', 'admin'],
    ['ann', 'admin'],
  ]);
  const [ann] = await find({ event: 'create%', target: 'ann' });
  expect(ann).toMatchObject({ event_type: 'create_user', target_name: 'ann' });
  expect(await find({ target: ann?.['target_id'] })).toContainEqual(ann);
  expect((await find({ actor: 'ADMIN', event: 'create_user' })).length).toBe(created.length);
  expect(await find({ actor: 'nobody' })).toEqual([]);
  expect(await find({ to: '2001-01-01T00:00:00Z' })).toEqual([]);
  expect((await find({ from: '2001-01-01T00:00:00Z', limit: 1 })).length).toBe(1);
  const request = { kind: 'search_audit_log', ...none, limit: 1 } as const;
  expect(await user.refusal('ann', request)).toBe('FORBIDDEN');
  expect(await user.refusal('admin', { ...request, from: 'yesterday' })).toBe('INVALID_REQUEST');
});
