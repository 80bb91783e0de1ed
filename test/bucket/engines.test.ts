import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBucketCatalog, type BucketCatalog } from '#test/support/bucket-catalog.ts';
import { projectRoot } from '#test/support/cluster.ts';
import type { TestCatalog } from '#test/support/catalog.ts';
import { loadIceberg } from '#test/support/duckdb-extension.ts';
import { MINIO_BUILD_MS } from '#test/support/minio.ts';
import { python, pythonIn } from '#test/support/python.ts';
import { hasDone, printMatrix } from './engine-matrix.ts';

/** Engines that create, write, read and delete in a bucket with nothing but a token of the catalog; the README has what this finds. */

let store: BucketCatalog;
let catalog: TestCatalog;

beforeAll(async () => {
  store = await startBucketCatalog();
  ({ catalog } = store);
}, MINIO_BUILD_MS);

afterAll(() => store?.[Symbol.asyncDispose]());

test('PyIceberg, by vended credentials', async () => {
  const seen: unknown = JSON.parse(
    await python('test/bucket/pyiceberg_vended.py', catalog.running.url, catalog.token, 'cloud'),
  );
  expect(seen).toMatchObject({ rows: [1, 2, 3], kept: [1, 3], appended: [1, 3, 4] });
  hasDone('PyIceberg 0.12.0', 'vended credentials', 'create, write, read, delete');
});

test('PyIceberg, by signatures', async () => {
  const seen: unknown = JSON.parse(
    await pythonIn('signing', 'test/bucket/pyiceberg_signed.py', catalog.running.url, catalog.token, 'cloud'),
  );
  expect(seen).toMatchObject({ rows: [1, 2, 3], appended: [1, 2, 3, 4], kept: [1, 3, 4] });
  hasDone('PyIceberg 0.12.0', 'signatures', 'create, write, read, delete (s3fs 2025.10.0)');
}, 300_000);

test('DuckDB’s extension, by vended credentials', async () => {
  const instance = await DuckDBInstance.create(':memory:', {
    allow_unsigned_extensions: 'true',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    threads: '2',
  });
  const duckdb = await instance.connect();
  try {
    for (const sql of await loadIceberg()) await duckdb.run(sql);
    await duckdb.run(
      `ATTACH 'cloud' AS cloud (TYPE iceberg, ENDPOINT '${catalog.running.url}', TOKEN '${catalog.token}')`,
    );
    await duckdb.run('CREATE SCHEMA cloud.duck');
    await duckdb.run('CREATE TABLE cloud.duck.t (a BIGINT)');
    await duckdb.run('INSERT INTO cloud.duck.t SELECT i FROM range(1000) AS r(i)');
    await duckdb.run('DELETE FROM cloud.duck.t WHERE a >= 500');
    const rows = (await duckdb.runAndReadAll('SELECT count(*), sum(a)::BIGINT FROM cloud.duck.t')).getRowsJson();
    expect(rows).toEqual([['500', '124750']]);
    await duckdb.run('DROP TABLE cloud.duck.t');
  } finally {
    duckdb.closeSync();
    instance.closeSync();
  }
  hasDone('DuckDB 1.5.5, iceberg extension', 'vended credentials', 'create, write, read, delete');
});

test('the README has the matrix', async () => {
  expect(await readFile(join(projectRoot, 'catalog/README.md'), 'utf8')).toContain(printMatrix());
});
