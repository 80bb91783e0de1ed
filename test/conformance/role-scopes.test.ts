import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeJwt } from 'jose';
import { OPERATIONS } from '#catalog/rest/operations.ts';
import { must } from '#shared/must.ts';
import { SCOPES, type Scope } from '#shared/authorization/token-claims.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { statementRunner, type StatementRunner } from '#test/support/run-statements.ts';
import { CATALOG, makeFixture, requestOf } from './matrix-requests.ts';
import { SCOPE_MATRIX } from './scope-matrix.ts';

/**
 * The scope matrix of `scope-matrix.ts` once more, by users whose scopes come from roles alone: one user for each scope, or for those that an
 * operation needs together, whose role has just these, one without any role but `public`, which has no scope here, and a tenant_admin.
 */
const ALL = Object.keys(SCOPES) as readonly Scope[];
/** Scopes of which an operation needs all. */
const TOGETHER = new Set(SCOPE_MATRIX.flatMap(([, scope]) => (scope?.includes(' ') === true ? [scope] : [])));
const userOf = (scope: string): string => scope.replaceAll(/[: ]/g, '_');
let catalog: TestCatalog;
let user: StatementRunner;
/** The catalog with an administrator's token that is good: the first one has ended with the change of `public`. */
let maker: TestCatalog;
beforeAll(async () => {
  catalog = await startTestCatalog();
  await catalog.sql(`update catalog.catalog set undrop_window_s = 3600 where name = '${CATALOG}'`);
  user = statementRunner(catalog);
  await user.run('admin', { kind: 'alter_role', name: 'public', scope: '' });
  for (const scope of [...ALL, ...TOGETHER]) {
    await user.run('admin', { kind: 'create_role', name: `role_${userOf(scope)}`, ifNotExists: false, scope });
    await createActive(userOf(scope), `role_${userOf(scope)}`);
  }
  await createActive('none', 'public');
  const token = await catalog.mint();
  maker = { ...catalog, rest: (method, path, options) => catalog.rest(method, path, { token, ...options }) };
  await createActive('boss', 'tenant_admin');
});
afterAll(() => catalog[Symbol.asyncDispose]());

/** A user who never shows a password, whose hash would take longer than the rest. */
async function createActive(name: string, defaultRole: string): Promise<void> {
  await user.createUser(name, { password: undefined, defaultRole });
  await catalog.sql(`update catalog.principal set status = 'ACTIVE' where username = '${name}'`);
}
/** Tokens of users for requests that are refused, which change nothing. */
const kept = new Map<string, string>();
async function keptToken(name: string): Promise<string> {
  const token = kept.get(name) ?? (await catalog.mint({ user: name }));
  kept.set(name, token);
  return token;
}

test.each(SCOPE_MATRIX.filter(([, scope]) => scope !== null))(
  '%s: of all users the one whose role has %s, and a tenant_admin',
  async (id, scope, withScope, withoutScope) => {
    const operation = must(
      OPERATIONS.find((one) => one.id === id),
      id,
    );
    const own = must(scope ?? undefined, 'a scope');
    const fixture = await makeFixture(maker, `role_${id}`);
    const statusFor = async (token: string, objects = fixture): Promise<number> => {
      const { path, body, raw, type } = requestOf(operation, objects);
      const answer = await catalog.rest(operation.endpoint.split(' ')[0] ?? '', path, {
        token,
        ...(body === undefined ? {} : { body }),
        ...(raw === undefined ? {} : { raw }),
        headers: type === undefined ? {} : { 'content-type': type },
      });
      return answer.status;
    };
    for (const name of ['none', ...ALL.filter((one) => one !== own).map(userOf)]) {
      expect([name, await statusFor(await keptToken(name))]).toEqual([name, withoutScope]);
    }
    // Last, because the request may delete its objects.
    expect(await statusFor(await catalog.mint({ user: userOf(own) }))).toBe(withScope);
    const boss = await catalog.mint({ user: 'boss' });
    expect(await statusFor(boss, await makeFixture(maker, `boss_${id}`))).toBe(withScope);
  },
);

test.each(ALL)('a role with %s alone: no way of signing in gives its holder another scope', async (scope) => {
  const name = userOf(scope);
  expect(decodeJwt(await catalog.mint({ user: name }))['scope']).toBe(scope);
  for (const other of ALL.filter((one) => one !== scope)) {
    await expect(catalog.mint({ user: name, scope: [other] })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const request = { kind: 'create_token', name: `own_${userOf(other)}`, owner: null, scope: other } as const;
    expect([other, await user.refusal(name, request)]).toEqual([other, 'FORBIDDEN']);
  }
  // One that an administrator makes may name every scope; a token made from it has those of the role.
  const words = ALL.join(' ');
  const [made] = await user.table('admin', { kind: 'create_token', name: 'wide', owner: name, scope: words });
  const pat = must(made?.['token'], 'a token');
  const signed = await catalog.call<{ token: string }>('SignIn', {
    user: name,
    password: pat,
    tenant: '',
    address: 'a',
  });
  expect(decodeJwt(signed.token)['scope']).toBe(scope);
  const { body } = await catalog.rest('POST', '/v1/oauth/tokens', {
    token: null,
    raw: new URLSearchParams({ grant_type: 'pat', client_id: 'service-sql', pat, scope: words }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(body['scope']).toBe(scope);
  // The role changes: the tokens of before end, and new ones have what it has now.
  const before = await catalog.mint({ user: name });
  await user.run('admin', { kind: 'alter_role', name: `role_${name}`, scope: '' });
  await expect.poll(async () => (await catalog.rest('GET', '/v1/catalogs', { token: before })).status).toBe(401);
  expect(decodeJwt(await catalog.mint({ user: name }))['scope']).toBe('');
  await user.run('admin', { kind: 'alter_role', name: `role_${name}`, scope });
});
