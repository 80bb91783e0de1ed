import { SkeinError } from '#shared/error.ts';
import { isForeignKeyViolation, isUniqueViolation } from './errors.ts';
import { namespaceNotFound, requireNotReserved } from './namespace-store.ts';
import type { Page } from './page.ts';
import { displayIdent, type TableIdent } from '../../metadata/object-name.ts';
import type { Database, Tx } from './tables.ts';

/** User-defined functions. Their names are independent of those of tables and views. */

export type FunctionRow = { readonly metadataLocation: string; readonly metadata: string };

export function functionNotFound(ident: TableIdent): never {
  throw new SkeinError('FUNCTION_NOT_FOUND', `Function does not exist: ${displayIdent(ident)}`);
}

/** @throws FUNCTION_NOT_FOUND */
export async function requireFunction(db: Database, namespaceId: string, ident: TableIdent): Promise<FunctionRow> {
  const row = await db
    .selectFrom('iceberg_function')
    .select(['metadata_location as metadataLocation', 'metadata'])
    .where('namespace_id', '=', namespaceId)
    .where('name', '=', ident.name)
    .executeTakeFirst();
  return row ?? functionNotFound(ident);
}

/** @throws RESERVED_NAME, ALREADY_EXISTS; SCHEMA_NOT_FOUND when the namespace went meanwhile. */
export async function insertFunction(
  tx: Tx,
  one: FunctionRow & { readonly catalogId: string; readonly namespaceId: string; readonly ident: TableIdent },
): Promise<void> {
  requireNotReserved(one.ident.namespace);
  try {
    await tx
      .insertInto('iceberg_function')
      .values({
        catalog_id: one.catalogId,
        namespace_id: one.namespaceId,
        name: one.ident.name,
        metadata_location: one.metadataLocation,
        metadata: one.metadata,
      })
      .execute();
  } catch (error) {
    if (isUniqueViolation(error)) {
      throw new SkeinError('ALREADY_EXISTS', `Function already exists: ${displayIdent(one.ident)}`, { cause: error });
    }
    if (isForeignKeyViolation(error)) namespaceNotFound(one.ident.namespace);
    throw error;
  }
}

export async function deleteFunction(tx: Tx, namespaceId: string, name: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('iceberg_function')
    .where('namespace_id', '=', namespaceId)
    .where('name', '=', name)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

export async function listFunctions(db: Database, namespaceId: string, page: Page): Promise<string[]> {
  let query = db.selectFrom('iceberg_function').select('name').where('namespace_id', '=', namespaceId).orderBy('name');
  if (page.after !== undefined) query = query.where('name', '>', page.after);
  if (page.limit !== undefined) query = query.limit(page.limit);
  return (await query.execute()).map(({ name }) => name);
}
