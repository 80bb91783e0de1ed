import { sql, type RawBuilder } from 'kysely';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { PrincipalId } from '#shared/id.ts';
import type { Privilege } from '#shared/principal/privilege.ts';
import type { Database, Tx } from './tables.ts';

/** Roles of a tenant, and the grants of roles and privileges. A trigger keeps the names in `principal.roles`, and raises the epoch. */

/** The role that everybody has. */
export const PUBLIC_ROLE = 'public';

export type RoleRow = {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly comment: string | null;
  readonly isBuiltIn: boolean;
  readonly createdAt: Date;
};

const roles = (db: Database, tenantId: string) =>
  db
    .selectFrom('role')
    .select(['id', 'name', 'scopes', 'comment', 'is_built_in as isBuiltIn', 'created_at as createdAt'])
    .where('tenant_id', '=', tenantId);

/** Finds a role by its name: exactly first, then without case. */
export const findRole = (db: Database, tenantId: string, name: string): Promise<RoleRow | undefined> =>
  roles(db, tenantId)
    .where('name_folded', '=', foldIdentifier(name))
    .orderBy(sql`name = ${name}`, 'desc')
    .orderBy('name')
    .limit(1)
    .executeTakeFirst();

export const listRoles = (db: Database, tenantId: string): Promise<readonly RoleRow[]> =>
  roles(db, tenantId).orderBy('name').execute();

export async function insertRole(
  tx: Tx,
  tenantId: string,
  role: { readonly name: string; readonly scopes: readonly string[]; readonly comment: string | null },
): Promise<string> {
  const { id } = await tx
    .insertInto('role')
    .values({ tenant_id: tenantId, name: role.name, scopes: [...role.scopes], comment: role.comment })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

export async function updateRole(
  tx: Tx,
  id: string,
  change: { readonly scopes?: readonly string[]; readonly comment?: string | null },
): Promise<void> {
  const { scopes, comment } = change;
  await tx
    .updateTable('role')
    .set({ ...(scopes === undefined ? {} : { scopes: [...scopes] }), ...(comment === undefined ? {} : { comment }) })
    .where('id', '=', id)
    .execute();
}

/** Ends the tokens of all who have the role; everybody of the tenant has `public`. */
export async function endTokensOfHolders(tx: Tx, tenantId: string, role: RoleRow): Promise<void> {
  let query = tx
    .updateTable('principal')
    .set((eb) => ({ session_epoch: eb('session_epoch', '+', 1) }))
    .where('tenant_id', '=', tenantId);
  if (role.name !== PUBLIC_ROLE) {
    query = query.where(sql<boolean>`roles @> ${sql.val([role.name])}::text[]`);
  }
  await query.execute();
}

export async function isGranted(tx: Tx, roleId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('role_grant')
    .select('principal_id')
    .where('role_id', '=', roleId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function deleteRole(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('role').where('id', '=', id).execute();
}

/** @returns false when it was granted already */
export async function grantRole(tx: Tx, principal: PrincipalId, roleId: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('role_grant')
    .values({ principal_id: principal, role_id: roleId })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** @param roleId undefined = all @returns how many grants there were */
export async function revokeRole(tx: Tx, principal: PrincipalId, roleId?: string): Promise<number> {
  let query = tx.deleteFrom('role_grant').where('principal_id', '=', principal);
  if (roleId !== undefined) query = query.where('role_id', '=', roleId);
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

/** The privileges of a principal `p`, sorted. */
export const privilegesOf = (): RawBuilder<readonly Privilege[]> => sql<readonly Privilege[]>`array(
  select g.privilege from catalog.privilege_grant g where g.principal_id = p.id order by g.privilege)`;

export async function grantPrivilege(tx: Tx, principal: PrincipalId, privilege: Privilege): Promise<void> {
  await tx
    .insertInto('privilege_grant')
    .values({ principal_id: principal, privilege })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** @param privilege undefined = all */
export async function revokePrivilege(tx: Tx, principal: PrincipalId, privilege?: Privilege): Promise<void> {
  let query = tx.deleteFrom('privilege_grant').where('principal_id', '=', principal);
  if (privilege !== undefined) query = query.where('privilege', '=', privilege);
  await query.execute();
}
