import { beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { packagesBeside, pythonIn } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** The Postgres wire by pg8000, a driver in Python alone, and by connectorx, which reads tables by rust-postgres and cuts queries into parts. */
let lines: readonly (readonly string[])[];

beforeAll(async () => {
  const { cluster } = await sharedCluster();
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password, url.pathname] = [cluster.ready.user, ADMIN_PASSWORD, '/lake'];
  const packages = await packagesBeside('flight', [
    'pg8000==1.31.6',
    'scramp==1.5.0',
    'asn1crypto==1.5.1',
    'connectorx==0.4.6',
  ]);
  const printed = await pythonIn('flight', 'test/clients/postgres_loaders.py', url.href, packages);
  lines = printed.split('\n').map((line) => line.split('\t'));
}, 600_000);

const FEATURES = {
  pg8000: ['sign in', 'queries', 'parameters', 'every type', 'many bound rows', 'COPY', 'transactions', 'errors'],
  connectorx: ['queries', 'every type', 'parts of a query', 'its other protocols'],
} as const;

test.each(Object.entries(FEATURES))('%s', (client, features) => {
  const own = lines.filter(([name]) => name === client);
  const outcomes = Object.fromEntries(own.map(([, feature = '', outcome = '']) => [feature, outcome]));
  expect(outcomes).toEqual(Object.fromEntries(features.map((feature) => [feature, 'ok'])));
});
