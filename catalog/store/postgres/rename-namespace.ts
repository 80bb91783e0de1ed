import { sql } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { namespaceOf } from '../../metadata/check-name.ts';
import { displayPath, joinPath, LEVEL_SEPARATOR, type NamespacePath } from '../../metadata/object-name.ts';
import { isUniqueViolation } from './errors.ts';
import { lockTree, namespaceNotFound, requireFreeForNew, requireNamespace } from './namespace-store.ts';
import type { Tx } from './tables.ts';

type Place = { readonly catalogId: string; readonly from: NamespacePath; readonly to: NamespacePath };

/**
 * Gives a namespace, and all below it, other names, inside of a transaction. What they hold stays: it refers to them by their ids. Of two renames
 * at once the second finds what the first has made; whoever puts something there at this moment is waited for, or finds no namespace.
 * @returns the ids of the namespaces that have moved
 * @throws SCHEMA_NOT_FOUND for it and for the new parent, SCHEMA_EXISTS, RESERVED_NAME; INVALID_REQUEST when it would lie in itself, or a name
 * below it would be too long
 */
export async function renameNamespaces(tx: Tx, { catalogId, from, to }: Place): Promise<readonly string[]> {
  requireFreeForNew(to);
  await lockTree(tx, catalogId, 'alone');
  const [old, wanted] = [joinPath(from), joinPath(to)];
  if (wanted.startsWith(`${old}${LEVEL_SEPARATOR}`)) {
    throw new SkeinError('INVALID_REQUEST', `Namespace ${displayPath(from)} cannot lie in itself: ${displayPath(to)}`);
  }
  // Everything in a namespace holds its row while it is made: from here on nothing is made there until the rename is done.
  const rows = await tx
    .selectFrom('namespace')
    .select(['id', 'path'])
    .where('catalog_id', '=', catalogId)
    .where(isWithin(old))
    .orderBy('path')
    .forUpdate()
    .execute();
  const root = rows.find(({ path }) => path === old);
  if (root === undefined) return namespaceNotFound(from);
  for (const { path } of rows) namespaceOf(wanted + path.slice(old.length));
  const parent = to.slice(0, -1);
  const parentId = parent.length === 0 ? null : (await requireNamespace(tx, catalogId, parent)).id;
  const ids = rows.map(({ id }) => id);
  try {
    await sql`update catalog.namespace n set path = w.path, path_folded = w.folded,
        parent_id = case when n.id = ${root.id} then ${parentId}::uuid else n.parent_id end
      from unnest(${ids}::uuid[], ${rows.map(({ path }) => wanted + path.slice(old.length))}::text[],
        ${rows.map(({ path }) => foldIdentifier(wanted + path.slice(old.length)))}::text[]) as w(id, path, folded)
      where n.id = w.id`.execute(tx);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new SkeinError('SCHEMA_EXISTS', `Namespace already exists: ${displayPath(to)}`, { cause: error });
  }
  await moveDropped(tx, catalogId, { old, wanted });
  await noteRelations(tx, ids);
  return ids;
}

/** The namespace of this path and those below it. */
const isWithin = (path: string) => sql<boolean>`(path = ${path} or starts_with(path, ${`${path}${LEVEL_SEPARATOR}`}))`;

/** Dropped tables come back to the place that they were dropped from, by its name now. */
async function moveDropped(
  tx: Tx,
  catalogId: string,
  { old, wanted }: { readonly old: string; readonly wanted: string },
): Promise<void> {
  await tx
    .updateTable('dropped_table')
    .set({ path: sql<string>`${wanted} || substr(path, char_length(${old}) + 1)` })
    .where('catalog_id', '=', catalogId)
    .where(isWithin(old))
    .execute();
}

/** Lists show relations with the names of their namespaces. */
async function noteRelations(tx: Tx, namespaces: readonly string[]): Promise<void> {
  await sql`insert into catalog.list_change (catalog_id, object_id, is_namespace)
    select r.catalog_id, r.id, false from (
      select catalog_id, id, namespace_id from catalog.iceberg_table
      union all select catalog_id, id, namespace_id from catalog.iceberg_view
    ) r where r.namespace_id = any(${namespaces}::uuid[])`.execute(tx);
}
