import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { queryId, tenantId } from '#shared/id.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import { CopyReader, type CopiedFiles, type ReadsMessage } from './copied-files.ts';
import { DiskCache, type DiskCacheOptions } from './disk-cache.ts';
import { dataPath, journalOf, type KeptObject } from './kept-objects.ts';
import { patience } from '#test/support/run/slowness.ts';

const MIB = 2 ** 20;

let dir: string;
let caches: DiskCache[] = [];
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'skein-disk-cache-'));
  const duckdb = await (await DuckDBInstance.create()).connect();
  for (let i = 0; i < 6; i++) {
    await duckdb.run(
      `COPY (SELECT j, hash(j + ${i}) AS h FROM range(60_000) t(j)) TO '${dir}/${i}.parquet' (FORMAT parquet)`,
    );
  }
});
afterEach(() => {
  for (const cache of caches) cache[Symbol.dispose]();
  caches = [];
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function open(options: Partial<DiskCacheOptions> = {}): { cache: DiskCache; folder: string; reader: CopyReader } {
  const folder = mkdtempSync(join(dir, 'cache-'));
  const log = silentLogger;
  const cache = new DiskCache({
    folder,
    keptFolder: join(folder, 'kept'),
    bytesMax: 64 * MIB,
    fileBytesMin: 1,
    unusedMs: 60_000,
    log,
    ...options,
  });
  caches.push(cache);
  const tell = (message: ReadsMessage): void => cache.take(message);
  return { cache, folder, reader: new CopyReader(must(cache.settings, 'it has copies'), tell) };
}

const file = (name: string): Parameters<CopiedFiles['pathOf']>[0] => {
  const local = join(dir, name);
  return { tableUuid: 'u', path: `file://${local}`, sizeBytes: statSync(local).size, local, isWorthCopying: true };
};

let queries = 0;
/** The paths by which one query of a tenant reads files. */
function read(reader: CopyReader, names: readonly string[], tenant = 'a'): readonly string[] {
  using copies = reader.of({ tenant: tenantId(tenant), queryId: queryId(`q${++queries}`) });
  const paths = names.map((name) => copies.pathOf(file(name)));
  copies.tellReads();
  return paths;
}

/** Reads until nothing more is to be copied; what a thread has told is told again after a second. */
const settled = (cache: DiskCache): Promise<void> => vi.waitFor(() => expect(cache.waiting).toBe(0), patience(20_000));
const newReader = (cache: DiskCache): CopyReader =>
  new CopyReader(must(cache.settings, 'it has copies'), (message) => cache.take(message));

async function copied(cache: DiskCache, names: readonly string[], tenant = 'a'): Promise<void> {
  for (let i = 0; i < 2; i++) read(newReader(cache), names, tenant);
  await settled(cache);
}

test('a file that two queries read is copied, and the third reads the copy', async () => {
  const { cache, folder, reader } = open();
  expect(read(reader, ['0.parquet'])).toEqual([join(dir, '0.parquet')]);
  await settled(cache);
  expect(cache.count).toBe(0);
  read(newReader(cache), ['0.parquet', '1.parquet']);
  await settled(cache);
  const [copy = '', other = ''] = read(reader, ['0.parquet', '1.parquet']);
  expect(copy.startsWith(folder)).toBe(true);
  expect(other).toBe(join(dir, '1.parquet'));
  expect(cache.bytes).toBe(statSync(copy).size);
  expect(read(reader, ['0.parquet'], 'b')).toEqual([join(dir, '0.parquet')]);
});

test('the tasks of one query are one read', async () => {
  const { cache } = open();
  for (let i = 0; i < 3; i++) {
    using copies = newReader(cache).of({ tenant: tenantId('a'), queryId: queryId('same') });
    copies.pathOf(file('0.parquet'));
    copies.tellReads();
  }
  await settled(cache);
  expect(cache.count).toBe(0);
});

test('files that are small, not packed or read in part are left alone, and so is what is no file', async () => {
  const { cache } = open({ fileBytesMin: MIB });
  await copied(cache, ['0.parquet']);
  expect(cache.count).toBe(0);
  const { cache: other } = open();
  writeFileSync(join(dir, 'broken.parquet'), 'PAR1');
  await copied(other, ['broken.parquet']);
  expect(other.count).toBe(0);
  for (let i = 0; i < 2; i++) {
    using copies = newReader(other).of({ tenant: tenantId('a'), queryId: queryId(`part-${i}`) });
    copies.pathOf({ ...file('0.parquet'), isWorthCopying: false });
    copies.tellReads();
  }
  await settled(other);
  expect(other.count).toBe(0);
});

test('room is limited; what is read now stays', async () => {
  const { cache, folder, reader } = open({ bytesMax: 4 * MIB });
  await copied(cache, ['0.parquet', '1.parquet', '2.parquet'], 'a');
  const bytes = cache.bytes;
  expect(cache.count).toBe(3);
  using copies = reader.of({ tenant: tenantId('a'), queryId: queryId('held') });
  const held = ['0.parquet', '1.parquet'].map((name) => copies.pathOf(file(name)));
  await copied(cache, ['3.parquet', '4.parquet'], 'b');
  expect(cache.bytes).toBeLessThanOrEqual(4 * MIB);
  expect(held.every((path) => existsSync(path))).toBe(true);
  expect(read(reader, ['3.parquet'], 'b')[0]).not.toBe(join(dir, '3.parquet'));
  const files = (): number =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
  await vi.waitFor(() => expect(files()).toBe(cache.count));
  expect(bytes / 3).toBeLessThan(MIB);
});

test('a copy that cannot be read is given up', async () => {
  const { cache, reader } = open();
  await copied(cache, ['0.parquet']);
  using copies = reader.of({ tenant: tenantId('a'), queryId: queryId('q') });
  const path = copies.pathOf(file('0.parquet'));
  expect(copies.giveUpAfter(new SkeinError('OUT_OF_MEMORY', 'too large'))).toBe(false);
  expect(copies.giveUpAfter(new SkeinError('INVALID_TABLE_DATA', 'no magic bytes'))).toBe(true);
  expect(cache.count).toBe(0);
  await vi.waitFor(() => expect(existsSync(path)).toBe(false));
});

test('copies that nobody uses go', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'Date'], shouldAdvanceTime: true });
  try {
    const { cache, reader } = open();
    await copied(cache, ['0.parquet', '1.parquet']);
    expect(cache.count).toBe(2);
    vi.advanceTimersByTime(50_000);
    read(reader, ['0.parquet']);
    vi.advanceTimersByTime(40_000);
    expect(cache.count).toBe(1);
    vi.advanceTimersByTime(100_000);
    expect(cache.count).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test('without room for copies there are none', () => {
  using cache = new DiskCache({
    folder: dir,
    keptFolder: join(dir, 'kept'),
    bytesMax: 0,
    fileBytesMin: 1,
    unusedMs: 1,
    log: silentLogger,
  });
  expect(cache.settings).toBeNull();
});

test('a folder that is gone ends nothing', async () => {
  const { cache, folder } = open();
  rmSync(folder, { recursive: true });
  writeFileSync(folder, '');
  await copied(cache, ['0.parquet']);
  expect(cache.count).toBe(0);
  rmSync(folder);
  mkdirSync(folder);
  await copied(cache, ['1.parquet']);
  expect(cache.count).toBe(1);
});

/** A kept object of a tenant, as a slot makes it. */
function keep(folder: string, name: string, bytes: number, tenant = 'a'): KeptObject {
  const path = dataPath(join(folder, 'kept', tenant, name), 'id');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, Buffer.alloc(bytes));
  writeFileSync(journalOf(path), 'journal');
  return { key: `${tenant}/${name}`, tenant, path, bytes };
}

const note = (cache: DiskCache, object: KeptObject): void => cache.take({ kind: 'object', ...object });
const isGone = (object: KeptObject): Promise<void> =>
  vi.waitFor(
    () => expect([existsSync(object.path), existsSync(journalOf(object.path))]).toEqual([false, false]),
    5_000,
  );

test('objects have the same room; one that is read once takes nothing from those that are read often', async () => {
  vi.useFakeTimers({ now: Date.now(), toFake: ['Date'] });
  try {
    const { cache, folder } = open({ bytesMax: 3 * MIB });
    const often = keep(folder, 'often', 2 * MIB);
    for (let i = 0; i < 4; i++) {
      note(cache, often);
      vi.setSystemTime(Date.now() + 2_000);
    }
    const once = keep(folder, 'once', 2 * MIB);
    note(cache, once);
    await isGone(once);
    expect([cache.bytes, existsSync(often.path)]).toEqual([2 * MIB, true]);
    // The one that nobody reads any more gives way.
    vi.setSystemTime(Date.now() + 3_600_000);
    const later = keep(folder, 'later', 2 * MIB);
    note(cache, later);
    await isGone(often);
    expect([cache.bytes, existsSync(later.path)]).toEqual([2 * MIB, true]);
  } finally {
    vi.useRealTimers();
  }
});

test('the tenant with most gives way to another one, but nothing that a task has in use', async () => {
  const { cache, folder } = open({ bytesMax: 4 * MIB });
  const [one, two] = [keep(folder, 'one', 2 * MIB), keep(folder, 'two', 2 * MIB)];
  note(cache, one);
  note(cache, two);
  linkSync(one.path, join(folder, 'held-one'));
  const other = keep(folder, 'other', MIB, 'b');
  note(cache, other);
  await isGone(two);
  expect([existsSync(one.path), existsSync(other.path), cache.bytes]).toEqual([true, true, 3 * MIB]);
  linkSync(other.path, join(folder, 'held-other'));
  const more = keep(folder, 'more', 3 * MIB, 'b');
  note(cache, more);
  await isGone(more);
});

test('an object that has grown needs more room; objects of an earlier process are taken as far as there is room', async () => {
  const { cache, folder } = open({ bytesMax: 4 * MIB });
  const grown = keep(folder, 'grown', MIB);
  note(cache, grown);
  note(cache, { ...grown, bytes: 3 * MIB });
  expect(cache.bytes).toBe(3 * MIB);
  const next = new DiskCache({
    folder,
    keptFolder: join(folder, 'kept'),
    bytesMax: 3 * MIB,
    fileBytesMin: 1,
    unusedMs: 1,
    log: silentLogger,
  });
  caches.push(next);
  const [early, late] = [keep(folder, 'early', 2 * MIB), keep(folder, 'late', 2 * MIB)];
  utimesSync(early.path, 1, 1);
  utimesSync(late.path, 2_000_000_000, 1);
  await next.adopt();
  expect([existsSync(early.path), existsSync(late.path), existsSync(grown.path)]).toEqual([false, true, true]);
  expect(next.bytes).toBeLessThanOrEqual(3 * MIB + 8_192);
  next.clear();
  await isGone(late);
});
