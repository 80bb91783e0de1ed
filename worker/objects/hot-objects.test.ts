import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { queryId } from '#shared/id.ts';
import { fileCredential } from '#shared/storage/credential.ts';
import { HotObjects, type HotPart } from './hot-objects.ts';

const MIB = 2 ** 20;
const CACHE_BYTES = 64 * MIB;

/** The numbers of queries at which the rest of the object is due. */
function dueAt(hot: HotObjects, queries: number, tasks = 1): readonly number[] {
  return Array.from({ length: queries }, (_, i) => i + 1).filter((i) => {
    const answers = Array.from({ length: tasks }, () => hot.isDue('a', queryId(`q${i}`)));
    return answers.some(Boolean);
  });
}

test('an object is due at its fourth query, and then ever more rarely', () => {
  expect(dueAt(new HotObjects(CACHE_BYTES), 40)).toEqual([4, 8, 16, 32]);
});

test('the tasks of a query are one read, and objects are counted by themselves', () => {
  const hot = new HotObjects(CACHE_BYTES);
  expect(dueAt(hot, 5, 3)).toEqual([4]);
  expect(hot.isDue('b', queryId('other'))).toBe(false);
});

test('the count begins again after an hour', async () => {
  const hot = new HotObjects(CACHE_BYTES);
  dueAt(hot, 3);
  const later = performance.now() + 3_700_000;
  vi.spyOn(performance, 'now').mockReturnValue(later);
  try {
    // The library asks for the time once in a millisecond.
    await sleep(10);
    expect(hot.isDue('a', queryId('late'))).toBe(false);
  } finally {
    vi.restoreAllMocks();
  }
});

const SIZE = 8 * MIB;

/** A part of an object, and what was asked of it. */
function part(copy: Partial<HotPart['copy']> = {}): { readonly hot: HotPart; readonly fetched: unknown[] } {
  const fetched: unknown[] = [];
  const facts = { sizeBytes: SIZE, etag: 'e', checksums: null };
  const fetch: HotPart['copy']['fetch'] = async (_signal, { wanted }) => void fetched.push(wanted?.ranges);
  const wanted = { borders: Float64Array.of(0, 10, SIZE), ranges: [{ start: 0, end: 10 }] };
  const own = { facts, bytes: SIZE / 2, isWhole: false, journal: '/kept/j', fetch, ...copy };
  return { hot: { copy: own, credential: fileCredential('file:///'), location: 'file:///o', wanted }, fetched };
}

test('a third of the object and more is completed', async () => {
  for (const bytes of [SIZE / 3, SIZE / 2]) {
    const { hot, fetched } = part({ bytes });
    await new HotObjects(CACHE_BYTES).complete(hot);
    expect(fetched).toEqual([[{ start: 0, end: SIZE }]]);
  }
});

test.each([
  ['of which little is here', { bytes: SIZE / 3 - 1 }],
  ['that is whole', { isWhole: true }],
  ['that the cache does not keep', { journal: undefined }],
  [
    'whose copy would take too much of the cache',
    { facts: { sizeBytes: CACHE_BYTES, etag: 'e', checksums: null }, bytes: CACHE_BYTES / 2 },
  ],
])('an object %s is left alone', async (_what, copy) => {
  const { hot, fetched } = part(copy);
  await new HotObjects(CACHE_BYTES).complete(hot);
  expect(fetched).toEqual([]);
});

test('one comes after the other, few wait, and a store that fails harms nobody', async () => {
  const hot = new HotObjects(CACHE_BYTES);
  const failing = Promise.withResolvers<void>();
  const first = hot.complete(part({ fetch: () => failing.promise }).hot);
  const others = Array.from({ length: 100 }, () => part());
  const all = others.map((one) => hot.complete(one.hot));
  await sleep(10);
  expect(others.flatMap(({ fetched }) => fetched)).toEqual([]);
  failing.reject(new Error('the store is away'));
  await Promise.all([first, ...all]);
  expect(others.filter(({ fetched }) => fetched.length === 1)).toHaveLength(63);
  const last = part();
  await hot.complete(last.hot);
  expect(last.fetched).toHaveLength(1);
});
