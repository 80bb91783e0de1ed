import { sql } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import type { TenantId } from '#shared/id.ts';
import type { PolicyKind } from '#shared/policy/policy-request.ts';
import { joinPath, type NamespacePath } from '../../metadata/object-name.ts';
import { isUniqueViolation } from './errors.ts';
import { isPoliced } from './policy-facts.ts';
import type { Database, Tx } from './tables.ts';

/** Bindings of policies to tables. */

export type TableState = {
  readonly id: string;
  /** As `LoadedTable.version`. */
  readonly version: string;
  /** Something is bound to it, or to a table that its rows were made of. */
  readonly hasPolicies: boolean;
  /** A body that is bound to some table reads it. */
  readonly isMapping: boolean;
  /** It holds the rows of a materialized view. */
  readonly isStorage: boolean;
};

/** Finds a table by its exact names, and locks it until the transaction ends; its catalog and its namespace keep their names meanwhile. */
export async function lockTable(
  tx: Tx,
  tenant: TenantId,
  { catalog, namespace, name }: { readonly catalog: string; readonly namespace: NamespacePath; readonly name: string },
): Promise<TableState | undefined> {
  const { rows } = await sql<TableState>`
    select t.id, t.id || '.' || t.version as version,
      ${sql.raw(isPoliced('t.id'))} as "hasPolicies",
      exists (
        select from catalog.policy_mapping m join catalog.policy_binding b on b.policy_id = m.policy_id where m.table_id = t.id
      ) as "isMapping",
      exists (
        select from catalog.iceberg_view v where v.storage_namespace_id = t.namespace_id and v.storage_name = t.name
      ) as "isStorage"
    from catalog.iceberg_table t
    join catalog.namespace n on n.id = t.namespace_id
    join catalog.catalog c on c.id = n.catalog_id
    join catalog.tenant o on o.id = c.tenant_id
    where o.name = ${tenant} and c.name = ${catalog} and n.path = ${joinPath(namespace)} and t.name = ${name}
    for no key update of t for key share of n, c`.execute(tx);
  return rows[0];
}

/** The part that a table has in policies. */
export type PolicyRoles = {
  /** Fields that arguments of policies are bound to. */
  readonly boundFields: readonly number[];
  /** Fields that bodies of bound policies read; null = all. Empty = none does. */
  readonly lentFields: readonly number[] | null;
};

/** Finds the part that a table has in policies; undefined = none, as nearly every table. */
export async function findPolicyRoles(db: Database, tableId: string): Promise<PolicyRoles | undefined> {
  const { rows } = await sql<{
    readonly bound: readonly number[] | null;
    readonly lent: readonly (readonly number[] | null)[] | null;
  }>`
    select
      (select array_agg(f) from catalog.policy_binding b, unnest(b.field_ids) f where b.table_id = ${tableId}) as bound,
      (
        select json_agg(m.field_ids) from catalog.policy_mapping m
        where m.table_id = ${tableId} and exists (select from catalog.policy_binding b where b.policy_id = m.policy_id)
      ) as lent`.execute(db);
  const { bound, lent } = rows[0] ?? { bound: null, lent: null };
  if (bound === null && lent === null) return undefined;
  const isWhole = lent?.includes(null) === true;
  return { boundFields: bound ?? [], lentFields: isWhole ? null : (lent ?? []).flatMap((ids) => ids ?? []) };
}

/** Whether policies are bound to the table of these exact names, or to one that its rows were made of. */
export async function hasPolicies(
  db: Database,
  tenant: string,
  { catalog, namespace, name }: { readonly catalog: string; readonly namespace: NamespacePath; readonly name: string },
): Promise<boolean> {
  const { rows } = await sql`
    select from catalog.iceberg_table t
    join catalog.namespace n on n.id = t.namespace_id
    join catalog.catalog c on c.id = n.catalog_id
    join catalog.tenant o on o.id = c.tenant_id
    where o.name = ${tenant} and c.name = ${catalog} and n.path = ${joinPath(namespace)} and t.name = ${name}
      and ${sql.raw(isPoliced('t.id'))}`.execute(db);
  return rows.length > 0;
}

/** The same for a table that is named without its catalog: by the UUID of its document, or in any catalog. */
export async function hasPoliciesById(
  db: Database,
  tenant: string,
  {
    uuid,
    ident,
  }: { readonly uuid: string | null; readonly ident: { readonly namespace: NamespacePath; readonly name: string } },
): Promise<boolean> {
  const { rows } = await sql`
    select from catalog.iceberg_table t
    join catalog.namespace n on n.id = t.namespace_id
    join catalog.catalog c on c.id = n.catalog_id
    join catalog.tenant o on o.id = c.tenant_id
    where o.name = ${tenant} and ((n.path = ${joinPath(ident.namespace)} and t.name = ${ident.name})
      or (${uuid}::text is not null and t.metadata like '%' || ${uuid} || '%'))
      and t.id in (
        select b.table_id from catalog.policy_binding b union select s.table_id from catalog.table_source s where s.is_policed
      ) limit 1`.execute(db);
  return rows.length > 0;
}

/** Whether a policy is bound to a table of this name that was dropped and can be had back. */
export async function hasDroppedPolicies(
  db: Database,
  tenant: string,
  { catalog, namespace, name }: { readonly catalog: string; readonly namespace: NamespacePath; readonly name: string },
): Promise<boolean> {
  const { rows } = await sql`
    select from catalog.dropped_table d
    join catalog.catalog c on c.id = d.catalog_id
    join catalog.tenant o on o.id = c.tenant_id
    where o.name = ${tenant} and c.name = ${catalog} and d.path = ${joinPath(namespace)} and d.name = ${name}
      and ${sql.raw(isPoliced('d.id'))} limit 1`.execute(db);
  return rows.length > 0;
}

/**
 * The folders of tables with policies, dropped ones and those that are gone included, that a file of a tenant may lie in. A table's files are
 * read by nobody else than who reads that table.
 */
export async function isInPolicyFolder(db: Database, tenant: string, locations: readonly string[]): Promise<boolean> {
  const { rows } = await sql`
    select from catalog.folder_claim f
    join catalog.catalog c on c.id = f.catalog_id
    join catalog.tenant o on o.id = c.tenant_id
    where o.name = ${tenant} and f.is_policed and f.location = any (${sql.val([...locations])}::text[]) limit 1`.execute(
    db,
  );
  return rows.length > 0;
}

type NewBinding = {
  readonly tableId: string;
  readonly policyId: string;
  readonly kind: PolicyKind;
  /** The columns of the arguments. The first one is masked. */
  readonly fieldIds: readonly number[];
  readonly now: Date;
};

/** @throws ALREADY_EXISTS for a policy that is bound to the table already, and a second mask of a column */
export async function insertBinding(tx: Tx, { tableId, policyId, kind, fieldIds, now }: NewBinding): Promise<void> {
  try {
    await tx
      .insertInto('policy_binding')
      .values({
        table_id: tableId,
        policy_id: policyId,
        kind,
        field_ids: [...fieldIds],
        masked_field_id: kind === 'masking' ? (fieldIds[0] ?? null) : null,
        bound_at: now,
      })
      .execute();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    const what = kind === 'masking' ? 'the column has a masking policy already' : 'the table has the policy already';
    throw new SkeinError('ALREADY_EXISTS', what);
  }
}

export async function countBindings(db: Database, tableId: string): Promise<number> {
  const { count } = await db
    .selectFrom('policy_binding')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('table_id', '=', tableId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Which bindings of a table end: the row policy of an id, all row policies, or the mask of a column. */
export type EndedBinding =
  | { readonly kind: 'row_access'; readonly policyId?: string }
  | { readonly kind: 'masking'; readonly fieldId: number };

/** @returns the ids of their policies */
export async function deleteBindings(tx: Tx, tableId: string, ended: EndedBinding): Promise<readonly string[]> {
  let query = tx.deleteFrom('policy_binding').where('table_id', '=', tableId).where('kind', '=', ended.kind);
  if (ended.kind === 'masking') query = query.where('masked_field_id', '=', ended.fieldId);
  else if (ended.policyId !== undefined) query = query.where('policy_id', '=', ended.policyId);
  return (await query.returning('policy_id').execute()).map(({ policy_id: id }) => id);
}
