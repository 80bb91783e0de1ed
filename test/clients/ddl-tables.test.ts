import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '#shared/json.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { python } from '#test/support/python.ts';
import { sharedCluster } from '#test/support/resources.ts';

let cluster: Cluster;
let seen: JsonObject;
beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.sql('CREATE SCHEMA lake.ddl_clients');
  await cluster.sql(`CREATE TABLE lake.ddl_clients.shapes (
      id BIGINT COMMENT 'the key', name VARCHAR, at TIMESTAMP, zoned TIMESTAMPTZ, day DATE, clock TIME, price DECIMAL(12, 3), flag BOOLEAN,
      small SMALLINT, narrow REAL, wide DOUBLE, code UUID, raw BLOB, place STRUCT(x DOUBLE, zip VARCHAR NOT NULL COMMENT 'five digits'),
      tags VARCHAR[], counts MAP(VARCHAR, BIGINT), PRIMARY KEY (id, place.zip))
    PARTITIONED BY (name, year(at), month(zoned), day, hour(at) AS each_hour, bucket(16, id), truncate(4, name), truncate(10, price))
    SORTED BY (id DESC, month(at) NULLS LAST, place.zip) COMMENT 'one of each' WITH ('write.format.default' = 'parquet')`);
  await cluster.sql(`CREATE TABLE lake.ddl_clients.defaults (
      a INT DEFAULT -1, b VARCHAR DEFAULT 'it''s', c DATE DEFAULT '1969-07-20', d DECIMAL(5, 2) DEFAULT 1.5, e BOOLEAN DEFAULT TRUE,
      f BLOB DEFAULT 'A', g DOUBLE DEFAULT 1, h TIMESTAMPTZ DEFAULT '2024-02-29 12:00:00+02:00', i TIMESTAMP_NS)
    WITH ('format-version' = '3')`);
  await cluster.sql('CREATE TABLE lake.ddl_clients.evolved LIKE lake.ddl_clients.shapes');
  for (const edits of [
    'ALTER id TYPE BIGINT, RENAME name TO label, ADD place.country VARCHAR FIRST, DROP wide, ALTER tags FIRST',
    'DROP PARTITION FIELD truncate(4, label), REPLACE PARTITION FIELD bucket(16, id) WITH bucket(32, id), SET SORTED BY (label)',
    'ALTER label SET NOT NULL',
    "SET PROPERTIES ('a' = 'b'), UNSET PROPERTIES ('write.format.default'), ALTER clock COMMENT 'of the wall'",
  ]) {
    await cluster.sql(`ALTER TABLE lake.ddl_clients.evolved ${edits}`);
  }
  await cluster.sql(
    'CREATE TABLE lake.ddl_clients.emptied (l_orderkey BIGINT, l_shipdate DATE) PARTITIONED BY (year(l_shipdate))',
  );
  const file = join(await mkdtemp(join(tmpdir(), 'skein-ddl-')), 'rows.parquet');
  const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
  await duckdb.run(
    `COPY (SELECT range AS l_orderkey, DATE '2020-12-30' + range::INTEGER AS l_shipdate FROM range(6)) TO '${file}'`,
  );
  duckdb.closeSync();
  await cluster.load(['parquet', file, '--table', 'lake.ddl_clients.emptied']);
  await rm(dirname(file), { recursive: true });
  await cluster.sql('TRUNCATE TABLE lake.ddl_clients.emptied');
  const names = ['shapes', 'defaults', 'evolved', 'emptied'].map((name) => `ddl_clients.${name}`);
  const text = await python('test/clients/ddl_tables.py', cluster.catalogUrl, await cluster.token(), ...names);
  seen = JSON.parse(text) as JsonObject;
});

test('PyIceberg reads columns, key, partitions, order, comments and properties of CREATE TABLE', () => {
  expect(seen['ddl_clients.shapes']).toMatchObject({
    version: 2,
    fields: [
      [1, 'id', 'long', true, 'the key', null],
      [2, 'name', 'string', false, null, null],
      [3, 'at', 'timestamp', false, null, null],
      [4, 'zoned', 'timestamptz', false, null, null],
      [5, 'day', 'date', false, null, null],
      [6, 'clock', 'time', false, null, null],
      [7, 'price', 'decimal(12, 3)', false, null, null],
      [8, 'flag', 'boolean', false, null, null],
      [9, 'small', 'int', false, null, null],
      [10, 'narrow', 'float', false, null, null],
      [11, 'wide', 'double', false, null, null],
      [12, 'code', 'uuid', false, null, null],
      [13, 'raw', 'binary', false, null, null],
      [14, 'place', 'struct<17: x: optional double, 18: zip: required string (five digits)>', true, null, null],
      [15, 'tags', 'list<string>', false, null, null],
      [16, 'counts', 'map<string, long>', false, null, null],
    ],
    identifiers: ['id', 'place.zip'],
    partitions: [
      ['name', 'identity', 'name'],
      ['at_year', 'year', 'at'],
      ['zoned_month', 'month', 'zoned'],
      ['day', 'identity', 'day'],
      ['each_hour', 'hour', 'at'],
      ['id_bucket_16', 'bucket[16]', 'id'],
      ['name_trunc_4', 'truncate[4]', 'name'],
      ['price_trunc_10', 'truncate[10]', 'price'],
    ],
    order: [
      ['identity', 'id', 'desc', 'nulls-last'],
      ['month', 'at', 'asc', 'nulls-last'],
      ['identity', 'place.zip', 'asc', 'nulls-first'],
    ],
    properties: { comment: 'one of each', 'write.format.default': 'parquet', owner: cluster.ready.user },
    rows: 0,
  });
});

test('PyIceberg reads defaults', () => {
  const { fields, version } = seen['ddl_clients.defaults'] as JsonObject;
  expect(version).toBe(3);
  expect((fields as readonly unknown[][]).map((field) => [field[2], field[5]])).toEqual([
    ['int', -1],
    ['string', "it's"],
    ['date', '1969-07-20'],
    ['decimal(5, 2)', '1.50'],
    ['boolean', true],
    ['binary', "b'A'"],
    ['double', 1],
    ['timestamptz', '2024-02-29 10:00:00+00:00'],
    ['timestamp_ns', null],
  ]);
});

test('PyIceberg reads what ALTER TABLE has made of a table', () => {
  const { fields, partitions, order, properties } = seen['ddl_clients.evolved'] as JsonObject;
  const columns = (fields as readonly unknown[][]).map(([id, name, type, required]) => [id, name, type, required]);
  expect(columns.slice(0, 3)).toEqual([
    [15, 'tags', 'list<string>', false],
    [1, 'id', 'long', true],
    [2, 'label', 'string', true],
  ]);
  expect(columns.find(([, name]) => name === 'place')?.[2]).toMatch(/^struct<22: country: optional string, 17: x/);
  expect(columns.some(([, name]) => name === 'wide')).toBe(false);
  expect(partitions).toEqual([
    ['name', 'identity', 'label'],
    ['at_year', 'year', 'at'],
    ['zoned_month', 'month', 'zoned'],
    ['day', 'identity', 'day'],
    ['each_hour', 'hour', 'at'],
    ['price_trunc_10', 'truncate[10]', 'price'],
    ['id_bucket_32', 'bucket[32]', 'id'],
  ]);
  expect(order).toEqual([['identity', 'label', 'asc', 'nulls-first']]);
  expect(properties).toMatchObject({ comment: 'one of each', a: 'b' });
  expect(properties).not.toHaveProperty('write.format.default');
});

test('PyIceberg reads a table after TRUNCATE, and which files were deleted', () => {
  expect(seen['ddl_clients.emptied']).toMatchObject({
    rows: 0,
    entries: [
      ['DELETED', 2, 'Record[50]'],
      ['DELETED', 4, 'Record[51]'],
    ],
  });
});
