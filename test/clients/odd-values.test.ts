import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { python } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { putStageFile } from '#test/support/stage-files.ts';

/** Tables of PyIceberg with values that neither manifests nor the statistics of Parquet tell of (`odd_values.py`). */
let cluster: Cluster;
let folder: string;

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  folder = mkdtempSync(join(tmpdir(), 'skein-odd-values-'));
  await python('test/clients/odd_values.py', cluster.catalogUrl, await cluster.token(), folder);
  await cluster.sql('CREATE STAGE lake.odd_values.box');
  for (const name of ['nan', 'split', 'digits']) {
    await putStageFile(cluster, 'odd_values.box', `${name}.parquet`, readFileSync(join(folder, `${name}.parquet`)));
  }
}, 300_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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

test('an encoding that DuckDB does not read is named, and the other columns are read', async () => {
  const { body } = await cluster.query('SELECT sum(n) FROM odd_values.encodings');
  expect(body).toMatchObject({ sql_state: '0A000' });
  expect(body.message).toBe(
    'column "n" of split.parquet has the encoding BYTE_STREAM_SPLIT of INT32, which is not supported',
  );
  expect(await cluster.sql('SELECT id FROM odd_values.encodings ORDER BY id')).toEqual([[1], [2], [3]]);
});

describe('Parquet files of a stage', () => {
  const parquet = '(FILE_FORMAT => (TYPE = PARQUET))';
  const refused = async (sql: string) => {
    const { body } = await cluster.query(sql);
    return [body.error, body.sql_state, body.message];
  };

  test('NaN that bounds leave out is found, and loaded', async () => {
    const from = `FROM @lake.odd_values.box/nan.parquet ${parquet}`;
    expect(await cluster.sql(`SELECT id ${from} WHERE d > 5`)).toEqual([[2]]);
    expect(await cluster.sql(`SELECT id ${from} WHERE s.x > 5 AND l[1] = 'nan'`)).toEqual([[2]]);
    await cluster.sql('CREATE TABLE odd_values.loaded (id BIGINT, isLarge BOOLEAN)');
    await cluster.sql(
      'COPY INTO odd_values.loaded FROM (SELECT id, f > 5 FROM @odd_values.box/nan.parquet) FILE_FORMAT = (TYPE = PARQUET)',
    );
    expect(await cluster.sql('SELECT id FROM odd_values.loaded WHERE isLarge')).toEqual([[2]]);
  });

  test('an encoding that DuckDB does not read is not supported', async () => {
    const message = 'column "n" of split.parquet has the encoding BYTE_STREAM_SPLIT of INT32, which is not supported';
    const expected = ['NOT_SUPPORTED', '0A000', message];
    expect(await refused(`SELECT n FROM @lake.odd_values.box/split.parquet ${parquet}`)).toEqual(expected);
    expect(await cluster.sql(`SELECT max(id) FROM @lake.odd_values.box/split.parquet ${parquet}`)).toEqual([[3]]);
    await cluster.sql('CREATE TABLE odd_values.split (id BIGINT, n INT)');
    const load = 'COPY INTO odd_values.split FROM @odd_values.box/split.parquet FILE_FORMAT = (TYPE = PARQUET)';
    expect(await refused(load)).toEqual(expected);
  });

  test('a DECIMAL of 40 digits is refused, not read as another number', async () => {
    const message = 'the column "n" of a file is a DECIMAL of 40 digits; there can be 38';
    const expected = ['INVALID_INPUT_FILE', '58030', expect.stringContaining(message) as string];
    expect(await refused(`SELECT n FROM @lake.odd_values.box/digits.parquet ${parquet}`)).toEqual(expected);
    expect(await cluster.sql(`SELECT id FROM @lake.odd_values.box/digits.parquet ${parquet}`)).toEqual([[1], [2]]);
    await cluster.sql('CREATE TABLE odd_values.digits (id BIGINT, n DOUBLE)');
    const load = 'COPY INTO odd_values.digits FROM @odd_values.box/digits.parquet FILE_FORMAT = (TYPE = PARQUET)';
    expect(await refused(load)).toEqual(expected);
    expect(await cluster.sql('SELECT count(*) FROM odd_values.digits')).toEqual([[0]]);
  });
});
