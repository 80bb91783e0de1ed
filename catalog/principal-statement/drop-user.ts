import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { leaveGroups } from '../store/postgres/group-store.ts';
import { findByName, type PrincipalRecord } from '../store/postgres/principal-record-store.ts';
import { setDefaultRole } from '../store/postgres/principal-change-store.ts';
import { revokePrivilege, revokeRole } from '../store/postgres/role-store.ts';
import { changing, done, partyOf, requireUser, type Call, type Recording } from './change.ts';
import { archive, endCredentials } from './archive.ts';
import { archivedName } from './archived-name.ts';
import { checkText } from './check-names.ts';
import { moveUser, requireAdminLeft } from './move-user.ts';

/** Drops a user: its tokens and invitations end for good, its password stays for UNDROP. @throws HOLDS_GRANTS, INVALID_STATE */
export const dropUser = (call: Call, { name, ifExists, cascade }: RequestOf<'drop_user'>): Promise<PrincipalAnswer> =>
  changing(call, async (change) => {
    const { tx, tenant, actor } = change;
    requirePrincipalAction(actor, 'user.create');
    const found = await findByName(tx, tenant.id, name);
    if (ifExists && found?.kind !== 'USER') return done('DROP USER');
    const user = await requireUser(tx, tenant.id, name);
    requirePrincipalAction(actor, 'user.end', user);
    if (!cascade && user.roles.length > 0) {
      throw new SkeinError('HOLDS_GRANTS', `the user has ${rolesOf(user)}: DROP USER ... CASCADE takes them away`);
    }
    await dropping(change, tenant.id, user);
    return done('DROP USER');
  });

/** Drops a user with his roles, who may be had back. Privileges are no roles: they go with him, and UNDROP does not bring them back. @throws INVALID_STATE */
export async function dropping(change: Recording, tenantId: string, user: PrincipalRecord): Promise<void> {
  const { tx, now, record } = change;
  await moveUser(change, user, { kind: 'drop', atMs: now.getTime(), isBootstrap: user.isBootstrap });
  await endCredentials(tx, user.id);
  await revokeRole(tx, user.id);
  await leaveGroups(tx, user.id);
  await revokePrivilege(tx, user.id);
  await setDefaultRole(tx, user.id, null);
  await requireAdminLeft(tx, tenantId, user);
  const details = { roles: [...user.roles], privileges: [...user.privileges] };
  await record({ type: 'drop_user', target: partyOf(user), details });
}

const rolesOf = ({ roles }: PrincipalRecord): string =>
  `${roles.slice(0, 5).join(', ')}${roles.length > 5 ? ', ...' : ''}`;

/** @throws INVALID_STATE unless it was dropped and is not archived yet */
export const undropUser = (call: Call, { name }: RequestOf<'undrop_user'>): Promise<PrincipalAnswer> =>
  changing(call, async (change) => {
    requirePrincipalAction(change.actor, 'user.create');
    const user = await requireUser(change.tx, change.tenant.id, name);
    requirePrincipalAction(change.actor, 'user.change', user);
    await moveUser(change, user, { kind: 'undrop' });
    await change.record({ type: 'undrop_user', target: partyOf(user) });
    return done('UNDROP USER');
  });

/** @throws INVALID_STATE, LegalHoldActive */
export async function expungeUser(call: Call, { name, reason }: RequestOf<'expunge_user'>): Promise<PrincipalAnswer> {
  checkText('the reason', reason);
  return changing(call, async (change) => {
    requirePrincipalAction(change.actor, 'user.create');
    const user = await requireUser(change.tx, change.tenant.id, name);
    requirePrincipalAction(change.actor, 'user.end', user);
    await moveUser(change, user, { kind: 'expunge' });
    await archive(change.tx, user.id, change.now);
    await change.record({
      type: 'expunge_user',
      target: { id: user.id, name: archivedName(user.id) },
      details: { reason },
    });
    return done('EXPUNGE USER');
  });
}
