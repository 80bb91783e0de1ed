import { expect, it } from 'vitest';
import { principalId, tenantId } from '#shared/id.ts';
import { fromPrincipalMessage, principalOf, toPrincipalMessage } from './principal.ts';
import type { TokenClaims } from './token-claims.ts';

const claims: TokenClaims = {
  iss: 'skein',
  aud: 'skein',
  sub: principalId('2f0bb6b5-9a4c-4f8c-9a3d-0d3f9a1f7d11'),
  tenant: tenantId('t'),
  preferred_username: 'ann',
  roles: ['analyst'],
  scope: 'table:read',
  sess_epoch: 3,
  auth_method: 'password',
  jti: 'j',
  iat: 20,
  exp: 30,
  must_change_password: true,
  auth_time: 10,
  sid: 'a sign-in',
  amr: ['pwd', 'otp', 'mfa'],
  privileges: ['MANAGE USERS'],
};

it('has every claim that the catalog reads, and no other, also after its way over an internal call', () => {
  const { iss: _iss, aud: _aud, jti: _jti, iat: _iat, exp: _exp, ...principal } = claims;
  expect(principalOf(claims)).toEqual(principal);
  expect(fromPrincipalMessage(toPrincipalMessage(claims))).toEqual(principal);
});

it('stays without the claims that its token has not', () => {
  const {
    auth_time: _time,
    sid: _sid,
    amr: _amr,
    privileges: _privileges,
    must_change_password: _must,
    ...less
  } = claims;
  expect(Object.keys(principalOf(less))).not.toContain('sid');
  expect(fromPrincipalMessage(toPrincipalMessage(less))).toEqual(principalOf(less));
});
