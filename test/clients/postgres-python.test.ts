import { beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { documentedOutcomes, type PostgresClientName } from '#test/support/feature-matrix.ts';
import { pythonIn } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** The Postgres wire by the drivers of Python. `postgres_drivers.py` tries each feature by itself. */
let lines: readonly (readonly string[])[];

beforeAll(async () => {
  const { cluster } = await sharedCluster();
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password, url.pathname] = [cluster.ready.user, ADMIN_PASSWORD, '/lake'];
  const printed = await pythonIn('postgres', 'test/clients/postgres_drivers.py', url.href);
  lines = printed.split('\n').map((line) => line.split('\t'));
}, 600_000);

test.each(['psycopg 3', 'psycopg 2', 'asyncpg'] satisfies readonly PostgresClientName[])(
  'every feature of %s',
  (client) => {
    const own = lines.filter(([name]) => name === client);
    const outcomes = Object.fromEntries(own.map(([, feature = '', outcome = '']) => [feature, outcome]));
    expect(outcomes).toEqual(documentedOutcomes(client, outcomes));
  },
);
