import { expect, test } from 'vitest';
import { retried, spreadPause, untilFirst } from './retry.ts';

const failing =
  (times: number) =>
  (attempt: number): Promise<number> =>
    attempt > times ? Promise.resolve(attempt) : Promise.reject(new Error(`attempt ${attempt}`));

test('work is done again for as long as its errors may pass', async () => {
  const pauses: number[] = [];
  const pauseMs = (attempt: number): number => {
    pauses.push(attempt);
    return 0;
  };
  expect(await retried(failing(2), { again: () => true, pauseMs })).toBe(3);
  expect(pauses).toEqual([1, 2]);
  await expect(retried(failing(9), { again: (_error, attempt) => attempt < 3, pauseMs: 0 })).rejects.toThrow(
    'attempt 3',
  );
  const only = (error: unknown): boolean => (error as Error).message === 'attempt 1';
  await expect(retried(failing(9), { again: only, pauseMs: 0 })).rejects.toThrow('attempt 2');
});

test('a signal ends a pause', async () => {
  const stop = new AbortController();
  const work = retried(failing(9), { again: () => true, pauseMs: 3_600_000, signal: stop.signal });
  stop.abort(new Error('over'));
  await expect(work).rejects.toThrow();
});

test('who comes second tries so often', async () => {
  let tries = 0;
  const first = (at: number) => (): Promise<number | undefined> => {
    tries += 1;
    return Promise.resolve(tries === at ? tries : undefined);
  };
  expect(await untilFirst(first(3), { attemptsMax: 3, pauseMs: () => 0 })).toBe(3);
  tries = 0;
  expect(await untilFirst(first(4), { attemptsMax: 3, pauseMs: () => 0 })).toBeUndefined();
});

test('a spread pause is of the length and up to twenty more', () => {
  for (let i = 0; i < 100; i += 1) expect(spreadPause(1)).toSatisfy((ms: number) => ms >= 1 && ms <= 21);
});
