import { SkeinError } from '#shared/error.ts';
import type { JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { PrincipalAnswer } from '#shared/principal/principal-request.ts';
import type { CatalogContext } from '../context.ts';
import { methodOf, mustHaveFactor } from '../factor/required-factor.ts';
import { changing, partyOf, type Call, type Changing } from '../principal-statement/change.ts';
import { createToken, dropToken } from '../principal-statement/tokens.ts';
import { listAccessTokens, type AccessTokenRow } from '../store/postgres/credential-store.ts';
import { deleteAuthenticator, putRecoveryCodes } from '../store/postgres/factor-store.ts';
import { deletePasskey } from '../store/postgres/passkey-store.ts';
import { raiseSessionEpoch } from '../store/postgres/principal-store.ts';
import { findTokenPrincipal } from '../store/postgres/shown-credentials.ts';
import { callOf, goOn, over, requireSignedIn, type Found, type ReachedStep } from './browser-sign-ins.ts';
import { requireFresh } from './factor-steps.ts';

/** Changes of the own account by a person who is signed in by browser, beside his password and new factors. */

/** Removes the authenticator. @throws FORBIDDEN, INVALID_STATE for the last factor of one who must have one */
export const dropAuthenticator = (context: CatalogContext, found: Found): Promise<ReachedStep> =>
  droppingFactor(context, found, async ({ tx, actor }) =>
    (await deleteAuthenticator(tx, actor.id)) ? { factor: 'totp' } : undefined,
  );

/** Removes a passkey. @throws FORBIDDEN, INVALID_STATE for the last factor of one who must have one */
export const dropPasskey = (context: CatalogContext, found: Found, id: string): Promise<ReachedStep> =>
  droppingFactor(context, found, async ({ tx, actor }) => {
    const name = await deletePasskey(tx, actor.id, id);
    return name === undefined ? undefined : { factor: 'passkey', name };
  });

/**
 * Removes a factor. All other sign-ins and tokens of the user end; this browser goes on.
 * @param drop the details of what it has removed; undefined: nothing was there
 */
async function droppingFactor(
  context: CatalogContext,
  found: Found,
  drop: (change: Changing) => Promise<JsonObject | undefined>,
): Promise<ReachedStep> {
  if (found.signIn.step !== 'done') throw over();
  requireFresh(context, found);
  return changing(callOf(context, found.user), async (change) => {
    const { tx, actor } = change;
    const details = await drop(change);
    if (details === undefined) throw new SkeinError('INVALID_STATE', 'there is no such factor');
    const holder = must(await findTokenPrincipal(tx, actor.id), 'it runs the change');
    if (holder.factors.length === 0) {
      if (mustHaveFactor(context.config, holder)) {
        throw new SkeinError('INVALID_STATE', 'your account must have a second factor, and this is the last one');
      }
      await putRecoveryCodes(tx, actor.id, []);
    }
    await raiseSessionEpoch(tx, actor.id);
    await change.record({ type: 'drop_factor', target: partyOf(actor), details });
    return goOn(context, found, change);
  });
}

/** A statement about tokens that a user runs with all scopes that his roles give. */
function tokenCall(context: CatalogContext, { user, signIn }: Found): Call {
  if (signIn.step !== 'done') throw over();
  const call = callOf(context, user);
  return {
    ...call,
    principal: { ...call.principal, scope: user.scopes.join(' '), auth_method: methodOf(signIn.amr) },
  };
}

export const listOwnTokens = ({ store }: CatalogContext, { user }: Found): Promise<readonly AccessTokenRow[]> =>
  listAccessTokens(store.db, user.id);

/** Makes a personal access token of the user, which the answer shows once. @throws the errors of the statement */
export const createOwnToken = (
  context: CatalogContext,
  found: Found,
  token: { readonly name: string; readonly days: number; readonly scope: string },
): Promise<PrincipalAnswer> =>
  createToken(tokenCall(context, found), { kind: 'create_token', owner: null, ...token }, (change) =>
    requireSignedIn(change, found),
  );

/** Revokes a personal access token of the user; his tokens end, and this browser goes on. @throws TOKEN_NOT_FOUND */
export async function dropOwnToken(context: CatalogContext, found: Found, name: string): Promise<ReachedStep> {
  let reached: ReachedStep | undefined;
  const request = { kind: 'drop_token', name, owner: null, ifExists: false } as const;
  await dropToken(tokenCall(context, found), request, async (change) => {
    reached = await goOn(context, found, change);
  });
  return must(reached, 'the token was dropped');
}
