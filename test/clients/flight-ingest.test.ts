import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { pythonIn } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';

test('rows of every Arrow type come in by ADBC and come back, or their column is refused', async () => {
  const { cluster } = await sharedCluster();
  const url = must(cluster.ready.flight_sql_url, 'it serves Flight SQL');
  const { user } = cluster.ready;
  const printed = await pythonIn('flight', 'test/clients/flight_ingest.py', url, user, ADMIN_PASSWORD);
  const outcomes = JSON.parse(printed) as Record<string, string>;
  const failed = Object.entries(outcomes).filter(([, outcome]) => outcome !== 'ok');
  // As a text, which a report does not shorten.
  expect(failed.map((each) => each.join(': ')).join('\n')).toBe('');
  expect(Object.keys(outcomes).length).toBeGreaterThan(40);
}, 300_000);
