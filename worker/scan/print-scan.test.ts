import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ScanColumn, ScanDelete, ScanFile } from '#shared/iceberg/scan-file.ts';
import type { ScanSpec } from '#shared/task/task.ts';
import { tenantId } from '#shared/id.ts';
import type { Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { DeletedPositions } from './deleted-positions.ts';
import { BECOMES_NAN, makeForeign } from '#test/support/foreign-parquet.ts';
import { fileMetadata, list, parquetFile } from '#test/support/hostile-parquet.ts';
import { FooterCache } from './footer-cache.ts';
import type { ReadFooter } from './footer.ts';
import { printScan } from './print-scan.ts';
import { openScanned, type OpenScanned } from './readable-path.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';

let dir: string;
let connection: DuckDBConnection;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'skein-scan-'));
  connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
});

afterAll(() => {
  connection.closeSync();
  rmSync(dir, { recursive: true, force: true });
});

/** Writes a data file; `ids` is DuckDB's FIELD_IDS, or nothing for a file without. */
async function write(name: string, select: string, ids?: string, options = ''): Promise<string> {
  const path = join(dir, name);
  const fieldIds = ids === undefined ? '' : `, FIELD_IDS ${ids}`;
  await connection.run(`COPY (${select}) TO '${path.replaceAll("'", "''")}' (FORMAT parquet${fieldIds}${options})`);
  return path;
}

const column = (fieldId: number, name: string, type: Json, initialDefault: Json = null): ScanColumn => ({
  fieldId,
  name,
  type,
  required: false,
  initialDefault,
});

const file = (path: string, more: Partial<ScanFile> = {}): ScanFile => ({
  path,
  recordCount: 0,
  sizeBytes: 0,
  rows: null,
  constants: {},
  deletes: [],
  firstRowId: null,
  ...more,
});

const scanOf = (
  columns: readonly ScanColumn[],
  files: readonly ScanFile[],
  more: Partial<ScanSpec> = {},
): ScanSpec => ({
  tableName: 'lake.s.t',
  tableUuid: 'u',
  snapshotId: '1',
  schemaId: 0,
  columns,
  files,
  nameMapping: null,
  predicate: { kind: 'true' },
  allowedRoots: [dir],
  credential: FILE_CREDENTIAL,
  ...more,
});

const open = openScanned({ credential: FILE_CREDENTIAL });

/** Footers as one table reads them, through a cache that holds nothing yet unless one is given. */
const footersOf = (tenant: string, tableUuid: string, footers = new FooterCache()): ReadFooter =>
  footers.of(new AbortController().signal, { tenant: tenantId(tenant), tableUuid, open });

const print = (scan: ScanSpec) =>
  printScan(new AbortController().signal, scan, {
    index: 0,
    tenant: tenantId('t'),
    open,
    readFooter: footersOf('t', 'u'),
    positions: new DeletedPositions(1e6),
  });

async function rows(scan: ScanSpec, order = 'ALL'): Promise<unknown[]> {
  const { sql } = await print(scan);
  return (await connection.runAndReadAll(`SELECT * FROM ${sql} AS t ORDER BY ${order}`)).getRowsJson();
}

describe('columns', () => {
  test('the common case is one plain read_parquet', async () => {
    const a = await write('plain-a.parquet', 'SELECT 1 AS a, 2::BIGINT AS b', '{a: 1, b: 2}');
    const b = await write('plain-b.parquet', 'SELECT 3 AS a, 4::BIGINT AS b', '{a: 1, b: 2}');
    const scan = scanOf([column(1, 'a', 'int')], [file(a), file(`file://${b}`)]);
    expect((await print(scan)).sql).toBe(
      `(SELECT CAST(f."a" AS INTEGER) AS "a" FROM read_parquet(['${a}', '${b}'], hive_partitioning = false) AS f)`,
    );
    expect(await rows(scan)).toEqual([[1], [3]]);
  });

  test('renamed, added, dropped, promoted, reordered: by id, never by name', async () => {
    const old = await write(
      'old.parquet',
      "SELECT 1 AS a, 'x' AS b, 1.5::FLOAT AS c, 7 AS gone",
      '{a: 1, b: 2, c: 3, gone: 4}',
    );
    const scan = scanOf(
      [
        column(2, 'a', 'string'),
        column(1, 'renamed', 'long'),
        column(3, 'c', 'double'),
        column(5, 'gone', 'int'),
        column(6, 'added', 'decimal(9, 2)', '12.50'),
      ],
      [file(old)],
    );
    expect(await rows(scan)).toEqual([['x', '1', 1.5, null, '12.50']]);
  });

  test('addresses of rows: file, position, partition, lineage; files of one form share one read_parquet', async () => {
    const one = await write('address-a.parquet', 'SELECT range::INT AS a FROM range(3)', '{a: 1}');
    const two = await write('address-b.parquet', 'SELECT 9 AS a', '{a: 1}');
    const moved = await write(
      'address-c.parquet',
      'SELECT 5 AS a, 40::BIGINT AS _row_id, NULL::BIGINT AS _last_updated_sequence_number',
      '{a: 1, _row_id: 2147483540, _last_updated_sequence_number: 2147483539}',
    );
    const partition = { type: 'struct', fields: [{ id: 1000, name: 'day', required: false, type: 'date' }] };
    const scan = scanOf(
      [
        column(1, 'a', 'int'),
        column(2_147_483_646, '_file', 'string'),
        column(2_147_483_645, '_pos', 'long'),
        column(2_147_483_642, '_partition', partition),
        column(2_147_483_540, '_row_id', 'long'),
        column(2_147_483_539, '_last_updated_sequence_number', 'long'),
      ],
      [
        file(one, { firstRowId: '100', sequenceNumber: '4', partition: { 1000: '2024-02-29' } }),
        file(`file://${two}`, { sequenceNumber: '5', partition: {} }),
        file(moved, { firstRowId: '7', sequenceNumber: '6', partition: {} }),
      ],
    );
    expect(await rows(scan, 'a')).toEqual([
      [0, one, '0', { day: '2024-02-29' }, '100', '4'],
      [1, one, '1', { day: '2024-02-29' }, '101', '4'],
      [2, one, '2', { day: '2024-02-29' }, '102', '4'],
      [5, moved, '0', { day: null }, '40', '6'],
      [9, `file://${two}`, '0', { day: null }, null, null],
    ]);
    expect((await print(scan)).sql.split('read_parquet')).toHaveLength(3);
    expect(await rows(scanOf([column(2_147_483_645, '_pos', 'long')], [file(one)]), '1')).toEqual([
      ['0'],
      ['1'],
      ['2'],
    ]);
  });

  test('files of several schemas are one table', async () => {
    const one = await write('one.parquet', 'SELECT 1 AS a', '{a: 1}');
    const two = await write('two.parquet', 'SELECT 20::BIGINT AS renamed, 3 AS b', '{renamed: 1, b: 2}');
    const scan = scanOf([column(1, 'renamed', 'long'), column(2, 'b', 'int', 9)], [file(one), file(two)]);
    expect(await rows(scan)).toEqual([
      ['1', 9],
      ['20', 3],
    ]);
  });

  test('partition values stand for columns that the file lacks, and come before the default', async () => {
    const path = await write('part.parquet', 'SELECT 1 AS a', '{a: 1}');
    const day = column(2, 'day', 'date', '2000-01-01');
    const scan = scanOf(
      [column(1, 'a', 'int'), day],
      [file(path, { constants: { 1: 99, 2: '2024-02-29' } }), file(path)],
    );
    expect(await rows(scan)).toEqual([
      [1, '2000-01-01'],
      [1, '2024-02-29'],
    ]);
  });

  test('a partition value of null stands before the default, too', async () => {
    const path = await write('part-null.parquet', 'SELECT 1 AS a', '{a: 1}');
    expect(await rows(scanOf([column(2, 'p', 'int', 7)], [file(path, { constants: { 2: null } })]))).toEqual([[null]]);
  });

  test('a column whose name in the file differs from another only in case is refused', async () => {
    const path = await write('twins.parquet', 'SELECT 1 AS aa, 2 AS bb, 3 AS c', '{aa: 1, bb: 2, c: 3}');
    writeFileSync(path, Buffer.from(readFileSync(path, 'latin1').replaceAll('bb', 'aA'), 'latin1'));
    await expect(print(scanOf([column(2, 'b', 'int')], [file(path)]))).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    expect(await rows(scanOf([column(3, 'c', 'int')], [file(path)]))).toEqual([[3]]);
  });

  test.each([
    "q'q.parquet",
    'd"q.parquet',
    '[1]*?.parquet',
    '**.parquet',
    ']].parquet',
    'a{b,c}.parquet',
    'h=%20.parquet',
  ])('a file called %s is read, and no other', async (name) => {
    const path = join(dir, name);
    copyFileSync(await write('odd-name.parquet', 'SELECT 5 AS a', '{a: 1}'), path);
    expect(await rows(scanOf([column(1, 'a', 'int')], [file(path)]))).toEqual([[5]]);
  });

  test('fields inside of structs, lists and maps', async () => {
    const path = await write(
      'nested.parquet',
      `SELECT i, CASE WHEN i = 2 THEN NULL ELSE {'x': i, 'y': 'y' || i} END AS s,
         CASE WHEN i = 2 THEN NULL ELSE [{'p': i, 'q': true}, NULL] END AS l, MAP {'k': {'v': i}} AS m FROM range(1, 3) t(i)`,
      '{i: 1, s: {__duckdb_field_id: 2, x: 3, y: 4}, l: {__duckdb_field_id: 5, element: {__duckdb_field_id: 6, p: 7, q: 8}}, m: {__duckdb_field_id: 9, key: 10, value: {__duckdb_field_id: 11, v: 12}}}',
    );
    const field = (id: number, name: string, type: Json, more = {}): Json => ({
      id,
      name,
      type,
      required: false,
      ...more,
    });
    const columns = [
      column(2, 's', {
        type: 'struct',
        fields: [field(4, 'why', 'string'), field(20, 'new', 'int', { 'initial-default': 5 }), field(3, 'x', 'long')],
      }),
      column(5, 'l', {
        type: 'list',
        'element-id': 6,
        'element-required': false,
        element: { type: 'struct', fields: [field(7, 'pp', 'long')] },
      }),
      column(9, 'm', {
        type: 'map',
        'key-id': 10,
        key: 'string',
        'value-id': 11,
        'value-required': false,
        value: { type: 'struct', fields: [field(12, 'v', 'long'), field(21, 'w', 'string')] },
      }),
    ];
    expect(await rows(scanOf(columns, [file(path)]), 's.x NULLS LAST')).toEqual([
      [{ why: 'y1', new: 5, x: '1' }, [{ pp: '1' }, null], [{ key: 'k', value: { v: '1', w: null } }]],
      [null, null, [{ key: 'k', value: { v: '2', w: null } }]],
    ]);
  });

  test('an unchanged nested column is not taken apart', async () => {
    const path = await write(
      'same.parquet',
      "SELECT {'x': 1, 'y': [2]} AS s",
      '{s: {__duckdb_field_id: 1, x: 2, y: {__duckdb_field_id: 3, element: 4}}}',
    );
    const type = {
      type: 'struct',
      fields: [
        { id: 2, name: 'x', required: false, type: 'int' },
        {
          id: 3,
          name: 'y',
          required: false,
          type: { type: 'list', 'element-id': 4, element: 'int', 'element-required': false },
        },
      ],
    };
    expect((await print(scanOf([column(1, 's', type)], [file(path)]))).sql).not.toContain('struct_pack');
  });

  test('files without ids, by the name mapping', async () => {
    const path = await write('noids.parquet', "SELECT 1 AS record_id, {'lat': 2} AS loc, 9 AS other");
    const nameMapping = [
      { 'field-id': 1, names: ['id', 'record_id'] },
      { 'field-id': 2, names: ['loc'], fields: [{ 'field-id': 3, names: ['latitude', 'lat'] }] },
    ];
    const struct = { type: 'struct', fields: [{ id: 3, name: 'latitude', required: false, type: 'int' }] };
    const columns = [column(1, 'id', 'int'), column(2, 'loc', struct), column(4, 'other', 'int')];
    expect(await rows(scanOf(columns, [file(path)], { nameMapping }))).toEqual([[1, { latitude: 2 }, null]]);
    await expect(print(scanOf(columns, [file(path)]))).rejects.toMatchObject({ code: 'INVALID_TABLE_DATA' });
  });

  test('a scan of no columns has its rows; one of no files has its types', async () => {
    const path = await write('count.parquet', 'SELECT i FROM range(5) t(i)', '{i: 1}');
    const counted = await connection.runAndReadAll(
      `SELECT count(*) FROM ${(await print(scanOf([], [file(path)]))).sql} AS t`,
    );
    expect(counted.getRowsJson()).toEqual([['5']]);
    const empty = await print(scanOf([column(1, 'a', 'decimal(5, 1)'), column(2, 'b', 'string')], []));
    const described = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${empty.sql} AS t`);
    expect(described.getRowsJson().map(([name, type]) => [name, type])).toEqual([
      ['a', 'DECIMAL(5,1)'],
      ['b', 'VARCHAR'],
    ]);
    expect(await rows(scanOf([column(1, 'a', 'int')], []))).toEqual([]);
  });

  test.each(["it's", 'star*', 'what?', 'set[1]', 'p=1', '100%25'])('a path with %s is that path', async (part) => {
    await write('set1.parquet', 'SELECT 0 AS a', '{a: 1}');
    const path = await write(`${part}.parquet`, 'SELECT 1 AS a', '{a: 1}');
    expect(await rows(scanOf([column(1, 'a', 'int')], [file(path)]))).toEqual([[1]]);
  });
});

describe('rows', () => {
  const many = (groups = 4): Promise<string> =>
    write(
      `many-${groups}.parquet`,
      `SELECT i, i // 100 AS g FROM range(${groups * 2048}) t(i)`,
      '{i: 1, g: 2}',
      ', ROW_GROUP_SIZE 2048',
    );
  const countOf = async (scan: ScanSpec): Promise<unknown> => {
    const { sql } = await print(scan);
    return (await connection.runAndReadAll(`SELECT count(*), min(i), max(i) FROM ${sql} AS t`)).getRowsJson()[0];
  };
  const columns = [column(1, 'i', 'long')];

  test('a share of a file has the row groups that begin among its rows, whole', async () => {
    const path = await many();
    const share = (start: number, end: number): ScanSpec => scanOf(columns, [file(path, { rows: { start, end } })]);
    expect(await countOf(share(2048, 5000))).toEqual(['4096', '2048', '6143']);
    expect((await print(share(2048, 5000))).report).toMatchObject({ files: 1, rowGroups: 2, rowGroupsPruned: 0 });
    expect(await countOf(share(2047, 2049))).toEqual(['2048', '2048', '4095']);
    expect(await countOf(share(2049, 4096))).toEqual(['0', null, null]);
    expect((await print(share(2049, 4096))).report).toMatchObject({ files: 0, rowGroups: 0, bytes: 0 });
    // Each row is compared with each bound: the ends of the file need no bound, and a file that is read whole needs no row numbers.
    const bounds = async (scan: ScanSpec): Promise<unknown> =>
      (await print(scan)).sql.match(/file_row_number [<>=]+ \d+/g);
    expect(await bounds(share(2048, 3000))).toEqual(['file_row_number >= 2048', 'file_row_number < 4096']);
    expect(await bounds(share(0, 3000))).toEqual(['file_row_number < 4096']);
    expect(await bounds(share(2048, 99_999))).toEqual(['file_row_number >= 2048']);
    expect(await bounds(share(0, 6145))).toBeNull();
  });

  test('shares that cover a file have each row once, whatever the sizes of its row groups', async () => {
    // Without insertion order DuckDB ends a row group at any chunk, and filtered chunks have all sizes.
    await connection.run('SET preserve_insertion_order = false');
    const select = 'SELECT i FROM range(20000) t(i) WHERE i % 3 > 0 OR i > 9000';
    const path = await write('uneven.parquet', select, '{i: 1}', ', ROW_GROUP_SIZE 2048');
    await connection.run('RESET preserve_insertion_order');
    const sizes = (await footersOf('t', 'u')(file(path))).rowGroups.map((group) => group.rows);
    expect(new Set(sizes).size).toBeGreaterThan(3);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const expected = (await connection.runAndReadAll(`${select} ORDER BY i`)).getRows();
    expect(expected).toHaveLength(total);
    for (const step of [1_000, 2_048, 7_000, total - 1, total]) {
      const starts = Array.from({ length: Math.ceil(total / step) }, (_, i) => i * step);
      const shares = starts.map((start) => file(path, { rows: { start, end: Math.min(start + step, total) } }));
      const scans = await Promise.all(shares.map((share) => print(scanOf(columns, [share]))));
      const all = scans.map(({ sql }) => `SELECT * FROM ${sql} AS t`).join(' UNION ALL ');
      expect((await connection.runAndReadAll(`FROM (${all}) ORDER BY i`)).getRows()).toEqual(expected);
      expect(scans.reduce((sum, { report }) => sum + report.rowGroups, 0)).toBe(sizes.length);
    }
  });

  test('row groups that the predicate rules out are counted, and a file without others is left out', async () => {
    const path = await many();
    const above = (value: bigint): Partial<ScanSpec> => ({
      predicate: { kind: 'compare', op: 'ge', fieldId: 1, value },
    });
    const all = (await print(scanOf(columns, [file(path)]))).report;
    const some = (await print(scanOf(columns, [file(path)], above(6200n)))).report;
    expect(some).toMatchObject({ files: 1, rowGroups: 4, rowGroupsPruned: 3 });
    expect(some.bytes).toBeGreaterThan(0);
    expect(some.bytes).toBeLessThan(all.bytes / 3);
    const none = await print(scanOf(columns, [file(path)], above(99_999n)));
    expect(none.report).toMatchObject({ files: 0, rowGroupsPruned: 4, bytes: 0 });
    expect(none.sql).not.toContain('read_parquet');
  });

  test.each([
    ['DATE', 'timestamp', 1_704_067_200_000_000n],
    ['TIMESTAMP_NS', 'timestamp', 1_704_067_200_000_000n],
    ['TIMESTAMP_MS', 'timestamp', 1_704_067_200_000_000n],
    ['TIMESTAMP', 'timestamp_ns', 1_704_067_200_000_000_000n],
    ['DECIMAL(9, 1)', 'decimal(9, 2)', 500n],
  ])('bounds of a %s are not taken for those of a %s', async (fileType, type, value) => {
    const constant = fileType.startsWith('DECIMAL') ? '5.0' : "'2024-01-01'";
    const path = await write('unit.parquet', `SELECT CAST(${constant} AS ${fileType}) AS a`, '{a: 1}');
    for (const op of ['ge', 'le'] as const) {
      const predicate = { kind: 'compare', op, fieldId: 1, value } as const;
      expect(await rows(scanOf([column(1, 'a', type)], [file(path)], { predicate }))).toHaveLength(1);
    }
  });

  test('bytes count the columns that the plan reads', async () => {
    const both = [column(1, 'i', 'long'), column(2, 'g', 'long')];
    const path = await many();
    const bytes = async (readFieldIds: readonly number[]): Promise<number> =>
      (await print(scanOf(both, [file(path)], { readFieldIds }))).report.bytes;
    const [none, one, two, all] = await Promise.all([bytes([]), bytes([1]), bytes([2]), bytes([1, 2])]);
    expect(none).toBe(0);
    expect(one).toBeGreaterThan(0);
    expect((one ?? 0) + (two ?? 0)).toBe(all);
  });

  test('position deletes, of several files at once and whatever the spelling of the path', async () => {
    const a = await many(4);
    const b = await many(5);
    const deletes = await write(
      'position.parquet',
      `SELECT 'file:${a}' AS file_path, i AS pos FROM range(0, 100) t(i) UNION ALL SELECT '${b}', 10239
       UNION ALL SELECT 'file:///elsewhere.parquet', 5`,
    );
    const position: ScanDelete = { kind: 'position', path: deletes, sizeBytes: 0 };
    const scan = scanOf(columns, [file(a, { deletes: [position] }), file(b, { deletes: [position] })]);
    expect(await countOf(scan)).toEqual([String(8192 - 100 + 10240 - 1), '0', '10238']);
    expect((await print(scan)).sql.match(/ANTI JOIN/g)).toHaveLength(1);
    const share = scanOf(columns, [file(a, { deletes: [position], rows: { start: 0, end: 200 } })]);
    expect(await countOf(share)).toEqual(['1948', '100', '2047']);
  });

  test('a delete file holds for the files that name it alone, and all deleted positions of a table are one join', async () => {
    const data = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        write(`small-${i}.parquet`, `SELECT ${i} * 10 + j AS i FROM range(10) t(j)`, '{i: 1}'),
      ),
    );
    // Each names its own file, and the row 9 of the next one, which is younger.
    const deletes = await Promise.all(
      data.map((path, i) =>
        write(
          `small-deletes-${i}.parquet`,
          `SELECT '${path}' AS file_path, 0 AS pos UNION ALL SELECT '${data[i + 1] ?? path}', 9`,
        ),
      ),
    );
    const files = data.map((path, i) =>
      file(path, { deletes: i === 3 ? [] : [{ kind: 'position', path: must(deletes[i], 'one each'), sizeBytes: 0 }] }),
    );
    const { sql } = await print(scanOf(columns, files));
    expect(sql.match(/ANTI JOIN/g)).toHaveLength(1);
    const all = Array.from({ length: 400 }, (_, i) => i);
    const kept = all.filter((i) => (i % 10 !== 0 || i === 30) && i !== 399);
    // On the build side of a join each branch of a UNION ALL would take its share of the memory.
    await connection.run("SET memory_limit = '64MiB'");
    try {
      const text = `SELECT t.i FROM ${sql} AS t LEFT JOIN ${sql} AS u USING (i) GROUP BY t.i ORDER BY 1`;
      expect((await connection.runAndReadAll(text)).getRows().map(([i]) => Number(i))).toEqual(kept);
    } finally {
      await connection.run('RESET memory_limit');
    }
  });

  test('position deletes of objects, whatever scheme their writer uses', async () => {
    const a = await many(4);
    const b = await many(5);
    const deletes = await write(
      'position-s3.parquet',
      `SELECT 's3a://bucket/t/a' AS file_path, i AS pos FROM range(0, 100) t(i) UNION ALL SELECT 's3n://bucket/t//b', 10239
       UNION ALL SELECT 's3://bucket/t/b', 5`,
    );
    const copies = new Map([
      ['s3://bucket/t/a', a],
      ['s3a://bucket/t//b', b],
      ['s3://bucket/t/deletes', deletes],
    ]);
    const openCopy: OpenScanned = (location) => {
      const path = must(copies.get(location), location);
      const copy = open(path);
      return { ...copy, localPath: () => path, openFile: (_location, tailBytes) => copy.openFile(path, tailBytes) };
    };
    const position: ScanDelete = { kind: 'position', path: 's3://bucket/t/deletes', sizeBytes: 0 };
    const files = ['s3://bucket/t/a', 's3a://bucket/t//b'].map((path) => file(path, { deletes: [position] }));
    const of = { tenant: tenantId('t'), tableUuid: 'u', open: openCopy };
    const { sql } = await printScan(
      new AbortController().signal,
      scanOf(columns, files, { allowedRoots: ['s3://bucket/t'] }),
      {
        index: 0,
        tenant: tenantId('t'),
        open: openCopy,
        readFooter: new FooterCache().of(new AbortController().signal, of),
        positions: new DeletedPositions(1e6),
      },
    );
    const counted = await connection.runAndReadAll(`SELECT count(*) FROM ${sql} AS t`);
    expect(counted.getRowsJson()).toEqual([[String(8192 - 100 + 10240 - 1)]]);
  });

  test('a position delete file whose footer is a bomb does not get as far as DuckDB', async () => {
    const data = await many(1);
    const path = join(dir, 'bomb-deletes.parquet');
    writeFileSync(path, parquetFile(fileMetadata(list('struct', []), 0, list('struct', [], 200_000_000))));
    const scan = scanOf(columns, [file(data, { deletes: [{ kind: 'position', path, sizeBytes: 31 }] })]);
    await expect(print(scan)).rejects.toMatchObject({ code: 'INVALID_TABLE_DATA' });
    const pipe = join(dir, 'pipe-deletes.parquet');
    execFileSync('mkfifo', [pipe]);
    const piped = scanOf(columns, [file(data, { deletes: [{ kind: 'position', path: pipe, sizeBytes: 31 }] })]);
    await expect(print(piped)).rejects.toMatchObject({ code: 'INVALID_TABLE_DATA' });
  });

  test('equality deletes: NULL equals NULL, columns by id, also ones that the scan does not read', async () => {
    const data = await write(
      'eq.parquet',
      "SELECT * FROM (VALUES (1, 'a'), (2, NULL), (3, 'c'), (NULL, 'd')) t(i, s)",
      '{i: 1, s: 2}',
    );
    const bySecond = await write('eq-s.parquet', 'SELECT NULL::VARCHAR AS was_called_so', '{was_called_so: 2}');
    const byBoth = await write(
      'eq-is.parquet',
      "SELECT NULL::INT AS i, 'd' AS s UNION ALL SELECT 3, 'x'",
      '{i: 1, s: 2}',
    );
    const equality = (path: string, ids: readonly ScanColumn[]): ScanDelete => ({
      kind: 'equality',
      path,
      sizeBytes: 0,
      columns: ids,
    });
    const i = column(1, 'i', 'int');
    const s = column(2, 's', 'string');
    const scan = scanOf([i], [file(data, { deletes: [equality(bySecond, [s]), equality(byBoth, [i, s])] })]);
    expect(await rows(scan)).toEqual([[1], [3]]);
  });

  test('equality deletes that do not hold their columns, or hold them inside of a struct, are refused', async () => {
    const data = await write('eq-in.parquet', "SELECT {'x': 1} AS s", '{s: {__duckdb_field_id: 1, x: 2}}');
    const other = await write('eq-other.parquet', 'SELECT 1 AS y', '{y: 3}');
    const struct = { type: 'struct', fields: [{ id: 2, name: 'x', required: false, type: 'int' }] };
    for (const path of [data, other]) {
      const equality: ScanDelete = { kind: 'equality', path, sizeBytes: 0, columns: [column(2, 'x', 'int')] };
      await expect(
        print(scanOf([column(1, 's', struct)], [file(data, { deletes: [equality] })])),
      ).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
    }
  });

  test('a file outside of the allowed roots is refused, data and deletes', async () => {
    const path = await many();
    const allowedRoots = [join(dir, 'inner')];
    await expect(print(scanOf(columns, [file(path)], { allowedRoots }))).rejects.toMatchObject({
      code: 'INVALID_TABLE_DATA',
    });
    const sneaky = file(join(dir, 'inner', '..', 'many-4.parquet'));
    await expect(print(scanOf(columns, [sneaky], { allowedRoots }))).rejects.toMatchObject({
      code: 'INVALID_TABLE_DATA',
    });
    const outside: ScanDelete = { kind: 'position', path: '/etc/passwd', sizeBytes: 0 };
    await expect(print(scanOf(columns, [file(path, { deletes: [outside] })]))).rejects.toMatchObject({
      code: 'INVALID_TABLE_DATA',
    });
  });

  test('a missing file and one that is no Parquet', async () => {
    await expect(print(scanOf(columns, [file(join(dir, 'nope.parquet'))]))).rejects.toMatchObject({
      code: 'STORAGE_ERROR',
      message: 'cannot read the data file nope.parquet',
    });
    execFileSync('sh', ['-c', `printf 'this is no parquet file at all' > ${join(dir, 'text.parquet')}`]);
    await expect(print(scanOf(columns, [file(join(dir, 'text.parquet'))]))).rejects.toMatchObject({
      code: 'INVALID_TABLE_DATA',
      message: 'text.parquet is not a valid Parquet file',
    });
  });
});

test('a footer is kept for the table that read it: another one’s file at the same path is read', async () => {
  const footers = new FooterCache();
  const names = async (tenant: string, tableUuid: string, sizeBytes = 1): Promise<string[]> => {
    const { fields } = await footersOf(tenant, tableUuid, footers)({ path, sizeBytes });
    return fields.map(({ name }) => name);
  };
  const path = await write('passed-on.parquet', 'SELECT 1 AS mine', '{mine: 1}');
  expect(await names('one', 'u')).toEqual(['mine']);
  await write('passed-on.parquet', 'SELECT 1 AS theirs', '{theirs: 1}');
  expect(await names('one', 'u')).toEqual(['mine']);
  expect(await names('two', 'u')).toEqual(['theirs']);
  expect(await names('one', 'v')).toEqual(['theirs']);
  expect(await names('one', 'u', 2)).toEqual(['theirs']);
});

describe('statistics that mislead DuckDB', () => {
  const DOUBLES = [
    column(1, 'i', 'int'),
    column(2, 'd', 'double'),
    column(3, 's', { type: 'struct', fields: [{ id: 4, name: 'x', required: false, type: 'double' }] }),
    column(5, 'l', { type: 'list', 'element-id': 6, 'element-required': false, element: 'double' }),
  ];
  const IDS = '{i: 1, d: 2, s: {__duckdb_field_id: 3, x: 4}, l: {__duckdb_field_id: 5, element: 6}}';
  const NUMBERS = `SELECT i::INT AS i, d, {'x': d} AS s, [d] AS l
    FROM (SELECT i, CASE WHEN i % 5 = 2 THEN ${BECOMES_NAN} ELSE i END::DOUBLE AS d FROM range(10) t(i))`;
  const QUESTIONS = ["d = 'nan'", 'd > 100', 'd <> 1 AND d >= 100', 's.x > 100', 'l[1] > 100', 'NOT (d <= 9)'];
  const idsWhere = async (scan: ScanSpec, condition: string): Promise<unknown[]> => {
    const { sql } = await print(scan);
    return (await connection.runAndReadAll(`SELECT i FROM ${sql} AS t WHERE ${condition} ORDER BY i`)).getRows().flat();
  };

  test('NaN in a file of another writer, whose bounds leave it out', async () => {
    const path = await write('nan.parquet', NUMBERS, IDS, ', COMPRESSION uncompressed');
    makeForeign(path);
    const scan = scanOf(DOUBLES, [file(path)]);
    for (const condition of QUESTIONS) expect(await idsWhere(scan, condition), condition).toEqual([2, 7]);
    const { sql } = await print(scan);
    const [extremes] = (await connection.runAndReadAll(`SELECT min(d), max(d), max(s.x) FROM ${sql} AS t`)).getRows();
    expect(extremes).toEqual([0, Number.NaN, Number.NaN]);
    // Our own pruning of row groups asks the same.
    const compare = { kind: 'compare', op: 'gt', fieldId: 2, value: 100 } as const;
    expect(await idsWhere({ ...scan, predicate: compare }, 'd > 100')).toEqual([2, 7]);
  });

  test('a file whose writer counted no NaN, and one of DuckDB, keep their statistics', async () => {
    const path = await write('no-nan.parquet', NUMBERS.replace(String(BECOMES_NAN), '1'), IDS);
    expect((await print(scanOf(DOUBLES, [file(path)]))).sql).not.toContain('TRY(');
    const above = { kind: 'compare', op: 'gt', fieldId: 2, value: 100 } as const;
    expect((await print(scanOf(DOUBLES, [file(path)], { predicate: above }))).report.rowGroupsPruned).toBe(1);
    makeForeign(path);
    expect((await print(scanOf(DOUBLES, [file(path, { withoutNan: [2, 4, 6] })]))).sql).not.toContain('TRY(');
    const { sql } = await print(scanOf(DOUBLES, [file(path, { withoutNan: [2] })]));
    expect([sql.includes('TRY(f."d")'), sql.includes('TRY(f."s")'), sql.includes('TRY(f."l")')]).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('a Bloom filter that knows 0.0 and -0.0 as different values', async () => {
    const zeros =
      "SELECT i::INT AS i, CASE WHEN i % 2 = 0 THEN '-0.0' ELSE '1' END::DOUBLE AS d FROM range(10000) t(i)";
    const path = await write('zeros.parquet', zeros, '{i: 1, d: 2}');
    const scan = scanOf([column(1, 'i', 'int'), column(2, 'd', 'double')], [file(path)]);
    expect(await idsWhere(scan, 'd = 0')).toHaveLength(5_000);
  });

  test('NULL structs in lists and maps, which DuckDB counts twice', async () => {
    const rows4 = `VALUES (1, [NULL::STRUCT(q INT)]), (2, NULL), (3, [{'q': 9}]), (4, [{'q': 11}, NULL])`;
    const lists = `SELECT i, l, map_from_entries([('k', l[1])]) AS m, {'l': l} AS s FROM (${rows4}) t(i, l)`;
    const ids = `{i: 1, l: {__duckdb_field_id: 2, element: {__duckdb_field_id: 3, q: 4}},
      m: {__duckdb_field_id: 5, key: 6, value: {__duckdb_field_id: 7, q: 8}},
      s: {__duckdb_field_id: 9, l: {__duckdb_field_id: 10, element: {__duckdb_field_id: 11, q: 12}}}}`;
    const path = await write('null-structs.parquet', lists, ids);
    const struct = (id: number) => ({ type: 'struct', fields: [{ id, name: 'q', required: false, type: 'int' }] });
    const listOf = (id: number) => ({
      type: 'list',
      'element-id': id,
      'element-required': false,
      element: struct(id + 1),
    });
    const map = { type: 'map', 'key-id': 6, key: 'string', 'value-id': 7, 'value-required': false, value: struct(8) };
    const outer = { type: 'struct', fields: [{ id: 10, name: 'l', required: false, type: listOf(11) }] };
    const columns = [column(1, 'i', 'int'), column(2, 'l', listOf(3)), column(5, 'm', map), column(9, 's', outer)];
    const scan = scanOf(columns, [file(path)]);
    for (const value of ['l[1].q', "m['k'].q", 's.l[1].q']) {
      expect(await idsWhere(scan, `${value} IS NOT NULL`), value).toEqual([3, 4]);
      expect(await idsWhere(scan, `${value} + i > 12`), value).toEqual([4]);
    }
  });

  test('a DECIMAL of more digits than DuckDB has is refused', async () => {
    const path = await write('decimal.parquet', 'SELECT 1 AS i, 1.5::DECIMAL(38, 2) AS d', '{i: 1, d: 2}');
    const text = readFileSync(path, 'latin1');
    // The precision 38 as a zigzag varint of the field 8, which follows the scale.
    writeFileSync(path, text.replace('\x15\x04\x15\x4c', '\x15\x04\x15\x50'), 'latin1');
    const scan = scanOf([column(1, 'i', 'int'), column(2, 'd', 'decimal(38, 2)')], [file(path)]);
    await expect(print(scan)).rejects.toMatchObject({
      code: 'INVALID_TABLE_DATA',
      message: expect.stringContaining('DECIMAL of 40 digits') as string,
    });
  });
});
