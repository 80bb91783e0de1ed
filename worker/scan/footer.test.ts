import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tenantId } from '#shared/id.ts';
import {
  binary,
  columnChunk,
  fileMetadata,
  groupElement,
  leafElement,
  list,
  parquetFile,
  rowGroup,
  struct,
  varint,
  zigzag,
} from '#test/support/hostile-parquet.ts';
import { FooterCache } from './footer-cache.ts';
import type { Footer, ReadFooter } from './footer.ts';
import { fileStorage } from '#test/support/file-storage.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const MIB = 2 ** 20;
/** Limit of thread CPU time. Each of these footers once took more than a minute, or did not end. */
const CPU_MS_MAX = 1_000;
const MEMORY_BYTES_MAX = 256 * MIB;

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'skein-footer-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const reader = (): ReadFooter =>
  new FooterCache().of(new AbortController().signal, {
    tenant: tenantId('t'),
    tableUuid: 'u',
    open: () => fileStorage,
  });

let files = 0;
async function read(bytes: Uint8Array): Promise<Footer> {
  const path = join(dir, `${files++}.parquet`);
  writeFileSync(path, bytes);
  return reader()({ path, sizeBytes: bytes.length });
}

/** Checks that a promise settles within bounds of thread CPU time and process memory. */
async function cheaply<T>(work: () => Promise<T>): Promise<T> {
  const memory = process.resourceUsage().maxRSS * 1024;
  const before = process.threadCpuUsage();
  try {
    return await work();
  } finally {
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(CPU_MS_MAX * machineSlowness());
    expect(process.resourceUsage().maxRSS * 1024 - memory).toBeLessThan(MEMORY_BYTES_MAX);
  }
}

const schemaOf = (...leaves: readonly Uint8Array[]): Buffer =>
  list('struct', [groupElement('root', leaves.length), ...leaves]);
const A = schemaOf(leafElement('a', 1));
const groups = (count: number, group: Uint8Array): Buffer =>
  list(
    'struct',
    Array.from({ length: count }, () => group),
  );

describe('a footer', () => {
  test('columns, row groups and statistics', async () => {
    const statistics = [
      [3, 'int64', zigzag(2)],
      [5, 'binary', binary(Buffer.from(Int32Array.of(9).buffer))],
      [6, 'binary', binary(Buffer.from(Int32Array.of(-9).buffer))],
    ] as const;
    const chunk = columnChunk({ rows: 7, bytes: 100, statistics });
    const { fields, rowGroups } = await read(parquetFile(fileMetadata(A, 14, groups(2, rowGroup(7, [chunk])))));
    expect(fields.map(({ name, id, kind }) => [name, id, kind])).toEqual([['a', 1, 'primitive']]);
    expect(rowGroups.map(({ startRow, rows, bytes }) => [startRow, rows, [...bytes]])).toEqual([
      [0, 7, [100]],
      [7, 7, [100]],
    ]);
    expect(rowGroups[1]?.stats(0)).toEqual({ lower: -9n, upper: 9n, nullCount: 2, valueCount: 7 });
  });

  test('fields that are not known are passed over, of every type', async () => {
    const more = [
      [20, 'list', list('list', [list('int32', [zigzag(1)])])],
      [21, 'map', Buffer.concat([varint(1), Buffer.of(0x88), binary('key'), binary('value')])],
      [22, 'struct', struct([1, 'flag', Buffer.alloc(0)], [2, 'byte', Buffer.of(1)])],
      [23, 'binary', binary('text')],
    ] as const;
    const schema = schemaOf(struct([1, 'int32', zigzag(1)], [4, 'binary', binary('a')], ...more));
    const { fields } = await read(parquetFile(fileMetadata(schema, 0, list('struct', []))));
    expect(fields.map(({ name, id }) => [name, id])).toEqual([['a', null]]);
  });
});

describe('hostile', () => {
  const corrupt = { code: 'INVALID_TABLE_DATA' };
  const tooComplex = { code: 'TABLE_DATA_TOO_COMPLEX' };
  const chunk = columnChunk({ rows: 1 });

  test('45 bytes of lists in lists, each of which says it has 33 million elements', async () => {
    const nested = Array.from({ length: 6 }).reduce<Buffer>(
      (inner) => list('list', [inner], 2 ** 25 - 1),
      Buffer.of(0),
    );
    const file = parquetFile(struct([1, 'list', nested]));
    expect(file.length).toBeLessThan(46);
    await cheaply(() => expect(read(file)).rejects.toMatchObject(corrupt));
  });

  test.each([
    ['a list of columns longer than the file', fileMetadata(list('struct', [], 2 ** 31), 0, list('struct', []))],
    [
      'columns that have more columns than there are',
      fileMetadata(list('struct', [groupElement('r', 2 ** 30)]), 0, groups(0, chunk)),
    ],
    ['a negative number of columns', fileMetadata(list('struct', [groupElement('r', -1)]), 0, groups(0, chunk))],
    [
      'columns that belong to nothing',
      fileMetadata(list('struct', [groupElement('r', 0), leafElement('a', 1)]), 0, groups(0, chunk)),
    ],
    [
      'a name longer than the file',
      fileMetadata(schemaOf(struct([1, 'int32', zigzag(1)], [4, 'binary', varint(2 ** 40)])), 0, groups(0, chunk)),
    ],
    ['a row group without its columns', fileMetadata(A, 1, groups(1, rowGroup(1, [])))],
    ['a row group with more columns', fileMetadata(A, 1, groups(1, rowGroup(1, [chunk, chunk])))],
    ['a negative number of rows', fileMetadata(A, 1, groups(1, rowGroup(-1, [chunk])))],
    ['more rows than can be counted', fileMetadata(A, 1, groups(3, rowGroup(2 ** 52, [chunk])))],
    ['a negative size', fileMetadata(A, 1, groups(1, rowGroup(1, [columnChunk({ rows: 1, bytes: -1 })])))],
    ['no schema', struct([1, 'int32', zigzag(1)])],
    ['structs a thousand deep', Buffer.alloc(1_000, 0x1c)],
    ['lists a thousand deep', Buffer.concat([Buffer.of(0x19), Buffer.alloc(1_000, 0x19)])],
    ['no end', Buffer.alloc(100, 0x15)],
    ['nothing', Buffer.alloc(0)],
  ])('%s', async (_what, metadata) => {
    await cheaply(() => expect(read(parquetFile(metadata))).rejects.toMatchObject(corrupt));
  });

  test('a length of the footer beyond the file', async () => {
    await cheaply(() => expect(read(parquetFile(Buffer.of(0), 0xffff_ffff))).rejects.toMatchObject(corrupt));
  });

  /** A varint whose bytes all say that another follows. */
  test('a number of half a million bytes, which took minutes to add up', async () => {
    const endless = Buffer.concat([Buffer.alloc(500_000, 0xff), Buffer.of(1)]);
    const file = parquetFile(struct([1, 'int64', endless], [2, 'list', A], [4, 'list', groups(0, chunk)]));
    await cheaply(() => expect(read(file)).rejects.toMatchObject(corrupt));
  });

  test('statistics of a decimal of a megabyte, whose digits took a time that grows with their square', async () => {
    const decimal = leafElement('a', 1, 7, [[6, 'int32', zigzag(5)]]);
    const bound = binary(Buffer.alloc(MIB, 0x7f));
    const statistics = [
      [5, 'binary', bound],
      [6, 'binary', bound],
    ] as const;
    const group = rowGroup(1, [columnChunk({ rows: 1, type: 7, statistics })]);
    await cheaply(async () => {
      const { rowGroups } = await read(parquetFile(fileMetadata(schemaOf(decimal), 1, groups(1, group))));
      expect(rowGroups[0]?.stats(0)).toEqual({
        lower: undefined,
        upper: undefined,
        nullCount: undefined,
        valueCount: 1,
      });
    });
  });

  test('a long text is no bound, as it would be decoded for every comparison', async () => {
    const text = leafElement('a', 1, 6, [[6, 'int32', zigzag(0)]]);
    const statistics = [[6, 'binary', binary('x'.repeat(MIB))]] as const;
    const group = rowGroup(1, [columnChunk({ rows: 1, type: 6, statistics })]);
    const { rowGroups } = await read(parquetFile(fileMetadata(schemaOf(text), 1, groups(1, group))));
    expect(rowGroups[0]?.stats(0)?.lower).toBeUndefined();
  });

  test.each([
    ['row groups', () => fileMetadata(schemaOf(), 0, groups(100_001, rowGroup(0, [])))],
    [
      'column chunks',
      () =>
        fileMetadata(
          schemaOf(...Array.from({ length: 10 }, (_, i) => leafElement('a', i))),
          0,
          groups(50_001, Buffer.of(0)),
        ),
    ],
    [
      'columns',
      () =>
        fileMetadata(schemaOf(...Array.from({ length: 50_000 }, (_, i) => leafElement('a', i))), 0, groups(0, chunk)),
    ],
    ['a name', () => fileMetadata(schemaOf(leafElement('a'.repeat(1_025), 1)), 0, groups(0, chunk))],
    [
      'columns inside of one another',
      () =>
        fileMetadata(
          list('struct', [...Array.from({ length: 300 }, () => groupElement('a', 1)), leafElement('a', 1)]),
          0,
          groups(0, chunk),
        ),
    ],
    ['steps', () => struct([20, 'list', list('byte', [Buffer.alloc(40 * MIB)], 40 * MIB)])],
  ])('too many or too much: %s', async (_what, metadata) => {
    const file = parquetFile(metadata());
    await cheaply(() => expect(read(file)).rejects.toMatchObject(tooComplex));
  });

  test('a footer of more than 64 MiB is not read', async () => {
    const file = parquetFile(Buffer.alloc(64 * MIB + 1));
    await cheaply(() => expect(read(file)).rejects.toMatchObject(tooComplex));
  });

  test('half a million column chunks, which is what a file may have, are read with pauses', async () => {
    const schema = schemaOf(...Array.from({ length: 1_000 }, (_, i) => leafElement(`a${i}`, i + 1)));
    const group = rowGroup(
      1,
      Array.from({ length: 1_000 }, () => chunk),
    );
    const file = parquetFile(fileMetadata(schema, 500, groups(500, group)));
    let turns = 0;
    const ticker = setInterval(() => turns++, 1);
    try {
      expect((await cheaply(() => read(file))).rowGroups).toHaveLength(500);
    } finally {
      clearInterval(ticker);
    }
    expect(turns).toBeGreaterThan(10);
  });

  test('a pipe, which would be waited for in one of the few threads that all file access shares', async () => {
    const path = join(dir, 'pipe.parquet');
    execFileSync('mkfifo', [path]);
    await expect(reader()({ path, sizeBytes: 100 })).rejects.toMatchObject(corrupt);
    await expect(reader()({ path: dir, sizeBytes: 100 })).rejects.toMatchObject(corrupt);
  });
});
