import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import { PasswordVerifier } from './verify-password.ts';

const passwords = new PasswordVerifier(systemClock, 20);
afterAll(() => passwords[Symbol.asyncDispose]());

/** Failures of one user from one address, and the hashes that are compared at once. */
const FAILURES_MAX = 10;
const AT_ONCE = 2;

test('of wrong passwords that are shown at once those behind meet what the first have counted', async () => {
  const attempt = { tenant: 'default', user: 'ada', address: '10.0.0.1' };
  for (let i = 1; i < FAILURES_MAX; i += 1) passwords.failed(attempt);
  let counted = 0;
  const whenWrong = async (): Promise<void> => {
    await sleep(10);
    counted += 1;
  };
  const shown = Array.from({ length: 3 * AT_ONCE }, (_, i) =>
    passwords.matches(attempt, `wrong ${i}`, undefined, whenWrong).then(
      (isRight) => `compared: ${isRight}, counted by ${counted}`,
      (error: unknown) => SkeinError.of(error).code,
    ),
  );
  const outcomes = await Promise.all(shown);
  const refused = outcomes.filter((outcome) => outcome === 'TOO_MANY_SIGN_INS');
  // Those that were compared when the last failure was counted, and nobody behind them.
  expect(refused.length).toBeGreaterThanOrEqual(outcomes.length - AT_ONCE);
  expect(counted).toBe(outcomes.length - refused.length);
  expect(outcomes.slice(0, AT_ONCE)).toEqual(expect.arrayContaining([expect.stringMatching(/counted by [12]$/)]));
});
