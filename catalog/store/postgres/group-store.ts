import { sql } from 'kysely';
import { principalId, type PrincipalId } from '#shared/id.ts';
import { TENANT_ADMIN } from './principal-store.ts';
import type { Database, Tx } from './tables.ts';

/** Groups of identity providers: their members and their roles. Triggers keep the roles of members, and raise their epochs. */

export type GroupName = { readonly providerId: string; readonly group: string };

/** Grants a role to a group; with administration when it is said again so. */
export async function grantToGroup(
  tx: Tx,
  { providerId, group }: GroupName,
  role: { readonly id: string; readonly withAdministration: boolean; readonly now: Date },
): Promise<void> {
  await tx
    .insertInto('group_role')
    .values({
      provider_id: providerId,
      group_name: group,
      role_id: role.id,
      with_administration: role.withAdministration,
      granted_at: role.now,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['provider_id', 'group_name', 'role_id'])
        .doUpdateSet({ with_administration: role.withAdministration }),
    )
    .execute();
}

export async function revokeFromGroup(tx: Tx, { providerId, group }: GroupName, roleId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('group_role')
    .where('provider_id', '=', providerId)
    .where('group_name', '=', group)
    .where('role_id', '=', roleId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** The roles of a group, by name. */
export const rolesOfGroup = (
  db: Database,
  { providerId, group }: GroupName,
): Promise<readonly { readonly role: string; readonly withAdministration: boolean }[]> =>
  db
    .selectFrom('group_role as g')
    .innerJoin('role as r', 'r.id', 'g.role_id')
    .select(['r.name as role', 'g.with_administration as withAdministration'])
    .where('g.provider_id', '=', providerId)
    .where('g.group_name', '=', group)
    .orderBy('r.name')
    .execute();

/** Whether groups of the provider give any roles: who changes where they come from could give himself one. */
export async function givesRoles(db: Database, providerId: string): Promise<boolean> {
  const row = await db
    .selectFrom('group_role')
    .select('role_id')
    .where('provider_id', '=', providerId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function isGrantedToGroup(tx: Tx, roleId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('group_role')
    .select('role_id')
    .where('role_id', '=', roleId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Those of some principals that have tenant_admin now. */
export async function administratorsAmong(db: Database, ids: readonly PrincipalId[]): Promise<readonly PrincipalId[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('principal')
    .select('id')
    .where(sql<boolean>`id = any (${sql.val([...ids])}::uuid[])`)
    .where(sql<boolean>`roles @> ${sql.val([TENANT_ADMIN])}::text[]`)
    .execute();
  return rows.map(({ id }) => principalId(id));
}

export async function membersOf(db: Database, { providerId, group }: GroupName): Promise<readonly PrincipalId[]> {
  const rows = await db
    .selectFrom('group_member')
    .select('principal_id')
    .where('provider_id', '=', providerId)
    .where('group_name', '=', group)
    .execute();
  return rows.map(({ principal_id: id }) => principalId(id));
}

/** The groups of a principal, with the names of their providers. */
export const groupsOf = (
  db: Database,
  id: PrincipalId,
): Promise<readonly { readonly provider: string; readonly group: string }[]> =>
  db
    .selectFrom('group_member as m')
    .innerJoin('identity_provider as i', 'i.id', 'm.provider_id')
    .select(['i.name as provider', 'm.group_name as group'])
    .where('m.principal_id', '=', id)
    .orderBy('i.name')
    .orderBy('m.group_name')
    .execute();

/** The groups of a principal at one provider. */
export async function groupsAt(db: Database, providerId: string, principal: PrincipalId): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('group_member')
    .select('group_name')
    .where('provider_id', '=', providerId)
    .where('principal_id', '=', principal)
    .execute();
  return rows.map(({ group_name: name }) => name);
}

/** Sets the groups of a principal at one provider. @returns those that are new and those that are gone */
export async function setGroups(
  tx: Tx,
  providerId: string,
  principal: PrincipalId,
  groups: readonly string[],
): Promise<{ readonly added: readonly string[]; readonly gone: readonly string[] }> {
  const before = new Set(await groupsAt(tx, providerId, principal));
  const wanted = new Set(groups);
  const gone = [...before].filter((name) => !wanted.has(name));
  if (gone.length > 0) {
    await tx
      .deleteFrom('group_member')
      .where('provider_id', '=', providerId)
      .where('principal_id', '=', principal)
      .where('group_name', 'in', gone)
      .execute();
  }
  const added = [...wanted].filter((name) => !before.has(name));
  if (added.length === 0) return { added, gone };
  await tx
    .insertInto('group_member')
    .values(added.map((name) => ({ provider_id: providerId, group_name: name, principal_id: principal })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return { added, gone };
}

/**
 * The groups that make a principal a tenant_admin, which he would lose with `claimed` for all groups of this provider, where he is the last active
 * one of his organisation. None while he has the role by anything else.
 */
export async function groupsOfLastAdmin(
  tx: Tx,
  {
    providerId,
    tenantId,
    principal,
  }: { readonly providerId: string; readonly tenantId: string; readonly principal: PrincipalId },
  claimed: readonly string[],
): Promise<readonly string[]> {
  const giving = sql`(select o.provider_id, o.group_name from catalog.group_role o join catalog.role r on r.id = o.role_id
    where r.name = ${TENANT_ADMIN} and o.with_administration)`;
  const isClaimed = sql`g.group_name = any (${sql.val([...claimed])}::text[])`;
  const { rows } = await sql<{ readonly name: string }>`
    select m.group_name as name from catalog.group_member m join ${giving} g using (provider_id, group_name)
    where m.provider_id = ${providerId} and m.principal_id = ${principal} and not ${isClaimed}
      and not exists (select from ${giving} g where g.provider_id = ${providerId} and ${isClaimed})
      and not exists (select from catalog.group_member o join ${giving} g using (provider_id, group_name)
        where o.principal_id = ${principal} and o.provider_id <> ${providerId})
      and not exists (select from catalog.role_grant n join catalog.role r on r.id = n.role_id
        where n.principal_id = ${principal} and r.name = ${TENANT_ADMIN})
      and not exists (select from catalog.principal p where p.tenant_id = ${tenantId} and p.id <> ${principal}
        and p.status in ('ACTIVE', 'PROVISIONED') and p.roles @> ${sql.val([TENANT_ADMIN])}::text[])`.execute(tx);
  return rows.map(({ name }) => name);
}

/** A principal is in no group any more. */
export async function leaveGroups(tx: Tx, principal: PrincipalId): Promise<void> {
  await tx.deleteFrom('group_member').where('principal_id', '=', principal).execute();
}
