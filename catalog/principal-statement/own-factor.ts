import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { beginEnrolment, proveEnrolment, switchOn } from '../factor/enrolment.ts';
import { proveCode } from '../factor/prove-factor.ts';
import { hasShown, mustHaveFactor } from '../factor/required-factor.ts';
import { deleteAuthenticator, deleteFactors, putRecoveryCodes } from '../store/postgres/factor-store.ts';
import { raiseSessionEpoch } from '../store/postgres/principal-store.ts';
import { findTokenPrincipal } from '../store/postgres/shown-credentials.ts';
import { changing, done, partyOf, reading, requireUser, type Call, type Caller, type Reading } from './change.ts';

/** Statements of users about their own second factor; `ALTER USER u RESET MFA` is for who has lost all. */

/** Time after a sign-in in which its tokens may change factors (service specification, Limits). */
const FRESH_S = 300;

/**
 * Lets nothing change factors but a token of a sign-in by password, and by the factor where there is one, that is new: a token that leaked, a
 * personal access token or a key must not. An exchange does not make a sign-in newer. @throws FORBIDDEN
 */
function requireNewSignIn({ principal }: Call, actor: Caller, now: Date): void {
  const { auth_method: method, auth_time: atS, amr = [] } = principal;
  const isNew = atS !== undefined && now.getTime() / 1_000 - atS <= FRESH_S;
  // A fresh sign-in at an identity provider stands for the password.
  const isPerson = (method === 'password' && amr.includes('pwd')) || method === 'sso';
  const isWhole = isPerson && (actor.factors.length === 0 || hasShown(amr));
  if (isNew && isWhole) return;
  throw new SkeinError(
    'FORBIDDEN',
    'sign in again, with password and second factor: factors are changed within five minutes of that',
  );
}

async function readingOwn(call: Call): Promise<Reading> {
  const all = await reading(call);
  if (all.actor.kind !== 'USER') throw new SkeinError('FORBIDDEN', 'a service account has no second factor');
  requireNewSignIn(call, all.actor, all.now);
  return all;
}

/** A change by one who may still make it when its turn comes: a factor that was added may have been first. */
const changingOwn: typeof changing = (call, work) =>
  changing(call, (change) => {
    requireNewSignIn(call, change.actor, change.now);
    return work(change);
  });

const ownerOfFactor = ({ tenant, actor }: Pick<Reading, 'tenant' | 'actor'>) => ({
  id: actor.id,
  username: actor.username,
  tenant: tenant.name,
});

/** `ALTER USER SELF ENROLL MFA TOTP`. Nothing counts before VERIFY; the token stays good, so that it can verify. @throws FORBIDDEN, ALREADY_EXISTS */
export async function enrollMfa(call: Call): Promise<PrincipalAnswer> {
  await readingOwn(call);
  return changingOwn(call, async (change) => {
    requireNotEnrolled(change.actor);
    const { secret, uri } = await beginEnrolment(call.context, ownerOfFactor(change), null, change.tx);
    return { columns: ['secret', 'otpauth_uri'], rows: [[secret, uri]], next: null };
  });
}

/** @throws ALREADY_EXISTS */
function requireNotEnrolled({ factors }: Caller): void {
  if (factors.includes('totp')) throw new SkeinError('ALREADY_EXISTS', 'an authenticator is enrolled already');
}

/** `ALTER USER SELF VERIFY MFA TOTP`: a wrong code counts towards the lock. @throws FORBIDDEN, ALREADY_EXISTS, WRONG_PASSWORD */
export async function verifyMfa(call: Call, { code }: RequestOf<'verify_mfa'>): Promise<PrincipalAnswer> {
  const own = await readingOwn(call);
  requireNotEnrolled(own.actor);
  const shown = await proveEnrolment(call.context, ownerOfFactor(own), null, code);
  if (shown === undefined) throw wrongCode();
  return changingOwn(call, async (change) => {
    const { tx, actor, now } = change;
    requireNotEnrolled(actor);
    if (!(await switchOn(tx, actor, shown, now))) throw wrongCode();
    await raiseSessionEpoch(tx, actor.id);
    await change.record({ type: 'add_factor', target: partyOf(actor), details: { factor: 'totp' } });
    return done('ALTER USER');
  });
}

/** `ALTER USER SELF DISABLE MFA`: a wrong code counts towards the lock. @throws FORBIDDEN, INVALID_STATE, WRONG_PASSWORD */
export async function disableMfa(call: Call, { code }: RequestOf<'disable_mfa'>): Promise<PrincipalAnswer> {
  const own = await readingOwn(call);
  if (!own.actor.factors.includes('totp')) throw new SkeinError('INVALID_STATE', 'no authenticator is enrolled');
  if (await isRequired(call, own)) {
    throw new SkeinError('INVALID_STATE', 'the organisation requires a second factor for this account');
  }
  if (!(await proveCode(call.context, ownerOfFactor(own), code))) throw wrongCode();
  return changingOwn(call, async (change) => {
    const { tx, actor } = change;
    await deleteAuthenticator(tx, actor.id);
    if (!actor.factors.includes('passkey')) await putRecoveryCodes(tx, actor.id, []);
    await raiseSessionEpoch(tx, actor.id);
    await change.record({ type: 'drop_factor', target: partyOf(actor), details: { factor: 'totp' } });
    return done('ALTER USER');
  });
}

async function isRequired({ context }: Call, { db, actor }: Reading): Promise<boolean> {
  const holder = await findTokenPrincipal(db, actor.id);
  return holder === undefined || mustHaveFactor(context.config, holder);
}

const wrongCode = (): SkeinError => new SkeinError('WRONG_PASSWORD', 'the code is wrong');

/** `ALTER USER u RESET MFA`: for a user who has lost his factors, by another. @throws FORBIDDEN, PRINCIPAL_NOT_FOUND, INVALID_STATE */
export const resetMfa = (call: Call, { name }: RequestOf<'reset_mfa'>): Promise<PrincipalAnswer> =>
  changing(call, async (change) => {
    const { tx, tenant, actor } = change;
    requirePrincipalAction(actor, 'user.create');
    const user = await requireUser(tx, tenant.id, name);
    requirePrincipalAction(actor, 'user.change', user);
    if (user.id === actor.id) throw new SkeinError('FORBIDDEN', 'nobody resets his own second factor');
    const kinds = await deleteFactors(tx, user.id);
    await raiseSessionEpoch(tx, user.id);
    await change.record({ type: 'reset_mfa', target: partyOf(user), details: { factors: [...kinds] } });
    return done('ALTER USER');
  });
