/**
 * The steps of a person's sign-in in a browser:
 *
 * ```
 *   password ──right──> done                          every step: its time is over, the session epoch of the user
 *      │                 ^                            is another, he may not sign in any more ──> password
 *      └─must change──> new password
 * ```
 * The first step is in no table; the others are rows of `catalog.browser_sign_in`.
 */
export type SignInStep =
  | { readonly step: 'password' }
  | { readonly step: 'new password' | 'done'; readonly epoch: number; readonly endsAtMs: number };

/** The user of a step as the database says now. */
export type SignInUser = { readonly isActive: boolean; readonly mustChange: boolean; readonly epoch: number };

export type SignInEvent =
  /** The right password was shown. */
  | { readonly kind: 'password'; readonly user: SignInUser; readonly atMs: number }
  /** A new password was stored; `user` is the user before it, `epochAfter` its epoch since. */
  | { readonly kind: 'new password'; readonly user: SignInUser; readonly epochAfter: number; readonly atMs: number };

/** Time for a step between the password and the end of a sign-in. */
export const STEP_MS = 600_000;

const FIRST: SignInStep = { step: 'password' };

/** The step that counts now: one that is over, or that the user has left behind, is the first one again. */
export function stepNow(step: SignInStep, user: SignInUser, atMs: number): SignInStep {
  if (step.step === 'password') return step;
  if (!user.isActive || user.epoch !== step.epoch || atMs >= step.endsAtMs) return FIRST;
  // Somebody has asked for a new password since.
  if (step.step === 'done' && user.mustChange) return FIRST;
  return step;
}

/** The step after an event; an event that does not belong to the step leads back to the first. @param sessionMs how long one stays signed in */
export function nextStep(before: SignInStep, event: SignInEvent, sessionMs: number): SignInStep {
  const { user, atMs } = event;
  const done = (epoch: number): SignInStep => ({ step: 'done', epoch, endsAtMs: atMs + sessionMs });
  if (event.kind === 'password') {
    if (!user.isActive) return FIRST;
    if (!user.mustChange) return done(user.epoch);
    return { step: 'new password', epoch: user.epoch, endsAtMs: atMs + Math.min(STEP_MS, sessionMs) };
  }
  // One who is signed in may change the password, too, and goes on in this browser.
  return stepNow(before, user, atMs).step === 'password' ? FIRST : done(event.epochAfter);
}
