import { expect, test } from 'vitest';
import { TokenCache, type BearerToken } from './token-request.ts';

const HOUR_MS = 3_600_000;

type Clock = { now: number; readonly tokens: TokenCache<BearerToken> };
function cacheAt(): Clock {
  const clock: Clock = { now: 0, tokens: new TokenCache<BearerToken>(() => clock.now) };
  return clock;
}
const gives = (token: string, expiresAtMs: number) => (): Promise<BearerToken> =>
  Promise.resolve({ token, expiresAtMs });
const fails = (): Promise<BearerToken> => Promise.reject(new Error('the service does not answer'));

test('a token is asked for again when half of its life is over, once for all who wait', async () => {
  const clock = cacheAt();
  expect((await clock.tokens.get('a', gives('first', HOUR_MS))).token).toBe('first');
  clock.now = HOUR_MS / 2 - 1;
  expect((await clock.tokens.get('a', gives('second', 2 * HOUR_MS))).token).toBe('first');
  clock.now = HOUR_MS / 2;
  let asked = 0;
  const ask = (): Promise<BearerToken> => gives(`of question ${++asked}`, 2 * HOUR_MS)();
  const all = await Promise.all(Array.from({ length: 5 }, () => clock.tokens.get('a', ask)));
  expect(all.map(({ token }) => token)).toEqual(Array.from({ length: 5 }, () => 'of question 1'));
});

test('while the service gives none, the last token serves until it ends, unless the store has refused it', async () => {
  const clock = cacheAt();
  await clock.tokens.get('a', gives('last', HOUR_MS));
  clock.now = HOUR_MS * 0.6;
  expect((await clock.tokens.get('a', fails)).token).toBe('last');
  // It is asked for again, and not each time.
  expect((await clock.tokens.get('a', gives('early', 2 * HOUR_MS))).token).toBe('last');
  clock.now = HOUR_MS * 0.9;
  expect((await clock.tokens.get('a', gives('next', 2 * HOUR_MS))).token).toBe('next');
  await expect(clock.tokens.get('a', fails, true)).rejects.toThrow('does not answer');
  await expect(clock.tokens.get('a', fails)).rejects.toThrow('does not answer');
  await clock.tokens.get('b', gives('brief', 2 * HOUR_MS));
  clock.now = 2 * HOUR_MS - 1_000;
  await expect(clock.tokens.get('b', fails)).rejects.toThrow('does not answer');
});
