import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextStep, STEP_MS, stepNow, type SignInStep, type SignInUser } from './sign-in-step.ts';

const SESSION_MS = 43_200_000;

/** Events of a user, and of the browser that signs in, in any order. */
const EVENT = fc.oneof(
  fc.record({ kind: fc.constant('pass time' as const), ms: fc.integer({ min: 0, max: SESSION_MS + 1 }) }),
  fc.record({ kind: fc.constantFrom('password', 'new password', 'suspend', 'unsuspend', 'revoke', 'demand' as const) }),
);

test('only the right password of an active user, and the new one that it must have, signs in', () => {
  fc.assert(
    fc.property(fc.array(EVENT, { maxLength: 40 }), (events) => {
      let user: SignInUser = { isActive: true, mustChange: true, epoch: 0 };
      let step: SignInStep = { step: 'password' };
      let atMs = 0;
      // The model: when the browser's proof ends, and whether something has ended it.
      let provenUntilMs = -1;
      const raised = (more: Partial<SignInUser>): SignInUser => ({ ...user, ...more, epoch: user.epoch + 1 });
      for (const event of events) {
        if (event.kind === 'pass time') atMs += event.ms;
        if (event.kind === 'suspend') user = raised({ isActive: false });
        if (event.kind === 'unsuspend') user = { ...user, isActive: true };
        if (event.kind === 'revoke') user = raised({});
        if (event.kind === 'demand') user = raised({ mustChange: true });
        if (event.kind === 'suspend' || event.kind === 'revoke' || event.kind === 'demand') provenUntilMs = -1;
        if (event.kind === 'password') {
          step = nextStep(step, { kind: 'password', user, atMs }, SESSION_MS);
          provenUntilMs = user.isActive ? atMs + (user.mustChange ? STEP_MS : SESSION_MS) : -1;
        }
        if (event.kind === 'new password') {
          const isProven = atMs < provenUntilMs;
          const epochAfter = user.epoch + 1;
          step = nextStep(step, { kind: 'new password', user, epochAfter, atMs }, SESSION_MS);
          // Nothing is stored for one who has proven nothing.
          if (isProven) user = { ...user, mustChange: false, epoch: epochAfter };
          provenUntilMs = isProven ? atMs + SESSION_MS : -1;
        }
        const { step: now } = stepNow(step, user, atMs);
        const expected = atMs >= provenUntilMs ? 'password' : user.mustChange ? 'new password' : 'done';
        expect(now).toBe(expected);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a user who must change the password is not signed in by it, and has ten minutes', () => {
  const user: SignInUser = { isActive: true, mustChange: true, epoch: 3 };
  const step = nextStep({ step: 'password' }, { kind: 'password', user, atMs: 1_000 }, SESSION_MS);
  expect(step).toEqual({ step: 'new password', epoch: 3, endsAtMs: 601_000 });
  expect(stepNow(step, user, 600_999)).toBe(step);
  expect(stepNow(step, user, 601_000)).toEqual({ step: 'password' });
  const late = nextStep(step, { kind: 'new password', user, epochAfter: 4, atMs: 601_000 }, SESSION_MS);
  expect(late).toEqual({ step: 'password' });
});

test('who is asked for a new password while signed in begins anew', () => {
  const user: SignInUser = { isActive: true, mustChange: false, epoch: 0 };
  const done = nextStep({ step: 'password' }, { kind: 'password', user, atMs: 0 }, SESSION_MS);
  expect(stepNow(done, { ...user, mustChange: true }, 1)).toEqual({ step: 'password' });
});
