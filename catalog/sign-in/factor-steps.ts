import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import type { CatalogContext } from '../context.ts';
import {
  enrolmentOf,
  proveEnrolment,
  renewRecoveryCodes,
  switchOn,
  type NewAuthenticator,
} from '../factor/enrolment.ts';
import { proveCode, proveRecoveryCode } from '../factor/prove-factor.ts';
import { changing, partyOf } from '../principal-statement/change.ts';
import { raiseSessionEpoch } from '../store/postgres/principal-store.ts';
import {
  callOf,
  goOn,
  goOnWithFactor,
  over,
  proofOf,
  requireSignedIn,
  withFactor,
  wrong,
  type Found,
  type ReachedStep,
} from './browser-sign-ins.ts';
import type { Proof } from './sign-in-step.ts';

/** The time after a sign-in, with the factor where there is one, in which factors may be changed. */
const FRESH_MS = 300_000;

const FACTORS: readonly Proof[] = ['factor', 'factor of the provider'];

/** Whether the person has proven himself so lately, and so well, that he may change his factors. */
export const isFresh = ({ clock }: CatalogContext, { signIn, user }: Found): boolean =>
  clock.nowMs() - signIn.authenticatedAt.getTime() <= FRESH_MS &&
  (user.factors.length === 0 || FACTORS.includes(proofOf(signIn)));

/** @throws FORBIDDEN */
export function requireFresh(context: CatalogContext, found: Found): void {
  if (isFresh(context, found)) return;
  throw new SkeinError('FORBIDDEN', 'your sign-in is more than five minutes old: sign in again');
}

/** A code as a person has typed it. */
export type ShownCode = { readonly kind: 'code' | 'recovery code'; readonly code: string };

/** The factor step, by a code. @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS, UNAUTHENTICATED when the step is over */
export async function showCode(
  context: CatalogContext,
  found: Found,
  { kind, code }: ShownCode,
  address: string,
): Promise<ReachedStep> {
  if (found.signIn.step !== 'factor') throw over();
  const prove = kind === 'code' ? proveCode : proveRecoveryCode;
  await requireRight(context, found, address, () => prove(context, found.user, code));
  return goOnWithFactor(context, found, kind === 'code' ? 'otp' : undefined, address);
}

/**
 * Requires that a factor is right. A wrong one is refused, counted and logged like a wrong password, and takes as long: a hash.
 * @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS
 */
export async function requireRight(
  { passwords, signIns, metrics }: CatalogContext,
  { user, signIn }: Found,
  address: string,
  prove: () => Promise<boolean>,
): Promise<void> {
  const attempt = { tenant: user.tenant, user: user.username, address };
  passwords.requireAllowed(attempt);
  if (await prove()) return;
  signIns.refused({ by: 'name', tenant: user.tenant, name: user.username }, 'password', {
    address,
    agent: signIn.agent,
    reason: 'factor',
  });
  metrics.signIns.inc({ method: 'password', outcome: 'refused' });
  await passwords.matches(attempt, '', undefined);
  throw wrong();
}

/** The secret for an authenticator app, for a browser that may set one up. @throws UNAUTHENTICATED, FORBIDDEN */
export async function newAuthenticator(context: CatalogContext, found: Found): Promise<NewAuthenticator> {
  requireSetUp(context, found);
  return enrolmentOf(context, found.user, found.signIn.id);
}

/** Whether a browser is in a step that may set up a factor. @throws UNAUTHENTICATED, FORBIDDEN */
export function requireSetUp(context: CatalogContext, found: Found): void {
  const { step } = found.signIn;
  if (step === 'set up factor') return;
  if (step !== 'done') throw over();
  requireFresh(context, found);
}

/** A step that was reached, and the recovery codes that are shown once with it. */
export type ReachedWithCodes = { readonly reached: ReachedStep; readonly codes: readonly string[] };

/**
 * Switches the new authenticator on by its first code. All other sign-ins and tokens of the user end; this browser goes on.
 * @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS, UNAUTHENTICATED, FORBIDDEN
 */
export async function switchOnAuthenticator(
  context: CatalogContext,
  found: Found,
  code: string,
  address: string,
): Promise<ReachedWithCodes> {
  requireSetUp(context, found);
  const { user, signIn } = found;
  let shown: Awaited<ReturnType<typeof proveEnrolment>>;
  await requireRight(context, found, address, async () => {
    shown = await proveEnrolment(context, user, signIn.id, code);
    return shown !== undefined;
  });
  const enrolment = must(shown, 'the code was right');
  const result = await changing(callOf(context, user), async (change) => {
    const { tx, actor, now } = change;
    if (!(await switchOn(tx, actor, enrolment, now))) throw over();
    const codes = await renewRecoveryCodes(tx, actor);
    await raiseSessionEpoch(tx, actor.id);
    await change.record({ type: 'add_factor', target: partyOf(actor), details: { factor: 'totp' } });
    return { codes, reached: await goOn(context, found, change, 'otp') };
  });
  if (signIn.step !== 'done') {
    const factors = withFactor(signIn.amr, 'otp');
    await context.signIns.granted(user, 'password', { address, agent: signIn.agent, factors });
  }
  return result;
}

/** Makes ten new recovery codes, which are shown once; those before end. @throws FORBIDDEN, INVALID_STATE, UNAUTHENTICATED */
export async function newRecoveryCodesOf(context: CatalogContext, found: Found): Promise<readonly string[]> {
  if (found.signIn.step !== 'done') throw over();
  requireFresh(context, found);
  return changing(callOf(context, found.user), async (change) => {
    await requireSignedIn(change, found);
    if (change.actor.factors.length === 0) throw new SkeinError('INVALID_STATE', 'there is no second factor');
    await change.record({ type: 'new_recovery_codes', target: partyOf(change.actor) });
    return renewRecoveryCodes(change.tx, change.actor);
  });
}
