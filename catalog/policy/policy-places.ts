import { SkeinError } from '#shared/error.ts';
import type { MappingRequest, PolicyKind } from '#shared/policy/policy-request.ts';
import type { TenantId } from '#shared/id.ts';
import type { NamespacePath } from '../metadata/object-name.ts';
import { requireCatalog } from '../store/postgres/catalog-store.ts';
import { requireNamespace } from '../store/postgres/namespace-store.ts';
import { findPolicy, type MappingRow, type PolicyRow } from '../store/postgres/policy-store.ts';
import { lockTable, type TableState } from '../store/postgres/policy-binding-store.ts';
import type { Database, Tx } from '../store/postgres/tables.ts';

/** The name of a policy, with every level spelled out. */
export type PolicyName = { readonly catalog: string; readonly namespace: NamespacePath; readonly name: string };
type TableName = { readonly catalog: string; readonly namespace: NamespacePath; readonly table: string };
export type Tenant = { readonly id: string; readonly name: string };

export const POLICY_TITLES: Readonly<Record<PolicyKind, string>> = {
  row_access: 'row access policy',
  masking: 'masking policy',
};

export const displayPolicy = ({ catalog, namespace, name }: PolicyName): string =>
  [catalog, ...namespace, name].join('.');

/** The namespace of a policy. @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND */
export async function namespaceOfPolicy(
  db: Database,
  tenant: Tenant,
  { catalog, namespace }: PolicyName,
): Promise<string> {
  const { id } = await requireCatalog(db, tenant.name as TenantId, catalog);
  return (await requireNamespace(db, id, namespace)).id;
}

/** @throws POLICY_NOT_FOUND, WRONG_OBJECT_TYPE for one of the other kind */
export async function requirePolicy(
  db: Database,
  tenant: Tenant,
  name: PolicyName,
  kind: PolicyKind,
): Promise<PolicyRow> {
  const found = await findPolicyOf(db, tenant, name, kind);
  if (found === undefined)
    throw new SkeinError('POLICY_NOT_FOUND', `${POLICY_TITLES[kind]} ${displayPolicy(name)} does not exist`);
  return found;
}

/** @throws WRONG_OBJECT_TYPE for one of the other kind */
export async function findPolicyOf(
  db: Database,
  tenant: Tenant,
  name: PolicyName,
  kind: PolicyKind,
): Promise<PolicyRow | undefined> {
  const found = await findPolicy(db, tenant.id, {
    namespaceId: await namespaceOfPolicy(db, tenant, name),
    name: name.name,
  });
  if (found !== undefined && found.kind !== kind) {
    throw new SkeinError('WRONG_OBJECT_TYPE', `${displayPolicy(name)} is a ${POLICY_TITLES[found.kind]}`);
  }
  return found;
}

/** Locks a table until the transaction ends: no commit changes it meanwhile. @throws TABLE_NOT_FOUND */
export async function requireLocked(
  tx: Tx,
  tenant: Tenant,
  { catalog, namespace, table }: TableName,
): Promise<TableState> {
  const found = await lockTable(tx, tenant.name as TenantId, { catalog, namespace, name: table });
  if (found === undefined)
    throw new SkeinError('TABLE_NOT_FOUND', `table ${[catalog, ...namespace, table].join('.')} does not exist`);
  return found;
}

/** As `requireLocked`, for a table at the version that was read. @throws COMMIT_CONFLICT when it has another one */
export async function requireUnchanged(
  tx: Tx,
  tenant: Tenant,
  { table, version }: { readonly table: TableName; readonly version: string },
): Promise<TableState> {
  const found = await requireLocked(tx, tenant, table);
  if (found.version === version) return found;
  throw new SkeinError('COMMIT_CONFLICT', `table ${table.table} was changed meanwhile`);
}

/**
 * The tables that a body reads, as the caller has read them. They are locked, so that nobody binds a policy to them or changes their columns
 * meanwhile. @throws COMMIT_CONFLICT, TABLE_NOT_FOUND, INVALID_REQUEST for one that has policies itself
 */
export async function takeMappings(
  tx: Tx,
  tenant: Tenant,
  mappings: readonly MappingRequest[],
): Promise<readonly MappingRow[]> {
  const rows: MappingRow[] = [];
  // Always in one order, so that two statements do not wait for each other.
  for (const one of mappings.toSorted((a, b) => (JSON.stringify(a.table) < JSON.stringify(b.table) ? -1 : 1))) {
    const { id, hasPolicies, isStorage } = await requireUnchanged(tx, tenant, one);
    const { catalog, namespace, table } = one.table;
    if (hasPolicies || isStorage) {
      const what = hasPolicies ? 'has policies itself' : 'holds the rows of a materialized view';
      throw new SkeinError('INVALID_REQUEST', `a policy cannot read ${table}, which ${what}`);
    }
    rows.push({ tableId: id, catalog, namespace, name: table, fieldIds: one.columns });
  }
  return rows;
}
