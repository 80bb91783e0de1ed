import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { answerInTime } from './answer-in-time.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const timedOut = new SkeinError('QUERY_TIMEOUT', 'too long');

test('work that ends is answered as it ended', async () => {
  const { signal } = new AbortController();
  expect(await answerInTime(signal, Promise.resolve(1))).toBe(1);
  await expect(answerInTime(signal, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
});

test('work that never ends is answered within a second of its stop, with the reason', async () => {
  const stop = new AbortController();
  const answer = answerInTime(stop.signal, new Promise(() => undefined));
  const stopped = performance.now();
  stop.abort(timedOut);
  await expect(answer).rejects.toBe(timedOut);
  expect(performance.now() - stopped).toBeLessThan(1_000 * machineSlowness());
});

test('work that ends soon after its stop is waited for: what it says is the answer', async () => {
  const stop = new AbortController();
  const work = new Promise((_resolve, reject) => setTimeout(() => reject(new Error('stopped in order')), 20));
  stop.abort(timedOut);
  await expect(answerInTime(stop.signal, work)).rejects.toThrow('stopped in order');
});
