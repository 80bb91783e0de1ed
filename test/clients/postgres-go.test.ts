import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD, run } from '#test/support/cluster.ts';
import { documentedOutcomes } from '#test/support/feature-matrix.ts';
import { pgxClient } from '#test/support/pgx-client.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** The Postgres wire by pgx. `pgx/main.go` tries each feature by itself. */
test('every feature of pgx', async () => {
  const { cluster } = await sharedCluster();
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [url.username, url.password, url.pathname] = [cluster.ready.user, ADMIN_PASSWORD, '/lake'];
  const { stdout, stderr } = await run(await pgxClient(), [url.href]);
  const lines = stdout.split('\n').filter((line) => line.includes('\t'));
  if (lines.length === 0) throw new Error(stderr.slice(-2_000));
  const outcomes = Object.fromEntries(lines.map((line) => line.split('\t') as [string, string]));
  expect(outcomes).toEqual(documentedOutcomes('pgx', outcomes));
}, 300_000);
