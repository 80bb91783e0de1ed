import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { maskSecrets } from '#shared/mask-secrets.ts';
import { tenantId } from '#shared/id.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import type { CatalogContext } from '../context.ts';
import { userByPassword } from '../principal/password-of-user.ts';
import { changing, partyOf, reading, type Call, type Changing } from '../principal-statement/change.ts';
import { redeemInvitation, replaceOwnPassword, setOwnPassword } from '../principal-statement/own-password.ts';
import {
  browserSignInsOf,
  deleteBrowserSignIns,
  findBrowserSignIn,
  finishBrowserSignIn,
  insertBrowserSignIn,
  type BrowserSignIn,
} from '../store/postgres/browser-sign-in-store.ts';
import { findInvitedAnywhere } from '../store/postgres/credential-store.ts';
import type { TokenPrincipal } from '../store/postgres/principal-store.ts';
import { findTokenPrincipal } from '../store/postgres/shown-credentials.ts';
import { transact } from '../store/postgres/transact.ts';
import { newSecret, sha256 } from '../token/secret.ts';
import { nextStep, stepNow, type SignInStep, type SignInUser } from './sign-in-step.ts';

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
export type ReachedStep = {
  readonly step: 'new password' | 'done';
  readonly secret: string;
  readonly endsAtMs: number;
};

const userOf = ({ status, mustChangePassword, sessionEpoch }: TokenPrincipal): SignInUser => ({
  isActive: status === 'ACTIVE',
  mustChange: mustChangePassword,
  epoch: sessionEpoch,
});

const stepOf = ({ step, sessionEpoch, endsAt }: BrowserSignIn): SignInStep => ({
  step,
  epoch: sessionEpoch,
  endsAtMs: endsAt.getTime(),
});

/** The sign-in of a browser, in the step that counts now; undefined: it has none, and begins with the password. */
export async function findSignIn(
  { store, clock }: CatalogContext,
  secret: string | undefined,
): Promise<Found | undefined> {
  if (secret?.startsWith(SECRET_PREFIX) !== true || secret.length > SECRET_LENGTH_MAX) return undefined;
  const signIn = await findBrowserSignIn(store.db, sha256(secret));
  const user = signIn === undefined ? undefined : await findTokenPrincipal(store.db, signIn.principal);
  if (signIn === undefined || user === undefined) return undefined;
  return stepNow(stepOf(signIn), userOf(user), clock.nowMs()).step === 'password'
    ? undefined
    : { signIn, user, secret };
}

/**
 * The password step. What the browser had before ends, whoever it was: a sign-in never grows out of one that another may have put there.
 * @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS
 */
export async function beginSignIn(
  context: CatalogContext,
  browser: Browser,
  { tenant, user, password }: { readonly tenant: string; readonly user: string; readonly password: string },
): Promise<ReachedStep> {
  const { store, clock, config, signIns, metrics } = context;
  const { address } = browser;
  try {
    const principal = await userByPassword(context, { tenant, user, address }, password, 'name or email');
    await endSignIn(context, browser.secret);
    const atMs = clock.nowMs();
    const event = { kind: 'password', user: userOf(principal), atMs } as const;
    const next = nextStep({ step: 'password' }, event, config['catalog.browser_session']);
    if (next.step === 'password') throw new SkeinError('WRONG_PASSWORD', 'the user or the password is wrong');
    const secret = newSecret(SECRET_PREFIX);
    await transact(store.db, (tx) =>
      insertBrowserSignIn(tx, {
        id: newUuidV7(atMs),
        secretSha256: sha256(secret),
        principal: principal.id,
        step: next.step,
        sessionEpoch: next.epoch,
        amr: ['pwd'],
        address,
        agent: maskSecrets(browser.agent).slice(0, AGENT_LENGTH_MAX),
        authenticatedAt: new Date(atMs),
        endsAt: new Date(next.endsAtMs),
      }),
    );
    if (next.step === 'done') await signIns.granted(principal, 'password', address);
    metrics.signIns.inc({ method: 'password', outcome: 'granted' });
    return { step: next.step, secret, endsAtMs: next.endsAtMs };
  } catch (error) {
    const code = error instanceof SkeinError ? error.code : undefined;
    if (code === 'WRONG_PASSWORD' || code === 'TOO_MANY_SIGN_INS') {
      signIns.refused({ by: 'name', tenant, name: user }, 'password', address);
    }
    const outcome = code === 'WRONG_PASSWORD' ? 'refused' : code === 'TOO_MANY_SIGN_INS' ? 'throttled' : 'failed';
    metrics.signIns.inc({ method: 'password', outcome });
    throw error;
  }
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
  const secret = newSecret(SECRET_PREFIX);
  let endsAtMs = 0;
  const goOn = async ({ tx, actor, now }: Changing, epochAfter: number): Promise<void> => {
    const before: SignInUser = {
      isActive: actor.status === 'ACTIVE',
      mustChange: actor.mustChangePassword,
      epoch: actor.sessionEpoch,
    };
    const event = { kind: 'new password', user: before, epochAfter, atMs: now.getTime() } as const;
    const next = nextStep(stepOf(signIn), event, context.config['catalog.browser_session']);
    if (next.step === 'password') throw over();
    endsAtMs = next.endsAtMs;
    const isFirst = await finishBrowserSignIn(tx, signIn.secretSha256, {
      secretSha256: sha256(secret),
      sessionEpoch: next.epoch,
      authenticatedAt: now,
      endsAt: new Date(endsAtMs),
    });
    if (!isFirst) throw over();
  };
  const call = callOf(context, user);
  if (signIn.step === 'done') {
    await setOwnPassword(call, { kind: 'set_own_password', password, oldPassword }, goOn);
  } else {
    await replaceOwnPassword(call, (await reading(call)).actor, password, goOn);
    await context.signIns.granted(user, 'password', address);
  }
  return { step: 'done', secret, endsAtMs };
}

const over = (): SkeinError => new SkeinError('UNAUTHENTICATED', 'the sign-in is over: sign in again');

/**
 * Redeems an invitation for the one whom it is for, who has nothing else to show. @returns the tenant
 * @throws InvalidInvitation, PASSWORD_POLICY, TOO_MANY_SIGN_INS
 */
export async function acceptInvitation(
  context: CatalogContext,
  { token, password, address }: { readonly token: string; readonly password: string; readonly address: string },
): Promise<string> {
  const { store, clock, passwords } = context;
  const attempt = { tenant: '', user: '', address };
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
const callOf = (context: CatalogContext, user: TokenPrincipal): Call => ({
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

/** Ends the sign-in that a browser has, if it has one. */
export async function endSignIn(context: CatalogContext, secret: string | undefined): Promise<void> {
  const found = await findSignIn(context, secret);
  if (found !== undefined) await endSignIns(context, found, found.signIn.id);
}

/** Ends one sign-in of the user, or all of them. @param which undefined = all */
export async function endSignIns(context: CatalogContext, { user }: Found, which?: string): Promise<void> {
  await changing(callOf(context, user), async (change) => {
    const count = await deleteBrowserSignIns(change.tx, user.id, which);
    if (count === 0) return;
    await change.record({ type: 'end_sign_in', target: partyOf(change.actor), details: { sign_ins: count } });
  });
}

/** The sign-ins of the user that have not ended. */
export const listSignIns = ({ store, clock }: CatalogContext, { user }: Found): Promise<readonly BrowserSignIn[]> =>
  browserSignInsOf(store.db, user.id, new Date(clock.nowMs()));
