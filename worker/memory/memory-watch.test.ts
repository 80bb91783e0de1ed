import { beforeEach, expect, test } from 'vitest';
import type { SkeinError } from '#shared/error.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { MemoryWatch, type MemoryUser } from './memory-watch.ts';

const LIMIT = 1_000;
let resident = 100;
let pressure = false;
let freed = 0;
let working: MemoryUser[] = [];
let users: MemoryUser[] = [];
const cancelled: string[] = [];
let errors: SkeinError[] = [];
const user = (queryId: string): MemoryUser => ({
  queryId,
  cancel: (error) => {
    cancelled.push(queryId);
    errors.push(error);
  },
});

beforeEach(() => {
  resident = 100;
  pressure = false;
  freed = 0;
  cancelled.length = 0;
  errors = [];
});

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
  working = [large];
  resident = 500;
  watched.look(0);
  working = [small, large];
  resident = 700;
  watched.look(50);
  expect([pressure, cancelled]).toEqual([false, []]);
  working = [small];
  resident = 950;
  watched.look(100);
  expect([pressure, cancelled]).toEqual([true, ['large']]);
  expect(errors[0]).toMatchObject({ code: 'MEMORY_EXHAUSTED' });
});

test('one at a time: the next one only when the first had time to give its memory back', () => {
  const [a, b] = [user('a'), user('b')];
  users = working = [a, b];
  const watched = watch();
  resident = 950;
  for (const nowMs of [0, 50, 950]) watched.look(nowMs);
  expect(cancelled).toHaveLength(1);
  watched.look(1_000);
  expect(cancelled.toSorted()).toEqual(['a', 'b']);
  watched.look(3_000);
  expect(cancelled).toHaveLength(2);
});

test('what is idle is closed before anybody is cancelled, and only then', () => {
  users = working = [user('a')];
  const watched = watch();
  resident = 800;
  watched.look(0);
  expect([pressure, cancelled]).toEqual([true, []]);
  resident = 300;
  watched.look(50);
  expect(pressure).toBe(false);
});

test('tasks that have not made it grow are not to blame', () => {
  users = [user('waits')];
  working = [];
  const watched = watch();
  resident = 990;
  watched.look(0);
  expect(cancelled).toEqual([]);
});

test('nobody is cancelled for what is freed already', () => {
  users = working = [user('a')];
  const watched = watch();
  resident = 950;
  freed = 600;
  watched.look(0);
  expect([resident, cancelled]).toEqual([350, []]);
});
