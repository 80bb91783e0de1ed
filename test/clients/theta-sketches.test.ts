import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { printJson, type Json } from '#shared/json.ts';
import { pythonIn } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';

const TABLE = 'lake.sketched.t';
const ROWS = 50_000;

type Metadata = {
  readonly 'current-snapshot-id': Json;
  readonly statistics: readonly {
    readonly 'snapshot-id': Json;
    readonly 'statistics-path': string;
    readonly 'file-size-in-bytes': number;
    readonly 'file-footer-size-in-bytes': number;
    readonly 'blob-metadata': Json;
  }[];
};

test('DataSketches reads the sketches of ANALYZE, and makes the same of the values', async () => {
  const { cluster } = await sharedCluster();
  await cluster.sql('CREATE SCHEMA lake.sketched');
  await cluster.sql(`CREATE TABLE ${TABLE} (l BIGINT, few BIGINT, s VARCHAR)`);
  await cluster.sql(
    `INSERT INTO ${TABLE} SELECT i * 7919, i % 7 - 3, repeat('ä', i % 40) || i FROM range(${ROWS}) r(i) UNION ALL SELECT NULL, NULL, ''`,
  );
  const sessionId = randomUUID();
  await cluster.sql("SET skein.distribution = 'force'", { sessionId });
  const groups = async (): Promise<string> =>
    JSON.stringify(await cluster.sql(`EXPLAIN (TYPE DISTRIBUTED) SELECT s FROM ${TABLE} GROUP BY s`, { sessionId }));
  // A column without statistics: rows to the power of 0.75.
  expect(await groups()).toContain('rows: 3,344');
  const counts = await cluster.sql(`ANALYZE ${TABLE}`);
  expect(await groups()).toContain(`rows: ${Math.min(Number(counts[2]?.[1]), ROWS + 1).toLocaleString('en-US')}`);
  const { body } = await cluster.catalog('GET', '/v1/lake/namespaces/sketched/tables/t');
  const { metadata } = body as { readonly metadata: Metadata };
  const [file, ...more] = metadata.statistics;
  if (file === undefined) throw new Error('the table has no statistics');
  expect(more).toEqual([]);
  expect(file['snapshot-id']).toEqual(metadata['current-snapshot-id']);
  const path = fileURLToPath(new URL(file['statistics-path']));
  expect((await stat(path)).size).toBe(file['file-size-in-bytes']);
  const blobs = printJson(file['blob-metadata']);
  const answer = await pythonIn('sketches', 'test/clients/theta_sketches.py', path, blobs, String(ROWS));
  const sketches = JSON.parse(answer) as readonly { readonly estimate: number; readonly retained: number }[];
  const [l, few, s] = sketches;
  expect(few).toEqual({ field: 2, estimate: 7, ndv: 7, retained: 7, exact: true, same: true });
  for (const many of [l, s]) {
    expect(many).toMatchObject({ exact: false, same: true, ndv: many?.estimate });
    expect(many?.estimate).toBeGreaterThan(0.94 * ROWS);
    expect(many?.estimate).toBeLessThan(1.06 * ROWS);
    expect(many?.retained).toBeGreaterThan(3_500);
  }
  expect(counts).toEqual([
    ['l', l?.estimate],
    ['few', 7],
    ['s', s?.estimate],
  ]);
  await cluster.sql(`DROP TABLE ${TABLE} PURGE`);
  await cluster.sql('DROP SCHEMA lake.sketched');
});
