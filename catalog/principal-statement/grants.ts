import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { endLesserCredentials } from '../store/postgres/lesser-credentials.ts';
import { findByName, type PrincipalRecord } from '../store/postgres/principal-record-store.ts';
import { setDefaultRole } from '../store/postgres/principal-change-store.ts';
import { raiseSessionEpoch, TENANT_ADMIN } from '../store/postgres/principal-store.ts';
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
  type Changing,
} from './change.ts';
import { invite } from './create-user.ts';
import { requireAdminLeft } from './move-user.ts';
import { requireRole } from './roles.ts';

const ROLES_OF_PRINCIPAL_MAX = 100;

/** `GRANT | REVOKE ROLE`; both end the tokens of the holder, also when they change nothing. @throws ROLE_NOT_FOUND, PRINCIPAL_NOT_FOUND, INVALID_STATE, LIMIT_REACHED */
export const grantOrRevokeRole = (
  call: Call,
  { role: roleName, holder, isRevoke }: RequestOf<'grant_role'>,
): Promise<PrincipalAnswer> =>
  changing(call, async (change) => {
    const { tx, tenant, actor, record } = change;
    requirePrincipalAction(actor, 'role.grant');
    const status = isRevoke ? 'REVOKE ROLE' : 'GRANT ROLE';
    const role = await requireRole(tx, tenant.id, roleName);
    const principal = await requirePrincipalOf(tx, tenant.id, holder);
    if (role.name === PUBLIC_ROLE) throw new SkeinError('INVALID_STATE', 'everybody has the role public');
    const target = partyOf(principal);
    const details = { role: role.name };
    if (isRevoke) {
      if ((await revokeRole(tx, principal.id, role.id)) === 0) await raiseSessionEpoch(tx, principal.id);
      if (principal.defaultRole === role.name) {
        await setDefaultRole(tx, principal.id, null);
      }
      await requireAdminLeft(tx, tenant.id, principal);
      await record({ type: 'revoke_role', target, details });
      return done(status);
    }
    if (principal.status === 'DEACTIVATED') throw new SkeinError('INVALID_STATE', 'the user is dropped');
    if (!principal.roles.includes(role.name) && principal.roles.length >= ROLES_OF_PRINCIPAL_MAX) {
      throw new SkeinError('LIMIT_REACHED', `a principal has at most ${ROLES_OF_PRINCIPAL_MAX} roles`);
    }
    // A repeated grant ends tokens and is audited as the first time.
    if (!(await grantRole(tx, principal.id, role.id))) await raiseSessionEpoch(tx, principal.id);
    await record({ type: 'grant_role', target, details });
    return role.name === TENANT_ADMIN ? risen(call, change, principal, status) : done(status);
  });

/** `GRANT | REVOKE MANAGE ...`; each ends the tokens of the user, also when it changes nothing. @throws PRINCIPAL_NOT_FOUND, INVALID_STATE */
export const grantOrRevokePrivilege = (
  call: Call,
  { privilege, user: name, isAccount = false, isRevoke }: RequestOf<'grant_privilege'>,
): Promise<PrincipalAnswer> =>
  changing(call, async (change) => {
    const { tx, tenant, actor, record } = change;
    requirePrincipalAction(actor, 'privilege.grant');
    if (isAccount && privilege !== 'BYPASS POLICIES') {
      throw new SkeinError('INVALID_REQUEST', 'a service account has no privilege but BYPASS POLICIES');
    }
    const user = await (isAccount ? requireAccount : requireUser)(tx, tenant.id, name);
    if (!isRevoke && user.status === 'DEACTIVATED') throw new SkeinError('INVALID_STATE', 'the user is dropped');
    await (isRevoke ? revokePrivilege(tx, user.id, privilege) : grantPrivilege(tx, user.id, privilege));
    await raiseSessionEpoch(tx, user.id);
    const type = isRevoke ? 'revoke_privilege' : 'grant_privilege';
    await record({ type, target: partyOf(user), details: { privilege } });
    return isRevoke ? done('REVOKE') : risen(call, change, user, 'GRANT');
  });

/**
 * Ends what would let somebody who could not grant this sign in as the principal that has been granted it, and says so. A user whose
 * invitation ends gets another one, of who grants.
 */
async function risen(
  call: Call,
  change: Changing,
  principal: PrincipalRecord,
  status: string,
): Promise<PrincipalAnswer> {
  const { tx, tenant, now, record } = change;
  const ended = await endLesserCredentials(tx, principal.id, now);
  if (ended.length === 0) return done(status);
  // With a link the groups of its provider go.
  await requireAdminLeft(tx, tenant.id, principal);
  const words = ended.map(({ what, maker }) => (maker === null ? what : `${what} that ${maker} has made`));
  await record({ type: 'end_credentials', target: partyOf(principal), details: { ended: words } });
  const isInvited = principal.status === 'INVITED' && ended.some(({ what }) => what === 'the invitation');
  const again = isInvited ? await invite(call, change, { id: principal.id, name: principal.username }) : NOTHING;
  return {
    columns: ['status', 'ended', ...again.columns],
    rows: again.rows.map((row) => [status, words.join(', '), ...row]),
    next: null,
  };
}

const NOTHING: Pick<PrincipalAnswer, 'columns' | 'rows'> = { columns: [], rows: [[]] };

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
