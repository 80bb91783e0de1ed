import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { documentedOutcomes } from '#test/support/feature-matrix.ts';
import { byPsqlOdbc } from '#test/support/psqlodbc.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** The Postgres wire by psqlODBC. `postgres_odbc.py` tries each feature by itself. */
test('every feature of psqlODBC', async () => {
  const { cluster } = await sharedCluster();
  const { hostname, port } = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  const printed = await byPsqlOdbc('test/clients/postgres_odbc.py', hostname, port, cluster.ready.user, ADMIN_PASSWORD);
  const lines = printed.split('\n').filter((line) => line.includes('\t'));
  const outcomes = Object.fromEntries(lines.map((line) => line.split('\t') as [string, string]));
  expect(outcomes).toEqual(documentedOutcomes('psqlODBC', outcomes));
}, 300_000);
