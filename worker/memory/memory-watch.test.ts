import { beforeEach, expect, test } from 'vitest';
import type { SkeinError } from '#shared/error.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { MemoryWatch, type MemoryUser, type MemoryWork } from './memory-watch.ts';

const LIMIT = 1_000_000;
let resident = 100_000;
let pressure = false;
let freed = 0;
let working: MemoryWork[] = [];
let users: MemoryUser[] = [];
const cancelled: string[] = [];
let errors: SkeinError[] = [];
const user = (queryId: string, killRank: MemoryUser['killRank'] = null): MemoryUser => ({
  queryId,
  killRank,
  cancel: (error) => {
    cancelled.push(queryId);
    errors.push(error);
  },
});

beforeEach(() => {
  resident = 100_000;
  pressure = false;
  freed = 0;
  cancelled.length = 0;
  errors = [];
});

/** A task of one thread, which touched these pages for it. */
const touched = (one: MemoryUser, pages: number): MemoryWork => ({ user: one, pages, ownPages: pages, isWide: false });

/** Tasks without a count of their threads' pages. */
const atWork = (...those: readonly MemoryUser[]): MemoryWork[] => those.map((one) => touched(one, 0));

const watch = (): MemoryWatch =>
  new MemoryWatch(
    LIMIT,
    {
      residentBytes: () => resident,
      users: () => users,
      working: () => working,
      setPressure: (on) => (pressure = on),
      returnFreed: () => (resident -= freed),
    },
    silentLogger,
  );

test('the query during whose turns the process grew most ends, and nobody else', () => {
  const [small, large] = [user('small'), user('large')];
  users = [small, large];
  const watched = watch();
  working = atWork(large);
  resident = 500_000;
  watched.look(0);
  working = atWork(small, large);
  resident = 700_000;
  watched.look(50);
  expect([pressure, cancelled]).toEqual([false, []]);
  working = atWork(small);
  resident = 950_000;
  watched.look(100);
  expect([pressure, cancelled]).toEqual([true, ['large']]);
  const message = expect.stringMatching(
    /has 950000 bytes, .* limit of 1000000 bytes .* grew by 500000 bytes for this query/,
  );
  expect(errors[0]).toMatchObject({ code: 'MEMORY_KILLED', message });
});

test('of two tasks at work the one whose thread touched the pages is cancelled; pages of helper threads count for wide tasks', () => {
  const [honest, hostile] = [user('honest'), user('hostile')];
  users = [honest, hostile];
  const watched = watch();
  working = [touched(honest, 1), touched(hostile, 80)];
  resident = 450_000;
  watched.look(0);
  working = [touched(honest, 5), { user: hostile, pages: 0, ownPages: 0, isWide: true }];
  resident = 700_000;
  watched.look(50);
  // It works alone when the limit is reached, and has worked longer than the other.
  working = [touched(honest, 2)];
  resident = 910_000;
  watched.look(100);
  expect(cancelled).toEqual(['hostile']);
});

test('one at a time: the next one only when the first had time to give its memory back', () => {
  const [a, b] = [user('a'), user('b')];
  users = [a, b];
  working = atWork(a, b);
  const watched = watch();
  resident = 950_000;
  for (const nowMs of [0, 50, 950]) watched.look(nowMs);
  expect(cancelled).toHaveLength(1);
  watched.look(1_000);
  expect(cancelled.toSorted()).toEqual(['a', 'b']);
  watched.look(3_000);
  expect(cancelled).toHaveLength(2);
});

test('a query that has taken little goes on while a cancelled one has not ended', () => {
  const [hostile, honest, other] = [user('hostile'), user('honest'), user('other')];
  users = [hostile, honest];
  const watched = watch();
  working = atWork(hostile);
  resident = 940_000;
  watched.look(0);
  working = atWork(hostile, honest);
  resident = 950_000;
  for (const nowMs of [500, 1_500, 2_500]) watched.look(nowMs);
  expect(cancelled).toEqual(['hostile']);
  users = [hostile, honest, other];
  working = atWork(other);
  resident = 990_000;
  watched.look(3_500);
  expect(cancelled).toEqual(['hostile']);
  working = atWork(other);
  resident = 1_050_000;
  watched.look(4_500);
  expect(cancelled).toEqual(['hostile', 'other']);
});

test('a query that has taken little goes on while the process still has what one that ended had', () => {
  const [hostile, honest] = [user('hostile'), user('honest')];
  users = [hostile, honest];
  const watched = watch();
  working = atWork(hostile);
  resident = 850_000;
  watched.look(0);
  // Its end comes before it is cancelled, and its memory goes later.
  users = [honest];
  working = atWork(honest);
  resident = 920_000;
  for (const nowMs of [50, 100, 1_000]) watched.look(nowMs);
  expect(cancelled).toEqual([]);
  resident = 990_000;
  watched.look(1_100);
  expect(cancelled).toEqual(['honest']);
});

test('what a thread touched before it came to another task is not that one’s', () => {
  const [hostile, honest] = [user('hostile'), user('honest')];
  users = [hostile, honest];
  const watched = watch();
  working = atWork(hostile);
  resident = 300_000;
  watched.look(0);
  working = [{ user: honest, pages: 150, ownPages: 0, isWide: false }];
  resident = 914_400;
  watched.look(50);
  expect(cancelled).toEqual(['hostile']);
});

test('a query for which the process has hardly grown is left alone', () => {
  const [first, second] = [user('first'), user('second')];
  users = [first, second];
  resident = 885_000;
  const watched = watch();
  working = atWork(first, second);
  resident = 901_000;
  watched.look(0);
  expect(cancelled).toEqual([]);
});

test('a query that works beside a cancelled one, which goes on to grow, is not cancelled for it', () => {
  const [hostile, honest] = [user('hostile'), user('honest')];
  users = [hostile, honest];
  const watched = watch();
  working = atWork(hostile);
  resident = 940_000;
  watched.look(0);
  working = [touched(hostile, 20), touched(honest, 1)];
  resident = 1_300_000;
  watched.look(1_500);
  resident = 1_500_000;
  watched.look(3_000);
  expect(cancelled).toEqual(['hostile']);
});

test('all tasks of a query count together, and end together', () => {
  const [half, otherHalf, single] = [user('halves'), user('halves'), user('single')];
  users = [half, single, otherHalf];
  const watched = watch();
  working = atWork(half, otherHalf, single);
  resident = 950_000;
  watched.look(0);
  expect(cancelled).toEqual(['halves', 'halves']);
});

test('by youngest_lowest_class the youngest query of the lowest class ends, unless it has little', () => {
  const small = user('small', { classRank: 2, arrivedAtMs: 9 });
  const young = user('young', { classRank: 2, arrivedAtMs: 5 });
  const old = user('old', { classRank: 2, arrivedAtMs: 3 });
  const higher = user('higher', { classRank: 0, arrivedAtMs: 7 });
  users = [old, small, young, higher];
  const watched = watch();
  working = [touched(higher, 100), touched(old, 50), touched(young, 40), touched(small, 5)];
  resident = 920_000;
  watched.look(0);
  expect(cancelled).toEqual(['young']);
  expect(errors[0]?.message).toContain('the youngest of the lowest class');
});

test('idle instances are closed near the limit, before any query is cancelled', () => {
  users = [user('a')];
  working = atWork(...users);
  const watched = watch();
  resident = 800_000;
  watched.look(0);
  expect([pressure, cancelled]).toEqual([true, []]);
  resident = 300_000;
  watched.look(50);
  expect(pressure).toBe(false);
});

test('tasks that have not made it grow are not to blame', () => {
  users = [user('waits')];
  working = [];
  const watched = watch();
  resident = 990_000;
  watched.look(0);
  expect(cancelled).toEqual([]);
});

test('nobody is cancelled for what is freed already', () => {
  users = [user('a')];
  working = atWork(...users);
  const watched = watch();
  resident = 950_000;
  freed = 600_000;
  watched.look(0);
  expect([resident, cancelled]).toEqual([350_000, []]);
});
