import { verify } from 'argon2';
import { expect, test } from 'vitest';
import { startTestCatalog } from '#test/support/catalog.ts';

/** The stored form of a password: Argon2id with t=3, m=64 MiB, p=1 (service specification, Authentication 5). */
const KIND = 'argon2id';
const PARAMETERS = ['m=65536', 'p=1', 't=3'];

test('first administrators have an email: the one that is given, or NAME@localhost', async () => {
  await using catalog = await startTestCatalog({ 'admin.email': 'root@example.org' });
  const tenant = { admin_user: 'ann', admin_password: 'the password of another user' };
  await catalog.call('CreateTenant', { ...tenant, name: 'one' });
  await catalog.call('CreateTenant', { ...tenant, name: 'two', admin_email: 'ann@example.org' });
  await expect(
    catalog.call('CreateTenant', { ...tenant, name: 'three', admin_email: 'no address' }),
  ).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  const rows = (await catalog.sql('select email from catalog.principal order by email')) as readonly {
    email: string;
  }[];
  expect(rows.map(({ email }) => email)).toEqual(['ann@example.org', 'ann@localhost', 'root@example.org']);
});

test('a password is stored as its Argon2id hash alone, of the first user and of a tenant’s', async () => {
  const passwords = { admin: 'the password of the first user', ann: 'the password of another user' };
  await using catalog = await startTestCatalog({ 'admin.password': passwords.admin });
  const request = { name: 'other', admin_user: 'ann', admin_password: passwords.ann };
  await catalog.call('CreateTenant', request);
  const rows = (await catalog.sql('select * from catalog.principal')) as readonly {
    readonly username: string;
    readonly password_hash: string;
  }[];
  expect(rows.map(({ username }) => username).toSorted()).toEqual(['admin', 'ann']);
  for (const { username, password_hash: hash } of rows) {
    const [, kind, , parameters = ''] = hash.split('$');
    expect([kind, parameters.split(',').toSorted()]).toEqual([KIND, PARAMETERS]);
    expect(await verify(hash, passwords[username as keyof typeof passwords])).toBe(true);
  }
  const [first, second] = rows.map(({ password_hash: hash }) => hash.split('$')[4]);
  expect(first).not.toBe(second);
  expect(JSON.stringify(rows)).not.toContain('the password of');
});
