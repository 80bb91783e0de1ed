/**
 * The steps of a person's sign-in in a browser. Each event leads to the first step of this list that is still demanded:
 *
 * ```
 *   password ──right──> factor          the user has a second factor, and has not shown it, nor one at an identity provider
 *                       new password    he must change his
 *                       set up factor   he must have one and has none, or has shown a recovery code
 *                       done
 * ```
 * A step whose time is over, of another session epoch of the user, or that is not the one demanded of him any more, is `password` again.
 * The first step is in no table; the others are rows of `catalog.browser_sign_in`.
 */
export type SignInStep =
  | { readonly step: 'password' }
  | { readonly step: StepName; readonly proof: Proof; readonly epoch: number; readonly endsAtMs: number };

export type StepName = 'factor' | 'new password' | 'set up factor' | 'done';

/**
 * The best that the person has shown: the password, or an identity provider's word in its place, and with it a recovery code, a factor, or the
 * provider's word that it has seen one.
 */
export type Proof = 'password' | 'recovery code' | 'factor' | 'factor of the provider';

/** The user of a step as the database says now. */
export type SignInUser = {
  readonly isActive: boolean;
  readonly mustChange: boolean;
  readonly hasFactor: boolean;
  readonly needsFactor: boolean;
  readonly epoch: number;
};

export type SignInEvent =
  /** An identity provider has signed the user in. */
  | {
      readonly kind: 'provider';
      readonly user: SignInUser;
      readonly proof: 'password' | 'factor of the provider';
      readonly atMs: number;
    }
  /** The right password was shown. */
  | { readonly kind: 'password'; readonly user: SignInUser; readonly atMs: number }
  /** A factor or a recovery code was shown and taken. */
  | {
      readonly kind: 'proof';
      readonly user: SignInUser;
      readonly proof: 'recovery code' | 'factor';
      readonly atMs: number;
    }
  /** A new password was stored, or a factor set up or removed; `user` is the user before it, `after` the one since. */
  | {
      readonly kind: 'change';
      readonly user: SignInUser;
      readonly after: SignInUser;
      /** A factor was set up, and has been shown thereby. */
      readonly isProof: boolean;
      readonly atMs: number;
    };

/** Time for a step between the password and the end of a sign-in. */
export const STEP_MS = 600_000;

const FIRST: SignInStep = { step: 'password' };

function demanded({ mustChange, hasFactor, needsFactor }: SignInUser, proof: Proof): StepName {
  if (hasFactor && proof === 'password') return 'factor';
  if (mustChange) return 'new password';
  if (proof === 'factor of the provider') return 'done';
  return proof === 'recovery code' || (needsFactor && !hasFactor) ? 'set up factor' : 'done';
}

/** The step that counts now: one that is over, or that the user has left behind, is the first one again. */
export function stepNow(step: SignInStep, user: SignInUser, atMs: number): SignInStep {
  if (step.step === 'password') return step;
  if (!user.isActive || user.epoch !== step.epoch || atMs >= step.endsAtMs) return FIRST;
  return step.step === demanded(user, step.proof) ? step : FIRST;
}

/** The step after an event; an event that does not belong to the step leads back to the first. @param sessionMs how long one stays signed in */
export function nextStep(before: SignInStep, event: SignInEvent, sessionMs: number): SignInStep {
  const { user, atMs } = event;
  const lead = (to: SignInUser, proof: Proof): SignInStep => {
    const step = demanded(to, proof);
    const lifeMs = step === 'done' ? sessionMs : Math.min(STEP_MS, sessionMs);
    return { step, proof, epoch: to.epoch, endsAtMs: atMs + lifeMs };
  };
  if (event.kind === 'password') return user.isActive ? lead(user, 'password') : FIRST;
  if (event.kind === 'provider') return user.isActive ? lead(user, event.proof) : FIRST;
  const now = stepNow(before, user, atMs);
  if (now.step === 'password') return FIRST;
  if (event.kind === 'proof') return now.step === 'factor' ? lead(user, event.proof) : FIRST;
  // Nothing is changed by one who has not shown his factor.
  if (now.step === 'factor') return FIRST;
  const next = lead(event.after, event.isProof ? 'factor' : now.proof);
  // One who is signed in goes on in this browser, and no longer than he would have.
  return now.step === 'done' && next.step === 'done' ? { ...next, endsAtMs: now.endsAtMs } : next;
}
