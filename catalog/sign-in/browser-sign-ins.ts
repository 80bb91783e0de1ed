import type { Principal } from '#shared/authorization/principal.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { MfaRequired } from '#shared/config/mfa-required.ts';
import { SkeinError } from '#shared/error.ts';
import { maskSecrets } from '#shared/mask-secrets.ts';
import { tenantId } from '#shared/id.ts';
import { must } from '#shared/must.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import type { CatalogContext } from '../context.ts';
import { reasonOf } from '../principal/refused-sign-in.ts';
import { AT_PROVIDER, hasShown, methodOf, mustHaveFactor, RECOVERY_CODE } from '../factor/required-factor.ts';
import { userByPassword } from '../principal/password-of-user.ts';
import { changing, partyOf, reading, type Call, type Changing } from '../principal-statement/change.ts';
import { redeemInvitation, replaceOwnPassword, setOwnPassword } from '../principal-statement/own-password.ts';
import { deleteAppSignIns, deleteCodes } from '../store/postgres/app-sign-in-store.ts';
import {
  browserSignInsOf,
  deleteBrowserSignIns,
  findBrowserSignIn,
  findBrowserSignInById,
  insertBrowserSignIn,
  replaceBrowserSignIn,
  moveBrowserSignIn,
  type BrowserSignIn,
} from '../store/postgres/browser-sign-in-store.ts';
import { findInvitedAnywhere } from '../store/postgres/credential-store.ts';
import type { PrincipalRecord } from '../store/postgres/principal-record-store.ts';
import type { TokenPrincipal } from '../store/postgres/principal-store.ts';
import { maySignIn } from '../store/postgres/principal-store.ts';
import { findTokenPrincipal } from '../store/postgres/shown-credentials.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { transact } from '../store/postgres/transact.ts';
import { newSecret, sha256 } from '../token/secret.ts';
import {
  nextStep,
  stepNow,
  type Proof,
  type SignInEvent,
  type SignInStep,
  type SignInUser,
  type StepName,
} from './sign-in-step.ts';

/** Begins the secret that a browser keeps. */
const SECRET_PREFIX = 'skein_si_';
/** Longest secret, and longest invitation, that is looked for. */
const SECRET_LENGTH_MAX = 200;
/** So much of a program's name is kept. */
const AGENT_LENGTH_MAX = 200;

/** A browser as it comes: its address, the program, and the secret of its cookie. */
export type Browser = { readonly address: string; readonly agent: string; readonly secret: string | undefined };

/** The sign-in that a browser has, in a step behind the first. */
export type Found = {
  readonly signIn: BrowserSignIn;
  readonly user: TokenPrincipal;
  readonly secret: string;
};

/** A step that was reached, and the browser's secret from here on. */
export type ReachedStep = { readonly step: StepName; readonly secret: string; readonly endsAtMs: number };

/** A user as the steps know him. */
const userOf = (
  config: Config,
  { status, mustChangePassword, sessionEpoch, factors, roles }: PrincipalRecord | TokenPrincipal,
  mfaRequired: MfaRequired,
): SignInUser => ({
  isActive: maySignIn(status),
  mustChange: mustChangePassword,
  hasFactor: factors.length > 0,
  needsFactor: mustHaveFactor(config, { roles, mfaRequired }),
  epoch: sessionEpoch,
});

/** How the person has proven himself, by what his sign-in keeps. */
export function proofOf({ amr }: Pick<BrowserSignIn, 'amr'>): Proof {
  if (amr.includes(AT_PROVIDER)) {
    if (hasShown(amr)) return 'factor of the provider';
    return amr.includes(RECOVERY_CODE) ? 'recovery code' : 'password';
  }
  if (hasShown(amr)) return 'factor';
  return amr.includes('mfa') ? 'recovery code' : 'password';
}

const stepOf = (signIn: BrowserSignIn): SignInStep => ({
  step: signIn.step,
  proof: proofOf(signIn),
  epoch: signIn.sessionEpoch,
  endsAtMs: signIn.endsAt.getTime(),
});

/** The step of a sign-in that counts now. */
export const currentStep = (config: Config, signIn: BrowserSignIn, user: TokenPrincipal, nowMs: number): SignInStep =>
  stepNow(stepOf(signIn), userOf(config, user, user.mfaRequired), nowMs);

/** The sign-in of a browser, in the step that counts now; undefined: it has none, and begins with the password. */
export async function findSignIn(
  { store, clock, config }: CatalogContext,
  secret: string | undefined,
): Promise<Found | undefined> {
  if (secret?.startsWith(SECRET_PREFIX) !== true || secret.length > SECRET_LENGTH_MAX) return undefined;
  const signIn = await findBrowserSignIn(store.db, sha256(secret));
  const user = signIn === undefined ? undefined : await findTokenPrincipal(store.db, signIn.principal);
  if (signIn === undefined || user === undefined) return undefined;
  return currentStep(config, signIn, user, clock.nowMs()).step === 'password' ? undefined : { signIn, user, secret };
}

/**
 * The password step. The sign-in that the browser had before ends, whoever it was: a sign-in never grows out of one that another may have put there.
 * @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS
 */
export async function beginSignIn(
  context: CatalogContext,
  browser: Browser,
  { tenant, user, password }: { readonly tenant: string; readonly user: string; readonly password: string },
): Promise<ReachedStep> {
  const { clock, signIns, metrics } = context;
  const { address } = browser;
  try {
    const principal = await userByPassword(context, { tenant, user, address }, password, 'name or email');
    return await beginProvenSignIn(context, browser, principal, { amr: ['pwd'], authenticatedAtMs: clock.nowMs() });
  } catch (error) {
    const code = error instanceof SkeinError ? error.code : undefined;
    if (code === 'WRONG_PASSWORD' || code === 'TOO_MANY_SIGN_INS') {
      const seen = { address, agent: browser.agent, reason: reasonOf(error) };
      signIns.refused({ by: 'name', tenant, name: user }, 'password', seen);
    }
    const outcome = code === 'WRONG_PASSWORD' ? 'refused' : code === 'TOO_MANY_SIGN_INS' ? 'throttled' : 'failed';
    metrics.signIns.inc({ method: 'password', outcome });
    throw code === 'WRONG_PASSWORD' ? wrong() : error;
  }
}

/** Something that a person has shown in place of our password step, or with it, and when. */
type Shown = { readonly amr: readonly string[]; readonly authenticatedAtMs: number };

/**
 * Begins the sign-in of a browser whose person has shown his password, or comes from an identity provider. @throws WRONG_PASSWORD for one who may
 * not sign in
 */
export async function beginProvenSignIn(
  context: CatalogContext,
  browser: Browser,
  principal: TokenPrincipal,
  { amr, authenticatedAtMs }: Shown,
): Promise<ReachedStep> {
  const { store, clock, config, signIns, metrics } = context;
  const { address, agent } = browser;
  const before = await findSignIn(context, browser.secret);
  if (before !== undefined && before.user.id !== principal.id) await endSignIns(context, before, before.signIn.id);
  const atMs = clock.nowMs();
  const method = methodOf(amr);
  const user = userOf(config, principal, principal.mfaRequired);
  const event: SignInEvent =
    method === 'password'
      ? { kind: 'password', user, atMs }
      : { kind: 'provider', user, proof: hasShown(amr) ? 'factor of the provider' : 'password', atMs };
  const next = nextStep({ step: 'password' }, event, config['catalog.browser_session']);
  if (next.step === 'password') throw wrong();
  const secret = newSecret(SECRET_PREFIX);
  const id = newUuidV7(atMs);
  await transact(store.db, async (tx) => {
    await insertBrowserSignIn(tx, {
      id,
      secretSha256: sha256(secret),
      principal: principal.id,
      step: next.step,
      sessionEpoch: next.epoch,
      amr,
      address,
      agent: maskSecrets(agent).slice(0, AGENT_LENGTH_MAX),
      authenticatedAt: new Date(authenticatedAtMs),
      endsAt: new Date(next.endsAtMs),
    });
    // The programs that the person has allowed from this browser go on, and end when he signs out of it.
    if (before !== undefined) await replaceBrowserSignIn(tx, before.signIn, id);
  });
  if (next.step === 'done') {
    await signIns.granted(principal, method, { address, agent, factors: amr });
    metrics.signIns.inc({ method, outcome: 'granted' });
  }
  return { step: next.step, secret, endsAtMs: next.endsAtMs };
}

/**
 * A new password: of one who must change it and has just shown the old one, or of one who is signed in and shows it now. All other sign-ins
 * and tokens of the user end; this browser goes on.
 * @throws WRONG_PASSWORD, PASSWORD_POLICY, TOO_MANY_SIGN_INS
 */
export async function setNewPassword(
  context: CatalogContext,
  found: Found,
  {
    password,
    oldPassword,
    address,
  }: { readonly password: string; readonly oldPassword: string; readonly address: string },
): Promise<ReachedStep> {
  const { signIn, user } = found;
  if (signIn.step !== 'done' && signIn.step !== 'new password') throw over();
  let reached: ReachedStep | undefined;
  const also = async (change: Changing): Promise<void> => {
    reached = await goOn(context, found, change);
  };
  const call = callOf(context, user);
  if (signIn.step === 'done') {
    await setOwnPassword(call, { kind: 'set_own_password', password, oldPassword }, also);
  } else {
    await replaceOwnPassword(call, (await reading(call)).actor, password, also);
  }
  const next = must(reached, 'the step was reached with the change');
  if (signIn.step !== 'done' && next.step === 'done') {
    await context.signIns.granted(user, methodOf(signIn.amr), { address, agent: signIn.agent, factors: signIn.amr });
  }
  return next;
}

/**
 * Moves a browser's sign-in on in the transaction of a change of its user that raises the session epoch: a new password, a factor.
 * @param shown the factor that was set up, as RFC 8176 names it; undefined: none was @throws UNAUTHENTICATED when the step is over
 */
export async function goOn(
  { config }: CatalogContext,
  { signIn, user }: Found,
  { tx, actor, now }: Changing,
  shown?: 'otp' | 'hwk',
): Promise<ReachedStep> {
  const before = userOf(config, actor, user.mfaRequired);
  const after = userOf(config, must(await findTokenPrincipal(tx, user.id), 'it was changed'), user.mfaRequired);
  const event = { kind: 'change', user: before, after, isProof: shown !== undefined, atMs: now.getTime() } as const;
  const next = nextStep(stepOf(signIn), event, config['catalog.browser_session']);
  return moved(tx, signIn, next, {
    amr: shown === undefined ? signIn.amr : withFactor(signIn.amr, shown),
    // One who was signed in has shown nothing anew but what was changed.
    authenticatedAt: shown === undefined || signIn.step === 'done' ? signIn.authenticatedAt : now,
    now,
  });
}

/** Moves a sign-in on from its step `factor`. @param shown undefined: a recovery code @throws UNAUTHENTICATED */
export async function goOnWithFactor(
  { store, clock, config, signIns }: CatalogContext,
  { signIn, user }: Found,
  shown: 'otp' | 'hwk' | undefined,
  address: string,
): Promise<ReachedStep> {
  const now = new Date(clock.nowMs());
  const current = await findTokenPrincipal(store.db, user.id);
  if (current === undefined) throw over();
  const holder = userOf(config, current, current.mfaRequired);
  const proof = shown === undefined ? 'recovery code' : 'factor';
  const event = { kind: 'proof', user: holder, proof, atMs: now.getTime() } as const;
  const next = nextStep(stepOf(signIn), event, config['catalog.browser_session']);
  const facts = { amr: withFactor(signIn.amr, shown), authenticatedAt: now, now };
  const reached = await transact(store.db, (tx) => moved(tx, signIn, next, facts));
  if (next.step === 'done') {
    await signIns.granted(user, methodOf(facts.amr), { address, agent: signIn.agent, factors: facts.amr });
  }
  return reached;
}

/** Proof by password and a factor; undefined: a recovery code. */
export const withFactor = (amr: readonly string[], shown: 'otp' | 'hwk' | undefined): readonly string[] => [
  ...new Set([...amr, ...(shown === undefined ? [amr.includes(AT_PROVIDER) ? RECOVERY_CODE : 'mfa'] : [shown, 'mfa'])]),
];

/** Gives a sign-in its next step, with a new secret. @throws UNAUTHENTICATED when there is none, or another has taken it */
async function moved(
  tx: Tx,
  { secretSha256 }: BrowserSignIn,
  next: SignInStep,
  { amr, authenticatedAt, now }: Pick<BrowserSignIn, 'amr' | 'authenticatedAt'> & { readonly now: Date },
): Promise<ReachedStep> {
  if (next.step === 'password') throw over();
  const { step, epoch, endsAtMs } = next;
  const secret = newSecret(SECRET_PREFIX);
  const row = {
    step,
    secretSha256: sha256(secret),
    sessionEpoch: epoch,
    amr,
    authenticatedAt,
    endsAt: new Date(endsAtMs),
  };
  if (!(await moveBrowserSignIn(tx, secretSha256, row, now))) throw over();
  return { step, secret, endsAtMs };
}

/** The one answer to a wrong password, a wrong factor and to somebody who may not sign in. */
export const wrong = (): SkeinError => new SkeinError('WRONG_PASSWORD', 'the user, the password or the code is wrong');

export const over = (): SkeinError => new SkeinError('UNAUTHENTICATED', 'the sign-in is over: sign in again');

/**
 * Redeems an invitation for the one whom it is for, who has nothing else to show. @returns the tenant
 * @throws InvalidInvitation, PASSWORD_POLICY, TOO_MANY_SIGN_INS
 */
export async function acceptInvitation(
  context: CatalogContext,
  { token, password, address }: { readonly token: string; readonly password: string; readonly address: string },
): Promise<string> {
  const { store, clock, passwords } = context;
  const attempt = { tenant: '', user: '', address, isNameless: true };
  passwords.requireAllowed(attempt);
  const digest = token.length > SECRET_LENGTH_MAX ? undefined : sha256(token);
  const invited =
    digest === undefined ? undefined : await findInvitedAnywhere(store.db, digest, new Date(clock.nowMs()));
  const user = invited === undefined ? undefined : await findTokenPrincipal(store.db, invited.id);
  // A row of a user who has gone, or was suspended, is no way in.
  if (user?.status !== 'INVITED') {
    passwords.failed(attempt);
    throw new SkeinError('InvalidInvitation', 'the invitation is not valid: it is unknown, used or over');
  }
  await redeemInvitation(callOf(context, user), { kind: 'redeem_invitation', token, password });
  return user.tenant;
}

/** A statement that a user runs about himself, by his sign-in. */
export const callOf = (context: CatalogContext, user: TokenPrincipal): Call => ({
  context,
  principal: {
    sub: user.id,
    tenant: tenantId(user.tenant),
    preferred_username: user.username,
    roles: [...user.roles],
    scope: '',
    sess_epoch: user.sessionEpoch,
    auth_method: 'password',
  } satisfies Principal,
  term: '0',
});

/**
 * Requires, in the transaction of a change that lasts, that the browser is still signed in: the change may have waited for a new password, a reset of
 * factors, or the end of this sign-in. @throws UNAUTHENTICATED
 */
export async function requireSignedIn({ tx, actor }: Changing, { signIn }: Found): Promise<void> {
  const current = await findBrowserSignInById(tx, signIn.id);
  if (current === undefined || actor.sessionEpoch !== signIn.sessionEpoch) throw over();
}

/** Ends the sign-in that a browser has, if it has one. */
export async function endSignIn(context: CatalogContext, secret: string | undefined): Promise<void> {
  const found = await findSignIn(context, secret);
  if (found !== undefined) await endSignIns(context, found, found.signIn.id);
}

/**
 * Ends one sign-in of the user, by browser or by a program, or all of them. With a browser's end those of the programs that were allowed
 * there. @param which undefined = all
 */
export async function endSignIns(context: CatalogContext, { user }: Found, which?: string): Promise<void> {
  await changing(callOf(context, user), async (change) => {
    const ofApps =
      which === undefined
        ? await deleteAppSignIns(change.tx, user.id)
        : (await deleteAppSignIns(change.tx, user.id, { id: which })) +
          (await deleteAppSignIns(change.tx, user.id, { browserSignIn: which }));
    await deleteCodes(change.tx, user.id, which);
    const count = ofApps + (await deleteBrowserSignIns(change.tx, user.id, which));
    if (count === 0) return;
    await change.record({ type: 'end_sign_in', target: partyOf(change.actor), details: { sign_ins: count } });
  });
}

/** The sign-ins of the user that have not ended. */
export const listSignIns = ({ store, clock }: CatalogContext, { user }: Found): Promise<readonly BrowserSignIn[]> =>
  browserSignInsOf(store.db, user.id, new Date(clock.nowMs()));
