import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { findByName } from '../store/postgres/principal-record-store.ts';
import { raiseSessionEpoch } from '../store/postgres/principal-store.ts';
import { grantPrivilege, grantRole, PUBLIC_ROLE, revokePrivilege, revokeRole } from '../store/postgres/role-store.ts';
import {
  changing,
  done,
  partyOf,
  reading,
  requireAccount,
  requirePrincipalOf,
  requireUser,
  type Call,
} from './change.ts';
import { requireAdminLeft } from './move-user.ts';
import { requireRole } from './roles.ts';

const ROLES_OF_PRINCIPAL_MAX = 100;

/** `GRANT | REVOKE ROLE`; both end the tokens of the holder. @throws ROLE_NOT_FOUND, PRINCIPAL_NOT_FOUND, INVALID_STATE, LIMIT_REACHED */
export const grantOrRevokeRole = (
  call: Call,
  { role: roleName, holder, isRevoke }: RequestOf<'grant_role'>,
): Promise<PrincipalAnswer> =>
  changing(call, async ({ tx, tenant, actor, record }) => {
    requirePrincipalAction(actor, 'role.grant');
    const status = isRevoke ? 'REVOKE ROLE' : 'GRANT ROLE';
    const role = await requireRole(tx, tenant.id, roleName);
    const principal = await requirePrincipalOf(tx, tenant.id, holder);
    if (role.name === PUBLIC_ROLE) throw new SkeinError('INVALID_STATE', 'everybody has the role public');
    const target = partyOf(principal);
    const details = { role: role.name };
    if (isRevoke) {
      if ((await revokeRole(tx, principal.id, role.id)) === 0) return done(status);
      if (principal.defaultRole === role.name) {
        await tx.updateTable('principal').set({ default_role: null }).where('id', '=', principal.id).execute();
      }
      await requireAdminLeft(tx, tenant.id, principal);
      await record({ type: 'revoke_role', target, details });
      return done(status);
    }
    if (principal.status === 'DEACTIVATED') throw new SkeinError('INVALID_STATE', 'the user is dropped');
    if (!principal.roles.includes(role.name) && principal.roles.length >= ROLES_OF_PRINCIPAL_MAX) {
      throw new SkeinError('LIMIT_REACHED', `a principal has at most ${ROLES_OF_PRINCIPAL_MAX} roles`);
    }
    if (await grantRole(tx, principal.id, role.id)) await record({ type: 'grant_role', target, details });
    return done(status);
  });

/** `GRANT | REVOKE MANAGE ...`; each ends the tokens of the user. @throws PRINCIPAL_NOT_FOUND, INVALID_STATE */
export const grantOrRevokePrivilege = (
  call: Call,
  { privilege, user: name, isAccount = false, isRevoke }: RequestOf<'grant_privilege'>,
): Promise<PrincipalAnswer> =>
  changing(call, async ({ tx, tenant, actor, record }) => {
    requirePrincipalAction(actor, 'privilege.grant');
    if (isAccount && privilege !== 'BYPASS POLICIES') {
      throw new SkeinError('INVALID_REQUEST', 'a service account has no privilege but BYPASS POLICIES');
    }
    const user = await (isAccount ? requireAccount : requireUser)(tx, tenant.id, name);
    if (!isRevoke && user.status === 'DEACTIVATED') throw new SkeinError('INVALID_STATE', 'the user is dropped');
    const changed = isRevoke
      ? (await revokePrivilege(tx, user.id, privilege)) > 0
      : await grantPrivilege(tx, user.id, privilege);
    if (changed) {
      await raiseSessionEpoch(tx, user.id);
      const type = isRevoke ? 'revoke_privilege' : 'grant_privilege';
      await record({ type, target: partyOf(user), details: { privilege } });
    }
    return done(isRevoke ? 'REVOKE' : 'GRANT');
  });

/** `SHOW GRANTS TO`: roles, `public` among them, and privileges; everybody his own. */
export async function showGrants(call: Call, { holder }: RequestOf<'show_grants'>): Promise<PrincipalAnswer> {
  const { db, tenant, actor } = await reading(call);
  const found = await findByName(db, tenant.id, holder.name);
  const target = found?.kind === holder.kind ? found : undefined;
  requirePrincipalAction(actor, holder.kind === 'USER' ? 'user.show' : 'account.show', target);
  const principal = await requirePrincipalOf(db, tenant.id, holder);
  return {
    columns: ['grant_type', 'name'],
    rows: [
      ...[...principal.roles, PUBLIC_ROLE].toSorted().map((role) => ['ROLE', role] as const),
      ...[...principal.privileges].toSorted().map((privilege) => ['PRIVILEGE', privilege] as const),
    ],
    next: null,
  };
}
