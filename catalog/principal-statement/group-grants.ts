import { SkeinError } from '#shared/error.ts';
import type { PrincipalId } from '#shared/id.ts';
import { must } from '#shared/must.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { isPlainText } from '#shared/plain-text.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import {
  administratorsAmong,
  grantToGroup,
  groupsOfLastAdmin,
  membersOf,
  revokeFromGroup,
  rolesOfGroup,
  setGroups,
} from '../store/postgres/group-store.ts';
import { endLesserCredentials } from '../store/postgres/lesser-credentials.ts';
import { findById } from '../store/postgres/principal-record-store.ts';
import { TENANT_ADMIN } from '../store/postgres/principal-store.ts';
import type { ProviderRow } from '../store/postgres/provider-store.ts';
import { PUBLIC_ROLE } from '../store/postgres/role-store.ts';
import { changing, done, listAnswer, partyOf, reading, type Call, type Recording, type ListColumns } from './change.ts';
import { requireAdminLeft } from './move-user.ts';
import { requireProvider } from './providers.ts';
import { requireRole } from './roles.ts';

const GROUP_LENGTH_MAX = 255;
/** Groups of one user at one provider; those behind them do not count. */
const GROUPS_MAX = 1_000;
/** Groups, or members of one, that a row of the audit log names. */
export const NAMED_MAX = 100;
export const isGroupName = (name: unknown): name is string => isPlainText(name, GROUP_LENGTH_MAX);

/**
 * `GRANT | REVOKE ROLE r TO | FROM GROUP`: a role for all who are in a group, now and later. tenant_admin is given only WITH ADMINISTRATION, by
 * a provider that a tenant_admin has made, and ends credentials as a grant to a user does.
 * @throws ROLE_NOT_FOUND, PROVIDER_NOT_FOUND, INVALID_STATE, INVALID_REQUEST
 */
export const grantOrRevokeGroupRole = (call: Call, input: RequestOf<'grant_group_role'>): Promise<PrincipalAnswer> =>
  changing(call, async (change) => {
    const { tx, tenant, actor, now, record } = change;
    requirePrincipalAction(actor, 'role.grant');
    const { group, withAdministration, isRevoke } = input;
    if (!isGroupName(group)) throw new SkeinError('INVALID_REQUEST', 'not a name of a group');
    const role = await requireRole(tx, tenant.id, input.role);
    const provider = await requireProvider(tx, tenant.id, input.provider);
    if (role.name === PUBLIC_ROLE) throw new SkeinError('INVALID_STATE', 'everybody has the role public');
    const named = { providerId: provider.id, group };
    const members = await membersOf(tx, named);
    const target = { id: role.id, name: role.name };
    const details = { role: role.name, group, provider: provider.name };
    if (isRevoke) {
      const administrators = await recordsOf(change, await administratorsAmong(tx, members));
      if (!(await revokeFromGroup(tx, named, role.id))) {
        throw new SkeinError('INVALID_STATE', `the group does not have the role ${role.name}`);
      }
      for (const before of administrators) await requireAdminLeft(tx, tenant.id, before);
      await record({ type: 'revoke_group_role', target, details });
      return done('REVOKE ROLE');
    }
    if (role.name === TENANT_ADMIN) requireAdministration(provider, withAdministration);
    const ended = await whileRising(change, members, () =>
      grantToGroup(tx, named, { id: role.id, withAdministration, now }),
    );
    await record({
      type: 'grant_group_role',
      target,
      details: { ...details, ...(withAdministration ? { with_administration: true } : {}) },
    });
    if (ended.length === 0) return done('GRANT ROLE');
    return { columns: ['status', 'ended'], rows: [['GRANT ROLE', ended.join(', ')]], next: null };
  });

/** @throws INVALID_REQUEST, INVALID_STATE */
function requireAdministration({ byAdmin, name }: ProviderRow, withAdministration: boolean): void {
  if (!withAdministration) {
    throw new SkeinError(
      'INVALID_REQUEST',
      'a group has tenant_admin only WITH ADMINISTRATION: all who are in it, now and later',
    );
  }
  if (byAdmin) return;
  throw new SkeinError('INVALID_STATE', `identity provider ${name} was made by one who is no tenant_admin`);
}

const recordsOf = async ({ tx }: Recording, ids: readonly PrincipalId[]) =>
  Promise.all(ids.map(async (id) => must(await findById(tx, id), 'it is a member')));

/**
 * Runs a change of the groups of some principals. Of those who have tenant_admin by it, what lesser ones have made ends, as with a grant to
 * a user. @returns what has ended, in words
 */
export async function whileRising(
  change: Recording,
  ids: readonly PrincipalId[],
  work: () => Promise<unknown>,
): Promise<readonly string[]> {
  const { tx, now, record } = change;
  const before = new Set(await administratorsAmong(tx, ids));
  await work();
  const risen = (await administratorsAmong(tx, ids)).filter((id) => !before.has(id));
  const words: string[] = [];
  for (const principal of await recordsOf(change, risen)) {
    const ended = await endLesserCredentials(tx, principal.id, now);
    if (ended.length === 0) continue;
    const own = ended.map(({ what, maker }) => (maker === null ? what : `${what} that ${maker} has made`));
    await record({ type: 'end_credentials', target: partyOf(principal), details: { ended: own } });
    words.push(...own.map((word) => `${principal.username}: ${word}`));
  }
  return words;
}

/**
 * Sets the groups that a user has by a token of a provider, unless SCIM has sent any. The last active tenant_admin keeps those that make him one,
 * until there is another: an organisation without any could change nothing any more.
 */
export async function takeGroupsOfClaim(
  change: Recording,
  provider: ProviderRow,
  user: PrincipalId,
  claim: unknown,
): Promise<void> {
  if (provider.scimGroups) return;
  const claimed = [claim ?? []].flat().filter(isGroupName).slice(0, GROUPS_MAX);
  await whileRising(change, [user], async () => {
    const who = { providerId: provider.id, tenantId: provider.tenantId, principal: user };
    const kept = await groupsOfLastAdmin(change.tx, who, claimed);
    const { added, gone } = await setGroups(change.tx, provider.id, user, [...claimed, ...kept]);
    if (added.length === 0 && gone.length === 0 && kept.length === 0) return;
    const [record] = await recordsOf(change, [user]);
    await change.record({
      type: 'change_groups',
      target: record === undefined ? null : partyOf(record),
      details: {
        provider: provider.name,
        added: added.slice(0, NAMED_MAX),
        removed: gone.slice(0, NAMED_MAX),
        ...(kept.length === 0 ? {} : { kept: kept.slice(0, NAMED_MAX) }),
      },
    });
  });
}

type Granted = { readonly role: string; readonly withAdministration: boolean };
const COLUMNS: ListColumns<Granted> = {
  grant_type: ['VARCHAR', () => 'ROLE'],
  name: ['VARCHAR', ({ role }) => role],
  with_administration: ['BOOLEAN', ({ withAdministration }) => String(withAdministration)],
};

/** `SHOW GRANTS TO GROUP` @throws FORBIDDEN, PROVIDER_NOT_FOUND */
export async function showGroupGrants(call: Call, input: RequestOf<'show_group_grants'>): Promise<PrincipalAnswer> {
  const { db, tenant, actor } = await reading(call);
  requirePrincipalAction(actor, 'provider.show');
  const provider = await requireProvider(db, tenant.id, input.provider);
  return listAnswer(COLUMNS, await rolesOfGroup(db, { providerId: provider.id, group: input.group }));
}
