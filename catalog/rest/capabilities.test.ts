import { expect, test } from 'vitest';
import { capabilitiesOf } from './capabilities.ts';
import { ADVERTISED_ENDPOINTS } from './operations.ts';

/** Capabilities that the catalog serves today. */
const SERVED = [
  'namespaces',
  'tables',
  'register-table',
  'undrop-table',
  'views',
  'register-view',
  'functions',
  'stages',
  'scan-planning',
  'metrics-reports',
  'multi-table-commit',
  'multi-catalog-commit',
  'catalog-management',
  'vended-credentials',
  'remote-signing',
  'idempotency-keys',
  'format-version-1',
  'format-version-2',
  'format-version-3',
];

test('a capability is named when all endpoints that it needs are served', () => {
  expect(capabilitiesOf(ADVERTISED_ENDPOINTS)).toEqual(SERVED);
  const without = ADVERTISED_ENDPOINTS.filter((endpoint) => !endpoint.endsWith('/undrop'));
  expect(capabilitiesOf(without)).toEqual(SERVED.filter((name) => name !== 'undrop-table'));
  const credentials = 'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials';
  expect(capabilitiesOf([...ADVERTISED_ENDPOINTS, credentials])).toContain('vended-credentials');
});
