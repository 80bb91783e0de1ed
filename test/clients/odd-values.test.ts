import { beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { python } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** Tables of PyIceberg with values that neither manifests nor the statistics of Parquet tell of (`odd_values.py`). */
let cluster: Cluster;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await python('test/clients/odd_values.py', cluster.catalogUrl, await cluster.token());
}, 300_000);

describe('NaN, which bounds leave out', () => {
  const ids = async (condition: string): Promise<unknown> =>
    (await cluster.sql(`SELECT id FROM odd_values.read WHERE ${condition} ORDER BY id`)).flat();

  test.each(['d', 'f', 's.x', 'l[1]', "m['k']"])('%s: conditions find it, again and again', async (value) => {
    // The first reads are of the file, later ones of the row cache.
    for (let time = 0; time < 3; time++) {
      expect(await ids(`${value} > 5`)).toEqual([2]);
      expect(await ids(`${value} = 'nan'`)).toEqual([2]);
      expect(await ids(`NOT (${value} <= 2)`)).toEqual([2]);
      expect(await ids(`${value} IS NOT NULL AND ${value} <> 1`)).toEqual([2, 3]);
      expect(await ids(`${value} < 5`)).toEqual([1, 1, 3]);
    }
    const extremes = `SELECT min(${value})::VARCHAR, max(${value})::VARCHAR, max(id) FILTER (${value} > 5) FROM odd_values.read`;
    expect(await cluster.sql(extremes)).toEqual([['1.0', 'nan', 2]]);
    const last = `SELECT id FROM odd_values.read ORDER BY ${value} DESC NULLS LAST LIMIT 1`;
    expect(await cluster.sql(last)).toEqual([[2]]);
    const joined = `SELECT r.id FROM odd_values.read r JOIN (VALUES (7.0), ('nan'::DOUBLE)) v(k) ON ${value} = v.k`;
    expect(await cluster.sql(joined)).toEqual([[2]]);
  });

  test('UPDATE and DELETE find it', async () => {
    expect(await cluster.sql(`UPDATE odd_values.changed SET id = 20 WHERE d > 5`)).toEqual([[1]]);
    // Now the row lies in a file of Skein, with NaN as well.
    expect(await cluster.sql(`UPDATE odd_values.changed SET id = 21 WHERE s.x > 5`)).toEqual([[1]]);
    expect(await cluster.sql(`DELETE FROM odd_values.changed WHERE f = 'nan'`)).toEqual([[1]]);
    expect(await cluster.sql('SELECT id FROM odd_values.changed ORDER BY id')).toEqual([[1], [1], [3], [4]]);
  });

  test('MERGE finds it', async () => {
    const merge = `MERGE INTO odd_values.merged t USING (SELECT 'nan'::DOUBLE AS k) s ON t.d = s.k
      WHEN MATCHED THEN UPDATE SET id = 20 WHEN NOT MATCHED THEN INSERT (id) VALUES (99)`;
    expect(await cluster.sql(merge)).toEqual([[1]]);
    expect(await cluster.sql('SELECT id FROM odd_values.merged ORDER BY id')).toEqual([[1], [1], [3], [4], [20]]);
  });
});
