import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import type { Changing } from '../principal-statement/change.ts';
import { dropping } from '../principal-statement/drop-user.ts';
import { whileRising } from '../principal-statement/group-grants.ts';
import { groupsAt, setGroups } from '../store/postgres/group-store.ts';
import { identitiesOf } from '../store/postgres/identity-store.ts';
import { findById } from '../store/postgres/principal-record-store.ts';
import { findScimUserByExternalId, findScimUserOf, moveScimUser } from '../store/postgres/scim-store.ts';

/**
 * The user whom a provider has sent by SCIM for a person, before this person linked his own account: what the provider says of him is about that
 * account from now on, with his groups. The one that was made for him, whom nobody can sign in to, is dropped.
 * @throws ALREADY_EXISTS when another signs in to it, FORBIDDEN while the provider says that he is not active
 */
export async function takeOverSent(change: Changing, providerId: string, externalId: string): Promise<void> {
  const { tx, tenant, actor } = change;
  const sent = await findScimUserByExternalId(tx, providerId, externalId);
  if (sent === undefined || sent.principal === actor.id) return;
  const isOther = (await findScimUserOf(tx, providerId, actor.id)) !== undefined;
  if (isOther || (await identitiesOf(tx, sent.principal)).length > 0) {
    throw new SkeinError('ALREADY_EXISTS', 'the identity provider knows another account by this identity');
  }
  if (!sent.active) throw new SkeinError('FORBIDDEN', 'the identity provider says that this identity is not active');
  const groups = await groupsAt(tx, providerId, sent.principal);
  await setGroups(tx, providerId, sent.principal, []);
  await moveScimUser(tx, sent.id, actor.id);
  await whileRising(change, [actor.id], () => setGroups(tx, providerId, actor.id, groups));
  const made = must(await findById(tx, sent.principal), 'it is there');
  if (made.status !== 'DEACTIVATED') await dropping(change, tenant.id, made);
}
