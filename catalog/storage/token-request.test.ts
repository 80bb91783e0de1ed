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
/** The question that was asked beside the requests has its answer. */
const answered = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const fails = (): Promise<BearerToken> => Promise.reject(new Error('the service does not answer'));

test('a token is asked for again when half of its life is over, once for all who wait', async () => {
  const clock = cacheAt();
  expect((await clock.tokens.get('a', gives('first', HOUR_MS))).token).toBe('first');
  clock.now = HOUR_MS / 2 - 1;
  expect((await clock.tokens.get('a', gives('second', 2 * HOUR_MS))).token).toBe('first');
  clock.now = HOUR_MS / 2;
  let asked = 0;
  const ask = (): Promise<BearerToken> => gives(`of question ${++asked}`, 2 * HOUR_MS)();
  const askAll = async (): Promise<readonly string[]> =>
    (await Promise.all(Array.from({ length: 5 }, () => clock.tokens.get('a', ask)))).map(({ token }) => token);
  expect(await askAll()).toEqual(Array.from({ length: 5 }, () => 'first'));
  await answered();
  expect(await askAll()).toEqual(Array.from({ length: 5 }, () => 'of question 1'));
  expect(asked).toBe(1);
});

test('a service that hangs delays nobody while the last token serves, and is not asked again', async () => {
  const clock = cacheAt();
  await clock.tokens.get('a', gives('last', HOUR_MS));
  let asked = 0;
  const hangs = (): Promise<BearerToken> => {
    asked += 1;
    return new Promise(() => undefined);
  };
  for (clock.now = HOUR_MS / 2; clock.now < HOUR_MS - 61_000; clock.now += 60_000) {
    expect((await clock.tokens.get('a', hangs)).token).toBe('last');
  }
  expect(asked).toBe(1);
  clock.now = HOUR_MS - 60_000;
  expect((await clock.tokens.get('a', gives('next', 2 * HOUR_MS))).token).toBe('next');
});

test('while the service gives none, the last token serves until it ends, unless the store has refused it', async () => {
  const clock = cacheAt();
  await clock.tokens.get('a', gives('last', HOUR_MS));
  clock.now = HOUR_MS * 0.6;
  expect((await clock.tokens.get('a', fails)).token).toBe('last');
  await answered();
  // It is asked for again, and not each time.
  expect((await clock.tokens.get('a', gives('early', 2 * HOUR_MS))).token).toBe('last');
  clock.now = HOUR_MS * 0.9;
  await clock.tokens.get('a', gives('next', 2 * HOUR_MS));
  await answered();
  expect((await clock.tokens.get('a', fails)).token).toBe('next');
  await expect(clock.tokens.get('a', fails, true)).rejects.toThrow('does not answer');
  await expect(clock.tokens.get('a', fails)).rejects.toThrow('does not answer');
  await clock.tokens.get('b', gives('brief', 2 * HOUR_MS));
  clock.now = 2 * HOUR_MS - 1_000;
  await expect(clock.tokens.get('b', fails)).rejects.toThrow('does not answer');
});
