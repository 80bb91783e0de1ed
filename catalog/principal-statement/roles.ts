import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { isGrantedToGroup } from '../store/postgres/group-store.ts';
import { TENANT_ADMIN } from '../store/postgres/principal-store.ts';
import {
  deleteRole,
  endTokensOfHolders,
  findRole,
  insertRole,
  isGranted,
  listRoles,
  updateRole,
  type RoleRow,
} from '../store/postgres/role-store.ts';
import type { Database } from '../store/postgres/tables.ts';
import { changing, done, listAnswer, reading, timeText, type Call, type ListColumns } from './change.ts';
import { checkPrincipalName, checkText, scopesNamed } from './check-names.ts';

const ROLES_MAX = 1_000;

/** @throws ROLE_NOT_FOUND */
export async function requireRole(db: Database, tenantId: string, name: string): Promise<RoleRow> {
  const role = name.includes('\0') ? undefined : await findRole(db, tenantId, name);
  if (role !== undefined) return role;
  throw new SkeinError('ROLE_NOT_FOUND', `role ${name} does not exist`);
}

/** @throws ALREADY_EXISTS, LIMIT_REACHED, INVALID_REQUEST */
export async function createRole(call: Call, input: RequestOf<'create_role'>): Promise<PrincipalAnswer> {
  const { name, ifNotExists, scope = '', comment = null } = input;
  checkPrincipalName('a role', name);
  checkText('COMMENT', comment);
  const scopes = scopesNamed(scope);
  return changing(call, async ({ tx, tenant, actor, record }) => {
    requirePrincipalAction(actor, 'role.change');
    if ((await findRole(tx, tenant.id, name)) !== undefined) {
      if (ifNotExists) return done('CREATE ROLE');
      throw new SkeinError('ALREADY_EXISTS', `role ${name} exists already`);
    }
    if ((await listRoles(tx, tenant.id)).length >= ROLES_MAX) {
      throw new SkeinError('LIMIT_REACHED', `an organisation has at most ${ROLES_MAX} roles`);
    }
    const id = await insertRole(tx, tenant.id, { name, scopes, comment });
    await record({ type: 'create_role', target: { id, name }, details: { scope: scopes.join(' ') } });
    return done('CREATE ROLE');
  });
}

/** A changed scope ends the tokens of all who have the role. @throws ROLE_NOT_FOUND, INVALID_STATE for tenant_admin */
export async function alterRole(
  call: Call,
  { name, scope, comment }: RequestOf<'alter_role'>,
): Promise<PrincipalAnswer> {
  checkText('COMMENT', comment);
  const scopes = scope === undefined ? undefined : scopesNamed(scope);
  return changing(call, async ({ tx, tenant, actor, record }) => {
    requirePrincipalAction(actor, 'role.change');
    const role = await requireRole(tx, tenant.id, name);
    if (role.name === TENANT_ADMIN && scopes !== undefined) {
      throw new SkeinError('INVALID_STATE', `${TENANT_ADMIN} has all scopes`);
    }
    await updateRole(tx, role.id, {
      ...(scopes === undefined ? {} : { scopes }),
      ...(comment === undefined ? {} : { comment }),
    });
    if (scopes !== undefined) await endTokensOfHolders(tx, tenant.id, role);
    const details = {
      ...(scopes === undefined ? {} : { scope: scopes.join(' ') }),
      ...(comment === undefined ? {} : { comment }),
    };
    await record({ type: 'alter_role', target: { id: role.id, name: role.name }, details });
    return done('ALTER ROLE');
  });
}

/** @throws ROLE_NOT_FOUND, ROLE_IN_USE, INVALID_STATE for a built-in one */
export const dropRole = (call: Call, { name, ifExists }: RequestOf<'drop_role'>): Promise<PrincipalAnswer> =>
  changing(call, async ({ tx, tenant, actor, record }) => {
    requirePrincipalAction(actor, 'role.change');
    if (ifExists && (await findRole(tx, tenant.id, name)) === undefined) return done('DROP ROLE');
    const role = await requireRole(tx, tenant.id, name);
    if (role.isBuiltIn) throw new SkeinError('INVALID_STATE', `the role ${role.name} is built in`);
    if ((await isGranted(tx, role.id)) || (await isGrantedToGroup(tx, role.id)))
      throw new SkeinError('ROLE_IN_USE', `role ${role.name} is granted: REVOKE it first`);
    await deleteRole(tx, role.id);
    await record({ type: 'drop_role', target: { id: role.id, name: role.name } });
    return done('DROP ROLE');
  });

/** `SHOW ROLES`: for everybody of the tenant. */
export async function showRoles(call: Call): Promise<PrincipalAnswer> {
  const { db, tenant } = await reading(call);
  return listAnswer(COLUMNS, await listRoles(db, tenant.id));
}

const COLUMNS: ListColumns<RoleRow> = {
  name: ['VARCHAR', (role) => role.name],
  scope: ['VARCHAR', (role) => role.scopes.join(' ')],
  comment: ['VARCHAR', (role) => role.comment],
  is_built_in: ['BOOLEAN', (role) => String(role.isBuiltIn)],
  created_at: ['TIMESTAMP WITH TIME ZONE', (role) => timeText(role.createdAt)],
};
