import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { PASSWORD, statementRunner } from '#test/support/run-statements.ts';

/** Attackers who have a thousand addresses, or a thousand names. What they show is too long for a password, so that it costs no hash. */
const TRIES = 1_000;
const WRONG = 'x'.repeat(1_100);
const AT_ONCE = 50;
let catalog: TestCatalog;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };

beforeAll(async () => {
  catalog = await startTestCatalog({}, clock);
  const { createUser } = statementRunner(catalog);
  await createUser('victim');
  await createUser('other');
});
afterAll(() => catalog[Symbol.asyncDispose]());

const signIn = (user: string, password: string, address: string): Promise<string> =>
  catalog.call('SignIn', { user, password, tenant: '', address }).then(
    () => 'signed in',
    (error: unknown) => (error as { readonly code: string }).code,
  );
const addressOf = (i: number): string => `10.7.${i >> 8}.${i & 255}`;

/** How many of the tries had each answer. */
async function answers(one: (i: number) => Promise<string>): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for (let from = 0; from < TRIES; from += AT_ONCE) {
    const batch = await Promise.all(Array.from({ length: AT_ONCE }, (_none, i) => one(from + i)));
    for (const answer of batch) counts[answer] = (counts[answer] ?? 0) + 1;
  }
  return counts;
}

test('one account from a thousand addresses: it is locked for all of them, and for nobody else', async () => {
  expect(await answers((i) => signIn('victim', WRONG, addressOf(i)))).toEqual({ WRONG_PASSWORD: TRIES });
  const locked = await catalog.sql(`select 1 from catalog.user_audit_log where event_type = 'lock_user'`);
  // Two are compared at once, and both may be the fifth.
  expect([1, 2]).toContain(locked.length);
  expect(await signIn('victim', PASSWORD, '10.8.0.1')).toBe('WRONG_PASSWORD');
  expect(await signIn('other', PASSWORD, addressOf(7))).toBe('signed in');
  passedMs += 15 * 60_000;
  expect(await signIn('victim', PASSWORD, '10.8.0.1')).toBe('signed in');
});

test('a thousand accounts from one address: it is refused after twenty, also with the right password of another', async () => {
  const { WRONG_PASSWORD: wrong = 0, TOO_MANY_SIGN_INS: refused = 0 } = await answers((i) =>
    signIn(`user${i}`, WRONG, '10.9.0.1'),
  );
  // A few that were under way already are answered, too.
  expect([wrong >= 20, wrong < 20 + AT_ONCE, wrong + refused]).toEqual([true, true, TRIES]);
  expect(await signIn('other', PASSWORD, '10.9.0.1')).toBe('TOO_MANY_SIGN_INS');
  expect(await signIn('other', PASSWORD, '10.9.0.2')).toBe('signed in');
  passedMs += 10 * 60_000;
  expect(await signIn('other', PASSWORD, '10.9.0.1')).toBe('signed in');
});
