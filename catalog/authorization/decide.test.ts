import { expect, test } from 'vitest';
import type { Principal } from '#shared/authorization/principal.ts';
import { principalId, tenantId } from '#shared/id.ts';
import { SCOPES, type Scope } from '#shared/authorization/token-claims.ts';
import { allowedActions, decideFiles, requireAction } from './decide.ts';
import { THE_TENANT } from './securable.ts';

const principal = (changed: Partial<Principal>): Principal => ({
  sub: principalId('p'),
  tenant: tenantId('t'),
  preferred_username: 'u',
  roles: [],
  scope: '',
  sess_epoch: 0,
  auth_method: 'client',
  ...changed,
});

/** Every principal of a tenant may do these: a statement needs them to resolve its names. */
const ALWAYS = ['catalog.resolve', 'schema.resolve'];
/** Actions that each scope adds, after the service specification. */
const ADDS: Readonly<Record<Scope, readonly string[]>> = {
  'catalog:read': ['catalog.list', 'catalog.describe', 'catalog.use'],
  'catalog:write': ['catalog.create', 'catalog.drop'],
  'namespace:read': ['schema.list', 'schema.describe', 'schema.use'],
  'namespace:write': ['schema.create', 'schema.alter', 'schema.drop', 'stage.create', 'stage.rename', 'stage.drop'],
  'table:read': [
    'table.list',
    'table.describe',
    'table.select',
    'view.list',
    'view.describe',
    'function.list',
    'function.describe',
    'stage.list',
    'stage.read',
    'query.read',
    'query.stop',
    'stats.read',
  ],
  'table:write': [
    'table.create',
    'table.commit',
    'table.rename',
    'table.drop',
    'view.create',
    'view.replace',
    'view.rename',
    'view.drop',
    'function.create',
    'function.drop',
    'stage.write',
  ],
  'table:data': ['table.read_files'],
  // Statements about others are decided by `decide-principal.ts`.
  'principal:read': [],
  'principal:write': [],
};

test.each(Object.keys(SCOPES) as readonly Scope[])('a token of %s alone allows what the scope says', (scope) => {
  const allowed = allowedActions(principal({ scope }), THE_TENANT);
  expect(allowed.toSorted()).toEqual([...ALWAYS, ...ADDS[scope]].toSorted());
});

test('who gives another name to what holds tables may do that to tables, too', () => {
  const has = (scope: string): readonly string[] =>
    allowedActions(principal({ scope }), THE_TENANT, ['catalog.rename', 'schema.rename']);
  expect(has('namespace:write table:write')).toEqual(['schema.rename']);
  expect(has('catalog:write namespace:write table:write')).toEqual(['catalog.rename', 'schema.rename']);
  for (const scope of [
    'namespace:write',
    'table:write',
    'catalog:write table:write',
    'catalog:write namespace:write',
  ]) {
    expect([scope, has(scope)]).toEqual([scope, []]);
  }
});

test('administration needs the role and the scope; an operator has made its token as well', () => {
  const admin = { roles: ['analyst', 'tenant_admin'], scope: 'principal:read principal:write' };
  const operator = { auth_method: 'operator' } as const;
  expect(allowedActions(principal({}), THE_TENANT)).toEqual(ALWAYS);
  expect(allowedActions(principal(operator), THE_TENANT)).toEqual(ALWAYS);
  expect(allowedActions(principal(admin), THE_TENANT)).toEqual([...ALWAYS, 'query.list', 'query.cancel']);
  expect(allowedActions(principal({ ...admin, ...operator }), THE_TENANT)).toEqual([
    ...ALWAYS,
    'query.list',
    'query.cancel',
    'quarantine.list',
    'quarantine.lift',
  ]);
});

test.each([
  ['principal:read', ['query.list', 'quarantine.list']],
  ['principal:write', ['query.cancel', 'quarantine.lift']],
  ['', []],
])('an administrator’s token that was narrowed to %j administers no more than that', (scope, allowed) => {
  const narrowed = { roles: ['tenant_admin'], auth_method: 'operator', scope } as const;
  expect(allowedActions(principal(narrowed), THE_TENANT)).toEqual([...ALWAYS, ...allowed]);
  expect(() => requireAction(principal({ ...narrowed, scope: 'table:read' }), 'query.list', THE_TENANT)).toThrow(
    'the token lacks the scope principal:read',
  );
});

test('words that only look like a scope or a role allow nothing', () => {
  const odd = { scope: 'table:read2 TABLE:READ table:*  ', roles: ['TENANT_ADMIN', 'tenant_admin '] };
  expect(allowedActions(principal(odd), THE_TENANT)).toEqual(ALWAYS);
  expect(() => requireAction(principal(odd), 'table.select', THE_TENANT)).toThrow(
    'the token lacks the scope table:read',
  );
});

const TABLE = { kind: 'table', catalog: 'c', namespace: ['n'], name: 't' } as const;

test.each([
  ['table:data', 'read'],
  ['table:data table:read', 'read'],
  ['table:data table:write', 'write'],
  ['table:read table:write', { refused: 'the token lacks the scope table:data' }],
])('a token of %s has a table’s files: %o', (scope, decision) => {
  expect(decideFiles(principal({ scope }), TABLE, false)).toEqual(decision);
});

test('nobody has the files of a table with a policy that concerns him', () => {
  const all = principal({ scope: 'table:data table:write', roles: ['tenant_admin'] });
  expect(decideFiles(all, TABLE, true)).toEqual({ refused: 'policies apply to the table: query it through SQL' });
});
