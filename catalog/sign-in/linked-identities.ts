import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../context.ts';
import type { OutsideClaims } from '../issuer/outside-token.ts';
import { mayOpen } from '../principal/sign-in-by-outside-token.ts';
import { changing, partyOf } from '../principal-statement/change.ts';
import { setGroups } from '../store/postgres/group-store.ts';
import {
  deleteIdentities,
  findIdentity,
  identitiesOf,
  insertIdentity,
  type NamedIdentity,
} from '../store/postgres/identity-store.ts';
import { raiseSessionEpoch } from '../store/postgres/principal-store.ts';
import { findProviderById, type ProviderRow } from '../store/postgres/provider-store.ts';
import { forgetScimUser } from '../store/postgres/scim-store.ts';
import { callOf, goOn, over, type Found, type ReachedStep } from './browser-sign-ins.ts';
import { requireFresh } from './factor-steps.ts';
import { takeOverSent } from './take-over-sent.ts';
import { externalIdOf } from './user-of-identity.ts';

/** Identities of a user at providers. Only the person himself links one, right after he has shown his password and his factor here. */

/** @throws FORBIDDEN unless he has, UNAUTHENTICATED when the sign-in is over */
export function requireOwnSignIn(context: CatalogContext, found: Found): void {
  if (found.signIn.step !== 'done') throw over();
  if (found.signIn.amr.includes('sso')) {
    throw new SkeinError('FORBIDDEN', 'sign in with your password to link an identity');
  }
  requireFresh(context, found);
}

/** Links an identity with the user. All other sign-ins and tokens of the user end; this browser goes on. @throws FORBIDDEN, ALREADY_EXISTS */
export async function linkIdentity(
  context: CatalogContext,
  found: Found,
  provider: ProviderRow,
  claims: OutsideClaims,
): Promise<ReachedStep> {
  requireOwnSignIn(context, found);
  if (found.user.tenant !== provider.tenant || !mayOpen(provider, found.user)) {
    throw new SkeinError(
      'FORBIDDEN',
      'this identity provider signs in no administrator: another than a tenant_admin has made it',
    );
  }
  return changing(callOf(context, found.user), async (change) => {
    const { tx, actor, now } = change;
    // It may have been dropped or disabled while the person was there.
    if ((await findProviderById(tx, provider.id))?.enabled !== true) throw over();
    const { sub: subject } = claims;
    const own = await identitiesOf(tx, actor.id);
    const isTaken = (await findIdentity(tx, provider.id, subject)) !== undefined;
    if (isTaken || own.some(({ providerId }) => providerId === provider.id)) {
      throw new SkeinError('ALREADY_EXISTS', 'this identity, or your account at this provider, is linked already');
    }
    const externalId = externalIdOf(provider, claims);
    const givenBy = actor.passwordSetBy;
    await insertIdentity(tx, { providerId: provider.id, subject, externalId, principal: actor.id, givenBy, now });
    await takeOverSent(change, provider.id, externalId);
    await raiseSessionEpoch(tx, actor.id);
    await change.record({ type: 'link_identity', target: partyOf(actor), details: { provider: provider.name } });
    return goOn(context, found, change);
  });
}

/** Takes a link away, with the groups of that provider. @throws INVALID_STATE for the last way in, FORBIDDEN */
export async function unlinkIdentity(context: CatalogContext, found: Found, providerId: string): Promise<ReachedStep> {
  if (found.signIn.step !== 'done') throw over();
  requireFresh(context, found);
  return changing(callOf(context, found.user), async (change) => {
    const { tx, actor } = change;
    const own = await identitiesOf(tx, actor.id);
    const one = own.find((identity) => identity.providerId === providerId);
    if (one === undefined) throw new SkeinError('INVALID_STATE', 'there is no such link');
    if (actor.passwordHash === null && own.length === 1) {
      throw new SkeinError('INVALID_STATE', 'your account has no password: this is the last way to sign in');
    }
    await deleteIdentities(tx, actor.id, providerId);
    await setGroups(tx, providerId, actor.id, []);
    // SCIM changes a user of SQL only while he is linked; one whom it has made stays its own.
    if (actor.identitySource !== 'EXTERNAL') await forgetScimUser(tx, actor.id, providerId);
    await raiseSessionEpoch(tx, actor.id);
    await change.record({ type: 'unlink_identity', target: partyOf(actor), details: { provider: one.provider } });
    return goOn(context, found, change);
  });
}

export const listIdentities = ({ store }: CatalogContext, { user }: Found): Promise<readonly NamedIdentity[]> =>
  identitiesOf(store.db, user.id);
