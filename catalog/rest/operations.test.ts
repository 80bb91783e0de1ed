import { expect, test } from 'vitest';
import { OPERATIONS } from './operations.ts';

/** The paths of the service beside those of `/v1`: health, monitoring, the keys that tokens are signed with, and the end of a person's sign-in. */
const UNVERSIONED = [
  'GET /health',
  'GET /health/ready',
  'GET /metrics',
  'GET /.well-known/jwks.json',
  'GET /.well-known/oauth-authorization-server',
  'POST /oauth/revoke',
];

test('all of the catalog is below /v1, but for health, metrics and keys', () => {
  const outside = OPERATIONS.map(({ endpoint }) => endpoint).filter((endpoint) => !/^[A-Z]+ \/v1\//.test(endpoint));
  expect(outside.toSorted()).toEqual(UNVERSIONED.toSorted());
});

test('what needs no token is the configuration, the token endpoint, and what is not below /v1', () => {
  const open = OPERATIONS.filter(({ action }) => action === null).map(({ endpoint }) => endpoint);
  expect(open.toSorted()).toEqual(['GET /v1/config', 'POST /v1/oauth/tokens', ...UNVERSIONED].toSorted());
});
