import { SkeinError } from '#shared/error.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import type { CatalogContext } from '../context.ts';
import {
  assertionOptions,
  madePasskey,
  registrationOptions,
  shownAssertion,
  type RelyingParty,
} from '../factor/passkeys.ts';
import { proveFactor } from '../factor/prove-factor.ts';
import { changing, partyOf } from '../principal-statement/change.ts';
import { putChallenge, takeChallenge } from '../store/postgres/browser-sign-in-store.ts';
import { insertPasskey, listPasskeys, usePasskey } from '../store/postgres/passkey-store.ts';
import { raiseSessionEpoch } from '../store/postgres/principal-store.ts';
import { transact } from '../store/postgres/transact.ts';
import { passkeyName } from './passkey-name.ts';
import { callOf, goOn, goOnWithFactor, over, withFactor, type Found, type ReachedStep } from './browser-sign-ins.ts';
import { requireRight, requireSetUp } from './factor-steps.ts';

/** Passkeys that a user may have. */
const PASSKEYS_MAX = 10;

/** The request to the browser in the factor step, as JSON; undefined: the user has no passkey. */
export async function askForPasskey(
  { store }: CatalogContext,
  { user, signIn }: Found,
  site: RelyingParty,
): Promise<string | undefined> {
  const known = await listPasskeys(store.db, user.id);
  if (known.length === 0) return undefined;
  const options = await assertionOptions(site, known);
  await transact(store.db, (tx) => putChallenge(tx, signIn.id, options.challenge));
  return JSON.stringify(options);
}

/** The request to the browser to make a passkey, as JSON. @throws UNAUTHENTICATED, FORBIDDEN */
export async function askForNewPasskey(context: CatalogContext, found: Found, site: RelyingParty): Promise<string> {
  requireSetUp(context, found);
  const { user, signIn } = found;
  const options = await registrationOptions(site, user, await listPasskeys(context.store.db, user.id));
  await transact(context.store.db, (tx) => putChallenge(tx, signIn.id, options.challenge));
  return JSON.stringify(options);
}

/** The factor step, by a passkey. @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS, UNAUTHENTICATED when the step is over */
export async function showPasskey(
  context: CatalogContext,
  found: Found,
  site: RelyingParty,
  shown: { readonly answer: string; readonly address: string },
): Promise<ReachedStep> {
  const { user, signIn } = found;
  if (signIn.step !== 'factor') throw over();
  const prove = (): Promise<boolean> =>
    proveFactor(context, user, async ({ tx, now, record }) => {
      const challenge = await takeChallenge(tx, signIn.id);
      if (challenge === undefined) return false;
      const assertion = await shownAssertion(site, await listPasskeys(tx, user.id), challenge, shown.answer);
      if (
        assertion?.kind === 'right' &&
        (await usePasskey(tx, assertion.passkey.id, { counter: assertion.counter, now }))
      ) {
        return true;
      }
      if (assertion !== undefined)
        await record({ type: 'refuse_passkey', details: { passkey: assertion.passkey.name } });
      return false;
    });
  await requireRight(context, found, shown.address, prove);
  return goOnWithFactor(context, found, 'hwk', shown.address);
}

/**
 * Adds the passkey that the browser has made. All other sign-ins and tokens of the user end; this browser goes on.
 * @throws INVALID_REQUEST, LIMIT_REACHED, ALREADY_EXISTS, UNAUTHENTICATED, FORBIDDEN
 */
export async function addPasskey(
  context: CatalogContext,
  found: Found,
  site: RelyingParty,
  made: { readonly answer: string; readonly name: string; readonly address: string },
): Promise<ReachedStep> {
  requireSetUp(context, found);
  const { user, signIn } = found;
  const { store } = context;
  const challenge = await transact(store.db, (tx) => takeChallenge(tx, signIn.id));
  const passkey = challenge === undefined ? undefined : await madePasskey(site, challenge, made.answer);
  if (passkey === undefined) throw new SkeinError('INVALID_REQUEST', 'the browser has made no passkey: try again');
  const reached = await changing(callOf(context, user), async (change) => {
    const { tx, actor, now } = change;
    if ((await listPasskeys(tx, actor.id)).length >= PASSKEYS_MAX) {
      throw new SkeinError('LIMIT_REACHED', `an account has at most ${PASSKEYS_MAX} passkeys`);
    }
    const name = passkeyName(made.name);
    const row = { id: newUuidV7(now.getTime()), ...passkey, name, createdAt: now };
    if (!(await insertPasskey(tx, actor.id, row)))
      throw new SkeinError('ALREADY_EXISTS', 'the passkey is known already');
    await raiseSessionEpoch(tx, actor.id);
    await change.record({ type: 'add_factor', target: partyOf(actor), details: { factor: 'passkey', name } });
    return goOn(context, found, change, 'hwk');
  });
  if (signIn.step !== 'done') {
    const factors = withFactor(signIn.amr, 'hwk');
    await context.signIns.granted(user, 'password', { address: made.address, agent: signIn.agent, factors });
  }
  return reached;
}
