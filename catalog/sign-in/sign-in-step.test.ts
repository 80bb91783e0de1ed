import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextStep, STEP_MS, stepNow, type SignInStep, type SignInUser, type StepName } from './sign-in-step.ts';

const SESSION_MS = 43_200_000;

/** Events of a user, and of the browser that signs in, in any order. */
const EVENT = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('pass time' as const), ms: fc.integer({ min: 0, max: SESSION_MS + 1 }) }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'password',
        'factor',
        'recovery code',
        'new password',
        'set up factor',
        'suspend',
        'unsuspend',
        'revoke',
        'demand password',
        'demand factor',
        'remove factor' as const,
      ),
    }),
  },
);

/** All that a person has shown and not lost again, written as facts instead of steps. */
type Model = { password: boolean; factor: boolean; recovered: boolean; untilMs: number; isDone: boolean };
const NOTHING: Model = { password: false, factor: false, recovered: false, untilMs: -1, isDone: false };

test('only the password, the factor that there is, and all that is demanded sign in, in any order of events', () => {
  fc.assert(
    fc.property(fc.array(EVENT, { maxLength: 60 }), (events) => {
      let user: SignInUser = { isActive: true, mustChange: true, hasFactor: false, needsFactor: false, epoch: 0 };
      let step: SignInStep = { step: 'password' };
      let atMs = 0;
      let model = NOTHING;
      const expected = (): SignInStep['step'] => {
        if (!model.password || atMs >= model.untilMs) return 'password';
        if (user.hasFactor && !model.factor && !model.recovered) return 'factor';
        if (user.mustChange) return 'new password';
        if (model.recovered || (user.needsFactor && !user.hasFactor)) return 'set up factor';
        return 'done';
      };
      const reach = (shown: Partial<Model>): void => {
        model = { ...model, ...shown, untilMs: Number.MAX_SAFE_INTEGER };
        const isDone = expected() === 'done';
        const lifeMs = isDone ? SESSION_MS : STEP_MS;
        model = { ...model, isDone, untilMs: atMs + lifeMs };
      };
      /** Something of another place ends what the browser has. */
      const elsewhere = (more: Partial<SignInUser>): void => {
        user = { ...user, ...more, epoch: user.epoch + 1 };
        model = NOTHING;
      };
      const change = (more: Partial<SignInUser>, isProof: boolean): void => {
        const name = expected();
        const after = { ...user, ...more, epoch: user.epoch + 1 };
        const next = nextStep(step, { kind: 'change', user, after, isProof, atMs }, SESSION_MS);
        step = next;
        // Nothing is stored for one who has not shown enough.
        if (name === 'password' || name === 'factor') return void (model = NOTHING);
        const untilMs = model.untilMs;
        user = after;
        reach(isProof ? { factor: true, recovered: false } : {});
        if (name === 'done' && model.isDone) model = { ...model, untilMs };
      };
      for (const event of events) {
        switch (event.kind) {
          case 'pass time':
            atMs += event.ms;
            break;
          case 'suspend':
            elsewhere({ isActive: false });
            break;
          case 'unsuspend':
            user = { ...user, isActive: true };
            break;
          case 'revoke':
            elsewhere({});
            break;
          case 'demand password':
            elsewhere({ mustChange: true });
            break;
          case 'demand factor':
            elsewhere({ needsFactor: true });
            break;
          case 'remove factor':
            elsewhere({ hasFactor: false });
            break;
          case 'password':
            step = nextStep(step, { kind: 'password', user, atMs }, SESSION_MS);
            model = NOTHING;
            if (user.isActive) reach({ password: true });
            break;
          case 'factor':
          case 'recovery code': {
            const isAsked = expected() === 'factor';
            step = nextStep(step, { kind: 'proof', user, proof: event.kind, atMs }, SESSION_MS);
            if (isAsked) reach(event.kind === 'factor' ? { factor: true } : { recovered: true });
            else model = NOTHING;
            break;
          }
          case 'new password':
            change({ mustChange: false }, false);
            break;
          case 'set up factor':
            change({ hasFactor: true }, true);
            break;
        }
        expect(stepNow(step, user, atMs).step).toBe(expected());
      }
    }),
    { numRuns: 3_000 },
  );
});

const USER: SignInUser = { isActive: true, mustChange: false, hasFactor: false, needsFactor: false, epoch: 3 };
const afterPassword = (more: Partial<SignInUser>): SignInStep =>
  nextStep({ step: 'password' }, { kind: 'password', user: { ...USER, ...more }, atMs: 1_000 }, SESSION_MS);

test.each<[StepName, Partial<SignInUser>]>([
  ['done', {}],
  ['new password', { mustChange: true }],
  ['set up factor', { needsFactor: true }],
  ['new password', { mustChange: true, needsFactor: true }],
  ['factor', { hasFactor: true, mustChange: true, needsFactor: true }],
])('the right password leads to: %s', (step, user) => {
  const endsAtMs = 1_000 + (step === 'done' ? SESSION_MS : STEP_MS);
  expect(afterPassword(user)).toEqual({ step, proof: 'password', epoch: 3, endsAtMs });
});

test('a step has ten minutes', () => {
  const user = { ...USER, hasFactor: true };
  const step = afterPassword({ hasFactor: true });
  expect(stepNow(step, user, 600_999)).toBe(step);
  expect(stepNow(step, user, 601_000)).toEqual({ step: 'password' });
  const late = nextStep(step, { kind: 'proof', user, proof: 'factor', atMs: 601_000 }, SESSION_MS);
  expect(late).toEqual({ step: 'password' });
});

test('a recovery code leads to a new factor, also for one who need not have any', () => {
  const user = { ...USER, hasFactor: true };
  const event = { kind: 'proof', user, proof: 'recovery code', atMs: 2_000 } as const;
  expect(nextStep(afterPassword({ hasFactor: true }), event, SESSION_MS)).toMatchObject({ step: 'set up factor' });
});

test('who is signed in changes his password and stays signed in no longer than before', () => {
  const after = { ...USER, epoch: 4 };
  const event = { kind: 'change', user: USER, after, isProof: false, atMs: 5_000 } as const;
  const next = nextStep(afterPassword({}), event, SESSION_MS);
  expect(next).toEqual({ step: 'done', proof: 'password', epoch: 4, endsAtMs: 1_000 + SESSION_MS });
});
