import { expect, test } from 'vitest';
import { grantScopes } from './grant-scopes.ts';

const ALLOWED = ['table:write', 'table:read', 'namespace:read'];
const ALL = 'namespace:read table:read table:write';

test.each([
  [undefined, ALL],
  ['', ALL],
  ['catalog', ALL],
  ['sign', ALL],
  ['PRINCIPAL_ROLE:ALL', ALL],
  ['openid api://skein/.default', ALL],
  ['catalog table:read', 'table:read'],
  ['table:read table:read  namespace:read', 'namespace:read table:read'],
  ['table:read catalog:write', 'table:read'],
  ['catalog:write', ''],
  ['table:raed', ''],
  ['TABLE:READ', ALL],
  ['constructor toString', ALL],
])('%j is granted %j', (requested, granted) => {
  expect(grantScopes(requested, ALLOWED).join(' ')).toBe(granted);
});

test('a client without scopes is granted none, and no scope that is none of ours', () => {
  expect(grantScopes('catalog', [])).toEqual([]);
  expect(grantScopes('catalog', ['table:fly', 'table:read'])).toEqual(['table:read']);
});
