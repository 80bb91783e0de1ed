import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { documentedOutcomes } from '#test/support/feature-matrix.ts';
import { pythonIn } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** ADBC's driver (Go, in Python's packages): DB-API, pandas and polars. `flight_adbc.py` tries each feature by itself. */
test('every feature of the ADBC driver', async () => {
  const { cluster } = await sharedCluster();
  const url = must(cluster.ready.flight_sql_url, 'it serves Flight SQL');
  const args = [url, cluster.ready.user, ADMIN_PASSWORD, await cluster.token()];
  const outcomes = JSON.parse(await pythonIn('flight', 'test/clients/flight_adbc.py', ...args)) as Record<
    string,
    string
  >;
  expect(outcomes).toEqual(documentedOutcomes('ADBC (Go)', outcomes));
}, 300_000);
