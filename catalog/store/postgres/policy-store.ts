import { SkeinError } from '#shared/error.ts';
import type { PolicyArgument, PolicyKind } from '#shared/policy/policy-request.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { joinPath, splitPath, type NamespacePath } from '../../metadata/object-name.ts';
import { isForeignKeyViolation, isUniqueViolation } from './errors.ts';
import { namespaceNotFound, requireNotReserved } from './namespace-store.ts';
import type { Database, Tx } from './tables.ts';

/** Row-access and masking policies. Both kinds share the names of a schema, which are compared without case. */

export type PolicyRow = {
  readonly id: string;
  readonly kind: PolicyKind;
  readonly name: string;
  readonly catalog: string;
  readonly namespace: NamespacePath;
  readonly arguments: readonly PolicyArgument[];
  readonly returns: string;
  readonly body: string;
  readonly version: string;
  readonly owner: string;
  readonly createdAt: Date;
};

/** A table that a body reads, by its id and by the name that the body has for it. */
export type MappingRow = {
  readonly tableId: string;
  readonly catalog: string;
  readonly namespace: NamespacePath;
  readonly name: string;
  /** Null = it may read all columns. */
  readonly fieldIds: readonly number[] | null;
};

const policies = (db: Database, tenantId: string) =>
  db
    .selectFrom('policy as p')
    .innerJoin('namespace as n', 'n.id', 'p.namespace_id')
    .innerJoin('catalog as c', 'c.id', 'n.catalog_id')
    .select(['p.id', 'p.kind', 'p.name', 'c.name as catalog', 'n.path', 'p.arguments', 'p.returns', 'p.body'])
    .select(['p.version', 'p.owner', 'p.created_at as createdAt'])
    .where('p.tenant_id', '=', tenantId);

const toPolicy = ({ path, ...row }: Omit<PolicyRow, 'namespace'> & { readonly path: string }): PolicyRow => ({
  ...row,
  namespace: splitPath(path),
});

export async function findPolicy(
  db: Database,
  tenantId: string,
  { namespaceId, name }: { readonly namespaceId: string; readonly name: string },
): Promise<PolicyRow | undefined> {
  const row = await policies(db, tenantId)
    .where('p.namespace_id', '=', namespaceId)
    .where('p.name_folded', '=', foldIdentifier(name))
    .executeTakeFirst();
  return row === undefined ? undefined : toPolicy(row);
}

/** The policies of a kind, by catalog, schema and name. `page.after` is the place of the last one before it. */
export async function listPolicies(
  db: Database,
  tenantId: string,
  kind: PolicyKind,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<readonly PolicyRow[]> {
  let query = policies(db, tenantId)
    .where('p.kind', '=', kind)
    .orderBy('c.name')
    .orderBy('n.path')
    .orderBy('p.name_folded');
  if (after !== null) {
    const [catalog = '', path = '', name = ''] = JSON.parse(after) as readonly string[];
    query = query.where((eb) =>
      eb(eb.refTuple('c.name', 'n.path', 'p.name_folded'), '>', eb.tuple(catalog, path, name)),
    );
  }
  return (await query.limit(limit).execute()).map(toPolicy);
}

/** The place of a policy in that order. */
export const placeOfPolicy = ({ catalog, namespace, name }: PolicyRow): string =>
  JSON.stringify([catalog, joinPath(namespace), foldIdentifier(name)]);

export async function countPolicies(db: Database, tenantId: string): Promise<number> {
  const { count } = await db
    .selectFrom('policy')
    .select((eb) => eb.fn.countAll<string>().as('count'))
    .where('tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

type NewPolicy = Pick<PolicyRow, 'kind' | 'name' | 'arguments' | 'returns' | 'body' | 'owner' | 'createdAt'> & {
  readonly namespaceId: string;
  readonly mappings: readonly MappingRow[];
};

/** @throws ALREADY_EXISTS, RESERVED_NAME, SCHEMA_NOT_FOUND when the namespace went meanwhile */
export async function insertPolicy(
  tx: Tx,
  tenantId: string,
  { namespaceId, mappings, arguments: args, createdAt, ...policy }: NewPolicy,
  path: NamespacePath,
): Promise<string> {
  requireNotReserved(path);
  try {
    const { id } = await tx
      .insertInto('policy')
      .values({
        ...policy,
        tenant_id: tenantId,
        namespace_id: namespaceId,
        name_folded: foldIdentifier(policy.name),
        arguments: JSON.stringify(args),
        created_at: createdAt,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await insertMappings(tx, id, mappings);
    return id;
  } catch (error) {
    if (isUniqueViolation(error)) throw new SkeinError('ALREADY_EXISTS', `policy ${policy.name} exists already`);
    if (isForeignKeyViolation(error)) namespaceNotFound(path);
    throw error;
  }
}

/** Gives a policy a new body; with `arguments` it has other ones, too. */
export async function replaceBody(
  tx: Tx,
  id: string,
  {
    arguments: args,
    returns,
    body,
    mappings,
  }: Pick<NewPolicy, 'body' | 'mappings'> & Partial<Pick<NewPolicy, 'arguments' | 'returns'>>,
): Promise<void> {
  await tx
    .updateTable('policy')
    .set((eb) => ({
      body,
      version: eb('version', '+', '1'),
      ...(args === undefined ? {} : { arguments: JSON.stringify(args) }),
      ...(returns === undefined ? {} : { returns }),
    }))
    .where('id', '=', id)
    .execute();
  await tx.deleteFrom('policy_mapping').where('policy_id', '=', id).execute();
  await insertMappings(tx, id, mappings);
}

async function insertMappings(tx: Tx, id: string, mappings: readonly MappingRow[]): Promise<void> {
  if (mappings.length === 0) return;
  await tx
    .insertInto('policy_mapping')
    .values(
      mappings.map(({ tableId, catalog, namespace, name, fieldIds }) => ({
        policy_id: id,
        table_id: tableId,
        catalog_name: catalog,
        path: joinPath(namespace),
        name,
        field_ids: fieldIds === null ? null : [...fieldIds],
      })),
    )
    .execute();
}

/** Deletes a policy that nothing is bound to. False when something is. */
export async function deletePolicy(tx: Tx, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('policy')
    .where('id', '=', id)
    .where((eb) =>
      eb.not(eb.exists(eb.selectFrom('policy_binding as b').select('b.policy_id').where('b.policy_id', '=', id))),
    )
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** Locks a policy against another change of it. Its version, or undefined when it is gone. */
export async function lockPolicy(tx: Tx, id: string): Promise<string | undefined> {
  const row = await tx.selectFrom('policy').select('version').where('id', '=', id).forUpdate().executeTakeFirst();
  return row?.version;
}

export async function isBound(db: Database, policyId: string): Promise<boolean> {
  const row = await db
    .selectFrom('policy_binding')
    .select('policy_id')
    .where('policy_id', '=', policyId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
