import { sql } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { isReservedForNew, isReservedSchema } from '#shared/sql/reserved-schemas.ts';
import type { Properties } from '../../metadata/table-document.ts';
import { isForeignKeyViolation, isUniqueViolation } from './errors.ts';
import type { Page } from './page.ts';
import type { Database, Tx } from './tables.ts';
import { LEVEL_SEPARATOR, type NamespacePath, splitPath, displayPath } from '../../metadata/object-name.ts';

export type NamespaceRow = { readonly id: string; readonly properties: Properties };

const joined = (path: NamespacePath): string => path.join(LEVEL_SEPARATOR);

export function namespaceNotFound(path: NamespacePath): never {
  throw new SkeinError('SCHEMA_NOT_FOUND', `Namespace does not exist: ${displayPath(path)}`);
}

/** @throws SCHEMA_NOT_FOUND */
export async function requireNamespace(db: Database, catalogId: string, path: NamespacePath): Promise<NamespaceRow> {
  const row = await db
    .selectFrom('namespace')
    .select(['id', 'properties'])
    .where('catalog_id', '=', catalogId)
    .where('path', '=', joined(path))
    .executeTakeFirst();
  return row ?? namespaceNotFound(path);
}

/**
 * A namespace that keeps its name until the transaction ends, for one that puts something there. @throws SCHEMA_NOT_FOUND, also when it gets
 * another name at this moment
 */
export async function holdNamespace(tx: Tx, catalogId: string, path: NamespacePath): Promise<{ readonly id: string }> {
  const row = await tx
    .selectFrom('namespace')
    .select('id')
    .where('catalog_id', '=', catalogId)
    .where('path', '=', joined(path))
    .forKeyShare()
    .executeTakeFirst();
  return row ?? namespaceNotFound(path);
}

/** Namespaces of a catalog come and go together, and are renamed alone: a rename moves all below it, and must not miss one. */
export const lockTree = (tx: Tx, catalogId: string, mode: 'shared' | 'alone') =>
  sql`select ${sql.raw(mode === 'shared' ? 'pg_advisory_xact_lock_shared' : 'pg_advisory_xact_lock')}(
    hashtextextended(${`namespaces ${catalogId}`}, 0))`.execute(tx);

/**
 * Checks where something new is to stand. Namespaces from before these names were reserved can be read, emptied and dropped, and what they
 * hold can be changed. @throws RESERVED_NAME
 */
export function requireNotReserved(path: NamespacePath): void {
  if (isReservedSchema(path)) refuseReserved(path);
}

/** As `requireNotReserved`, for a namespace that is to have this name. @throws RESERVED_NAME */
export function requireFreeForNew(path: NamespacePath): void {
  if (isReservedForNew(path)) refuseReserved(path);
}

const refuseReserved = (path: NamespacePath): never => {
  throw new SkeinError('RESERVED_NAME', `Namespace name is reserved: ${displayPath(path)}`);
};

/** Adds a namespace whose parent exists. @throws SCHEMA_EXISTS, RESERVED_NAME; SCHEMA_NOT_FOUND for the parent. */
export async function insertNamespace(
  tx: Tx,
  catalogId: string,
  path: NamespacePath,
  properties: Properties,
): Promise<void> {
  requireFreeForNew(path);
  await lockTree(tx, catalogId, 'shared');
  const parent = path.slice(0, -1);
  const parentId = parent.length === 0 ? null : (await requireNamespace(tx, catalogId, parent)).id;
  try {
    await tx
      .insertInto('namespace')
      .values({
        catalog_id: catalogId,
        parent_id: parentId,
        path: joined(path),
        path_folded: foldIdentifier(joined(path)),
        properties: JSON.stringify(properties),
      })
      .execute();
  } catch (error) {
    if (isUniqueViolation(error)) {
      throw new SkeinError('SCHEMA_EXISTS', `Namespace already exists: ${displayPath(path)}`);
    }
    if (isForeignKeyViolation(error)) namespaceNotFound(parent);
    throw error;
  }
}

/** Lists the namespaces directly below `parent` by name; undefined = the top level. */
export async function listNamespaces(
  db: Database,
  catalogId: string,
  parent: NamespacePath | undefined,
  page: Page,
): Promise<string[]> {
  let query = db.selectFrom('namespace').select('path').where('catalog_id', '=', catalogId).orderBy('path');
  if (parent === undefined) query = query.where('parent_id', 'is', null);
  else query = query.where('parent_id', '=', (await requireNamespace(db, catalogId, parent)).id);
  if (page.after !== undefined) query = query.where('path', '>', page.after);
  if (page.limit !== undefined) query = query.limit(page.limit);
  return (await query.execute()).map(({ path }) => path);
}

type ListedNamespace = {
  readonly path: NamespacePath;
  readonly owner: string | null;
  readonly comment: string | null;
  readonly oid: number;
};

/** Longest part of a comment that lists have: a page of them stays small. */
const COMMENT_CHARACTERS = 4_096;

/**
 * Lists the namespaces of all levels, each before those below it; with a name only those that people read so, without case. `page.after` is
 * the path of one (`joinPath`).
 */
export async function listAllNamespaces(
  db: Database,
  catalogId: string,
  page: Page & { readonly name?: string },
): Promise<ListedNamespace[]> {
  const owner = sql<string | null>`properties->>'owner'`.as('owner');
  const comment = sql<string | null>`left(properties->>'comment', ${COMMENT_CHARACTERS})`.as('comment');
  let query = db
    .selectFrom('namespace')
    .select(['path', 'oid', owner, comment])
    .where('catalog_id', '=', catalogId)
    .orderBy('path');
  if (page.name !== undefined) {
    const folded = foldIdentifier(page.name);
    // A level may have dots of its own. A name without them is looked up in the index.
    query = folded.includes('.')
      ? query.where(sql<string>`replace(path_folded, ${LEVEL_SEPARATOR}, '.')`, '=', folded)
      : query.where('path_folded', '=', folded);
  }
  if (page.after !== undefined) query = query.where('path', '>', page.after);
  if (page.limit !== undefined) query = query.limit(page.limit);
  return (await query.execute()).map(({ path, oid, ...others }) => ({
    ...others,
    path: splitPath(path),
    oid: Number(oid),
  }));
}

/** Deletes a namespace and returns its properties. @throws SCHEMA_NOT_FOUND, SCHEMA_NOT_EMPTY */
export async function deleteNamespace(tx: Tx, catalogId: string, path: NamespacePath): Promise<Properties> {
  try {
    const row = await tx
      .deleteFrom('namespace')
      .where('catalog_id', '=', catalogId)
      .where('path', '=', joined(path))
      .returning('properties')
      .executeTakeFirst();
    return row?.properties ?? namespaceNotFound(path);
  } catch (error) {
    if (isForeignKeyViolation(error)) {
      throw new SkeinError('SCHEMA_NOT_EMPTY', `Namespace ${displayPath(path)} is not empty.`);
    }
    throw error;
  }
}

/** Locks the properties and replaces them by the result of `change`. @throws SCHEMA_NOT_FOUND */
export async function updateNamespaceProperties(
  tx: Tx,
  catalogId: string,
  path: NamespacePath,
  change: (properties: Properties) => Properties,
): Promise<void> {
  const row = await tx
    .selectFrom('namespace')
    .select(['id', 'properties'])
    .where('catalog_id', '=', catalogId)
    .where('path', '=', joined(path))
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) return namespaceNotFound(path);
  await tx
    .updateTable('namespace')
    .set({ properties: JSON.stringify(change(row.properties)) })
    .where('id', '=', row.id)
    .execute();
}
