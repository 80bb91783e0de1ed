import fc from 'fast-check';
import { expect, test } from 'vitest';
import { next, type PrincipalEvent, type PrincipalState } from './principal-state.ts';

const ACTIVE: PrincipalState = { status: 'ACTIVE', legalHold: false };
const INVITED: PrincipalState = { status: 'INVITED', legalHold: false };
const SUSPENDED: PrincipalState = { status: 'SUSPENDED', legalHold: false };
const PROVISIONED: PrincipalState = { status: 'PROVISIONED', legalHold: false };
const DROPPED: PrincipalState = { status: 'DEACTIVATED', legalHold: false, isBootstrap: false, deactivatedAtMs: 1_000 };
const HELD: PrincipalState = { ...DROPPED, legalHold: true };
const ARCHIVED: PrincipalState = { status: 'ARCHIVED' };
const STATES = [ACTIVE, INVITED, SUSPENDED, PROVISIONED, DROPPED, HELD, ARCHIVED];

const drop: PrincipalEvent = { kind: 'drop', atMs: 1_000, isBootstrap: false };
const sweep: PrincipalEvent = { kind: 'sweep', atMs: 2_000, archiveAfterMs: 1_000 };
const events: readonly PrincipalEvent[] = [
  { kind: 'redeem' },
  { kind: 'suspend' },
  { kind: 'unsuspend' },
  drop,
  { kind: 'undrop' },
  { kind: 'expunge' },
  sweep,
  { kind: 'set password' },
  { kind: 'change' },
];

/** The status after each event in its order; `!` behind it when tokens end; an error's code when it is refused. */
const outcomes = (state: PrincipalState): readonly string[] =>
  events.map((event) => {
    const transition = next(state, event);
    if ('refused' in transition) return transition.refused;
    return `${transition.state.status}${transition.endsTokens ? '!' : ''}`;
  });

const NO = 'INVALID_STATE';
const GONE = 'PRINCIPAL_NOT_FOUND';
const LATE = 'InvalidInvitation';

test.each([
  [ACTIVE, [LATE, 'SUSPENDED!', NO, 'DEACTIVATED!', NO, NO, 'ACTIVE', 'ACTIVE!', 'ACTIVE']],
  [INVITED, ['ACTIVE!', NO, NO, 'DEACTIVATED!', NO, NO, 'INVITED', NO, 'INVITED']],
  [SUSPENDED, [LATE, NO, 'ACTIVE', 'DEACTIVATED!', NO, NO, 'SUSPENDED', 'SUSPENDED!', 'SUSPENDED']],
  [PROVISIONED, [LATE, 'SUSPENDED!', NO, 'DEACTIVATED!', NO, NO, 'PROVISIONED', 'PROVISIONED!', 'PROVISIONED']],
  [DROPPED, [LATE, NO, NO, 'DEACTIVATED!', 'ACTIVE', 'ARCHIVED!', 'ARCHIVED!', NO, NO]],
  [HELD, [LATE, NO, NO, 'DEACTIVATED!', 'ACTIVE', 'LegalHoldActive', 'DEACTIVATED', NO, NO]],
  [ARCHIVED, [GONE, GONE, GONE, GONE, GONE, GONE, GONE, GONE, GONE]],
] as const)('%j: redeem, suspend, unsuspend, drop, undrop, expunge, sweep, set password, change', (state, expected) => {
  expect(outcomes(state)).toEqual(expected);
});

test('the sweeper waits for its window, and skips the first administrator', () => {
  expect(next(DROPPED, { ...sweep, atMs: 1_999 })).toEqual({ state: DROPPED, endsTokens: false });
  const first: PrincipalState = { ...DROPPED, isBootstrap: true };
  expect(next(first, sweep)).toEqual({ state: first, endsTokens: false });
});

test('a second drop does not begin the window anew', () => {
  expect(next(DROPPED, { ...drop, atMs: 9_000 })).toEqual({ state: DROPPED, endsTokens: true });
});

test('whatever happens, an archived user stays so, and a hold is never lost', () => {
  fc.assert(
    fc.property(fc.constantFrom(...STATES), fc.array(fc.constantFrom(...events), { maxLength: 20 }), (first, all) => {
      let state = first;
      for (const event of all) {
        const transition = next(state, event);
        if ('refused' in transition) continue;
        if (state.status === 'ARCHIVED') return false;
        if (state.legalHold && (transition.state.status === 'ARCHIVED' || !transition.state.legalHold)) return false;
        state = transition.state;
      }
      return true;
    }),
  );
});
