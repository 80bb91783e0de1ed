import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Predicate } from '#shared/iceberg/predicate.ts';
import { currentSchema } from '#shared/iceberg/table-metadata.ts';
import { localPath } from '#shared/storage/location.ts';
import { LoadHarness } from '#test/support/load-harness.ts';

let harness: LoadHarness;
beforeAll(async () => {
  harness = await LoadHarness.start();
  await harness.sql(
    `CREATE TABLE people AS SELECT i::BIGINT id, 'name' || i AS name, DATE '2024-01-15' + (i * 10)::INT AS born FROM range(1000) t(i)`,
  );
});
afterAll(() => harness[Symbol.asyncDispose]());

describe('parquet', () => {
  test('--create makes namespace and table; appending adds; the new snapshot stands behind the old', async () => {
    const path = await harness.parquet('people.parquet', 'FROM people');
    const created = await harness.load(['parquet', path, '--table', 'lake.a.b.people', '--create']);
    expect(created).toMatchObject({ code: 0, events: [{ event: 'committed', rows: 1000, files: 1 }] });
    const appended = await harness.load(['parquet', path, path, '--table', 'lake.a.b.people']);
    expect(appended).toMatchObject({ code: 0, events: [{ rows: 1000, files: 1 }] });
    const metadata = await harness.table('lake.a.b.people');
    expect(metadata.formatVersion).toBe(2);
    const current = metadata.snapshots.get(metadata.currentSnapshotId ?? 0n);
    expect(current?.summary).toMatchObject({
      'total-records': '2000',
      'total-data-files': '2',
      'added-records': '1000',
    });
    expect(current?.parentSnapshotId).toBe(BigInt(String(created.events[0]?.['snapshot_id'])));
    expect((await harness.plan('lake.a.b.people')).report).toMatchObject({ manifests: 2, files: 2, rows: 2000 });
  });

  test('many files become few, a large one several, in order', async () => {
    for (let i = 0; i < 4; i++)
      await harness.parquet(`part-${i}.parquet`, `SELECT ${i} AS part, i FROM range(1000) t(i)`);
    const few = await harness.load([
      'parquet',
      join(harness.folder, 'part-*.parquet'),
      '--table',
      'lake.ns.few',
      '--create',
    ]);
    expect(few).toMatchObject({ code: 0, events: [{ rows: 4000, files: 1 }] });
    const overrides = { 'load.data_file_bytes': 4_000, 'load.row_group_rows': 2_048 };
    await harness.parquet('large.parquet', 'SELECT i, hash(i) h FROM range(100000) t(i)');
    const args = ['parquet', join(harness.folder, 'large.parquet'), '--table', 'lake.ns.several', '--create'];
    const several = await harness.load(args, { overrides });
    expect(several.code).toBe(0);
    const { files, sql: loaded } = await harness.plan('lake.ns.several');
    expect(files.length).toBeGreaterThan(10);
    expect(
      await harness.sql(
        `SELECT bool_and(i = r - 1)::VARCHAR ok, count(*)::INT n FROM (SELECT i, row_number() OVER () r FROM ${loaded})`,
      ),
    ).toStrictEqual([{ ok: 'true', n: 100_000 }]);
    const one = await harness.plan('lake.ns.several', { kind: 'compare', op: 'eq', fieldId: 1, value: 34_567n });
    expect(one.files.length).toBe(1);
  });

  test('every transform partitions, and prunes', async () => {
    const path = await harness.parquet(
      'events.parquet',
      `SELECT i::BIGINT id, CASE WHEN i % 7 = 0 THEN NULL ELSE 'né/=%' || i % 5 END AS "a b", (i * 1.11)::DECIMAL(9,2) amount,
         TIMESTAMP '1969-12-30 22:30:00' + to_hours(i::INT) ts, (i % 3 = 0) flag, uuid() u, i::DOUBLE / 3 x, ('x' || i % 4)::BLOB raw
       FROM range(200) t(i)`,
    );
    const by =
      'bucket(4, id), "a b", truncate(50, amount), day(ts), flag, bucket(3, u), truncate(1, raw), bucket(2, "a b")';
    const { code, events } = await harness.load([
      'parquet',
      path,
      '--table',
      'lake.ns.events',
      '--create',
      '--partition-by',
      by,
    ]);
    expect(events).toMatchObject([{ event: 'committed', rows: 200 }]);
    expect(code).toBe(0);
    const all = await harness.plan('lake.ns.events');
    expect(all.report.rows).toBe(200);
    expect(all.files.every(({ path: file }) => /^file:\/\/\/[\w/.-]+$/.test(file))).toBe(true);
    const missing = await harness.sql(`SELECT count(*)::INT n FROM (FROM '${path}' EXCEPT ALL FROM ${all.sql})`);
    expect(missing).toStrictEqual([{ n: 0 }]);
    const one = await harness.plan('lake.ns.events', { kind: 'compare', op: 'eq', fieldId: 1, value: 34n });
    expect(one.files.length).toBe(1);
    const nulls = await harness.plan('lake.ns.events', { kind: 'isNull', fieldId: 2 });
    expect(nulls.report.rows).toBe(29);
    expect(nulls.files[0]?.constants).toMatchObject({ 2: null });
    const data = join(localPath((await harness.table('lake.ns.events')).location), 'data');
    const written = await readdir(data, { recursive: true });
    expect(written.filter((file) => file.endsWith('.parquet'))).toHaveLength(all.files.length);
  });

  test('nested columns keep their ids and counts; NaN, long and empty values are told apart', async () => {
    const path = await harness.parquet(
      'nested.parquet',
      `SELECT {a: i, "b c": [{x: i, y: 'v' || i}]} s, MAP {i: i * 2} m, CASE WHEN i = 3 THEN 'nan'::DOUBLE ELSE i END f,
         repeat('é', 300) || i AS long, i::UBIGINT ub, i::UTINYINT ut, NULL::INT absent, '2024-01-01'::TIMESTAMP_NS AS ns
       FROM range(10) t(i)`,
    );
    expect(await harness.load(['parquet', path, '--table', 'lake.ns.nested', '--create'])).toMatchObject({ code: 0 });
    const { sql: loaded, files } = await harness.plan('lake.ns.nested');
    expect(await harness.sql(`SELECT s, m, f::VARCHAR f FROM ${loaded}`)).toStrictEqual(
      await harness.sql(`SELECT s, m, f::VARCHAR f FROM '${path}'`),
    );
    const ids = await harness.sql(
      `SELECT field_id::INT id FROM parquet_schema('${localPath(files[0]?.path ?? '')}') WHERE field_id IS NOT NULL`,
    );
    expect(new Set(ids.map(({ id }) => id)).size).toBe(15);
    const long = (text: string): Predicate => ({ kind: 'compare', op: 'eq', fieldId: 4, value: text });
    expect((await harness.plan('lake.ns.nested', long(`${'é'.repeat(300)}5`))).files.length).toBe(1);
    expect((await harness.plan('lake.ns.nested', long(`${'é'.repeat(255)}f`))).files.length).toBe(0);
    expect((await harness.plan('lake.ns.nested', { kind: 'notNull', fieldId: 7 })).files.length).toBe(0);
    expect(
      (await harness.plan('lake.ns.nested', { kind: 'compare', op: 'gt', fieldId: 3, value: 100 })).files.length,
    ).toBe(1);
    expect(
      (await harness.plan('lake.ns.nested', { kind: 'compare', op: 'lt', fieldId: 3, value: 0 })).files.length,
    ).toBe(0);
  });

  test('file names that look like patterns or hold quotes', async () => {
    const names = ["it's [1]*?.parquet", 'it1.parquet'];
    for (const [index, name] of names.entries()) {
      await harness.parquet('plain.parquet', `SELECT ${index} AS i`);
      await rename(join(harness.folder, 'plain.parquet'), join(harness.folder, name));
    }
    const args = ['parquet', join(harness.folder, names[0] ?? ''), '--table', 'lake.ns.odd', '--create'];
    expect(await harness.load(args)).toMatchObject({ code: 0, events: [{ rows: 1 }] });
    expect(await harness.sql(`SELECT i FROM ${(await harness.plan('lake.ns.odd')).sql}`)).toStrictEqual([{ i: 0 }]);
  });

  test('a table of no rows', async () => {
    const path = await harness.parquet('empty.parquet', 'FROM people WHERE false');
    expect(await harness.load(['parquet', path, '--table', 'lake.ns.empty', '--create'])).toMatchObject({
      code: 0,
      events: [{ rows: 0, files: 0 }],
    });
    expect((await harness.plan('lake.ns.empty')).files).toStrictEqual([]);
    const { location } = await harness.table('lake.ns.empty');
    expect(await readdir(join(localPath(location), 'data'))).toEqual([]);
  });

  test('--replace takes another shape under the same name', async () => {
    const first = await harness.parquet('shape-1.parquet', `SELECT 1::BIGINT id, 'x' AS v`);
    const second = await harness.parquet('shape-2.parquet', `SELECT 2::BIGINT id, DATE '2024-05-06' AS v, 7::INT w`);
    expect(await harness.load(['parquet', first, '--table', 'lake.ns.shape', '--replace'])).toMatchObject({ code: 0 });
    const args = ['parquet', second, '--table', 'lake.ns.shape', '--replace', '--partition-by', 'month(v)'];
    expect(await harness.load(args)).toMatchObject({ code: 0, events: [{ rows: 1 }] });
    const metadata = await harness.table('lake.ns.shape');
    expect(currentSchema(metadata).fields.map(({ id, name }) => [id, name])).toStrictEqual([
      [1, 'id'],
      [4, 'v'],
      [5, 'w'],
    ]);
    const may: Predicate = { kind: 'compare', op: 'lt', fieldId: 4, value: 19_844n };
    expect((await harness.plan('lake.ns.shape', may)).report).toMatchObject({ files: 1, filesPruned: 1 });
  });

  test('appends that race each other all land', async () => {
    const path = await harness.parquet('race.parquet', 'SELECT 1::BIGINT i');
    await harness.load(['parquet', path, '--table', 'lake.ns.race', '--create']);
    const results = await Promise.all(
      Array.from({ length: 4 }, () => harness.load(['parquet', path, '--table', 'lake.ns.race'])),
    );
    expect(results.map(({ code }) => code)).toStrictEqual([0, 0, 0, 0]);
    expect((await harness.plan('lake.ns.race')).report).toMatchObject({ rows: 5, manifests: 5 });
  });

  test('a table of format version 3 gives its rows ids, and keeps nanoseconds', async () => {
    await harness.post('/namespaces', { namespace: ['v3'] });
    const field = (id: number, name: string, type: string): object => ({ id, name, required: false, type });
    const fields = [field(1, 'id', 'long'), field(2, 'ns', 'timestamp_ns'), field(3, 'us', 'timestamp')];
    const specFields = ['day', 'year', 'hour', 'bucket[4]', 'identity'].map((transform, index) => ({
      name: transform === 'identity' ? 'us' : `ns_${index}`,
      transform,
      // PyIceberg cannot read a partition value of nanoseconds.
      'source-id': transform === 'identity' ? 3 : 2,
      'field-id': 1000 + index,
    }));
    await harness.post('/namespaces/v3/tables', {
      name: 'nanos',
      schema: { type: 'struct', fields },
      'partition-spec': { 'spec-id': 0, fields: specFields },
      properties: { 'format-version': '3' },
    });
    const path = await harness.parquet(
      'nanos.parquet',
      `SELECT i::BIGINT id, make_timestamp_ns(i * 1_234_567_890_123_457) AS ns, make_timestamp(i * 1_234_567_890_123) AS us
         FROM range(-5, 5) t(i)
       UNION ALL SELECT 100, '1959-12-31 23:59:59.999999999'::TIMESTAMP_NS, TIMESTAMP '1959-12-31 23:59:59.999999'
       UNION ALL SELECT 101, NULL, NULL`,
    );
    const args = ['parquet', path, '--table', 'lake.v3.nanos'];
    for (let i = 0; i < 2; i++) expect(await harness.load(args)).toMatchObject({ code: 0, events: [{ rows: 12 }] });
    const metadata = await harness.table('lake.v3.nanos');
    expect(metadata.nextRowId).toBe(24n);
    const { files, sql: loaded } = await harness.plan('lake.v3.nanos');
    expect(files.map(({ firstRowId }) => Number(firstRowId)).sort((a, b) => a - b)).toStrictEqual(
      Array.from({ length: 24 }, (_, i) => i),
    );
    const rows = (from: string): string =>
      `SELECT id::INT id, epoch_ns(ns) ns, us::VARCHAR us FROM ${from} ORDER BY ALL`;
    expect(await harness.sql(`SELECT DISTINCT * FROM (${rows(loaded)}) ORDER BY ALL`)).toStrictEqual(
      await harness.sql(rows(`'${path}'`)),
    );
    const before1960: Predicate = { kind: 'compare', op: 'lt', fieldId: 2, value: -315_619_200_000_000_000n };
    expect((await harness.plan('lake.v3.nanos', before1960)).files.length).toBe(2);
  });

  test('PyIceberg reads partitioned, nested, appended and replaced tables, and computes the same partitions', async () => {
    const found = await harness.inspect(
      'ns.events',
      'ns.nested',
      'a.b.people',
      'ns.shape',
      'ns.empty',
      'ns.several',
      'v3.nanos',
    );
    expect(Object.entries(found).map(([name, { rows, mismatches }]) => [name, rows, mismatches])).toStrictEqual([
      ['ns.events', 200, []],
      ['ns.nested', 10, []],
      ['a.b.people', 2000, []],
      ['ns.shape', 1, []],
      ['ns.empty', 0, []],
      ['ns.several', 100_000, []],
      ['v3.nanos', 24, []],
    ]);
    expect(found['v3.nanos']?.manifests).toStrictEqual(
      [2, 1].map((sequence) => ({
        added_rows_count: 12,
        sequence_number: sequence,
        first_row_id: (sequence - 1) * 12,
        entries: Array.from({ length: 12 }, () => 1),
      })),
    );
    expect(found['ns.nested']?.files[0]?.columns['f']).toMatchObject({
      nan_value_count: '1',
      null_value_count: '0',
      lower_bound: '-0.0',
      upper_bound: '9.0',
    });
  });
});
