import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { printMatrix } from '#test/support/feature-matrix.ts';
import { pythonIn } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** ADBC's driver (Go, in Python's packages): DB-API, pandas and polars. `flight_adbc.py` tries each feature by itself. */
test('every feature of the ADBC driver', async () => {
  const { cluster } = await sharedCluster();
  const url = must(cluster.ready.flight_sql_url, 'it serves Flight SQL');
  const password = ADMIN_PASSWORD;
  const printed = await pythonIn(
    'flight',
    'test/clients/flight_adbc.py',
    url,
    cluster.ready.user,
    password,
    await cluster.token(),
  );
  const outcomes = JSON.parse(printed) as Record<string, string>;
  printMatrix('ADBC (Go)', outcomes);
  expect(Object.entries(outcomes).filter(([, outcome]) => outcome !== 'ok')).toEqual([]);
  expect(Object.keys(outcomes).length).toBeGreaterThan(10);
}, 300_000);
