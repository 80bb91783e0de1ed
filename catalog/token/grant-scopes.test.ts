import { expect, test } from 'vitest';
import { SCOPES } from '#shared/authorization/token-claims.ts';
import { grantScopes, requestedScopes } from './grant-scopes.ts';

const ALLOWED = ['table:write', 'table:read', 'namespace:read'];
const ALL = 'namespace:read table:read table:write';

test.each([
  [undefined, ALL],
  ['', ALL],
  ['  ', ALL],
  ['catalog', ALL],
  ['sign', ALL],
  ['PRINCIPAL_ROLE:ALL', ALL],
  ['openid profile email offline_access', ALL],
  ['catalog table:read', 'table:read'],
  ['table:read table:read  namespace:read', 'namespace:read table:read'],
  ['table:read catalog:write', 'table:read'],
  ['table:read bogus', 'table:read'],
  ['catalog:write', ''],
  ['bogus', 'unknown'],
  ['catalog bogus', 'unknown'],
  ['openid api://skein/.default', 'unknown'],
  ['table:raed', 'unknown'],
  ['TABLE:READ', 'unknown'],
  ['CATALOG', 'unknown'],
  ['principal_role:ALL', 'unknown'],
  ['constructor toString', 'unknown'],
])('%j is granted %j', (field, granted) => {
  const requested = requestedScopes(field);
  expect(requested === 'unknown' ? requested : grantScopes(requested, ALLOWED).join(' ')).toBe(granted);
});

test('a request for every scope is granted those that it may have', () => {
  const requested = requestedScopes(Object.keys(SCOPES).join(' '));
  expect(requested === 'unknown' ? requested : grantScopes(requested, ALLOWED).join(' ')).toBe(ALL);
});

test('a client without scopes is granted none, and no scope that is none of ours', () => {
  expect(grantScopes('all', [])).toEqual([]);
  expect(grantScopes('all', ['table:fly', 'table:read'])).toEqual(['table:read']);
});
