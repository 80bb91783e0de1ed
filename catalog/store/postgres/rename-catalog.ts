import { sql } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { catalogNotFound, requireCatalogName } from './catalog-store.ts';
import { isUniqueViolation } from './errors.ts';
import type { Tx } from './tables.ts';

/**
 * Holds a catalog that is to get another name, until the transaction ends: whoever makes something in it at this moment is waited for, and the next one
 * waits. @throws CATALOG_NOT_FOUND when it has another name already
 */
export async function lockCatalog(tx: Tx, id: string, name: string): Promise<void> {
  const row = await tx
    .selectFrom('catalog')
    .select('id')
    .where('id', '=', id)
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) catalogNotFound(name);
}

/** A catalog that keeps its name until the transaction ends. @throws CATALOG_NOT_FOUND when it has another one by now */
export async function holdCatalog(tx: Tx, { id, name }: { readonly id: string; readonly name: string }): Promise<void> {
  const row = await tx
    .selectFrom('catalog')
    .select('id')
    .where('id', '=', id)
    .where('name', '=', name)
    .forKeyShare()
    .executeTakeFirst();
  if (row === undefined) catalogNotFound(name);
}

type Renamed = { readonly id: string; readonly from: string; readonly to: string };

/**
 * Gives a catalog that the transaction has locked another name, and to the users who start in it. @throws INVALID_REQUEST on a reserved or malformed
 * name, ALREADY_EXISTS
 */
export async function giveCatalogName(tx: Tx, { id, from, to }: Renamed): Promise<void> {
  requireCatalogName(to);
  try {
    await tx
      .updateTable('catalog')
      .set({ name: to, name_folded: foldIdentifier(to) })
      .where('id', '=', id)
      .execute();
  } catch (error) {
    if (isUniqueViolation(error)) throw new SkeinError('ALREADY_EXISTS', `Catalog already exists: ${to}`);
    throw error;
  }
  // A session finds it by its exact name, else by one that differs in case, unless another catalog has that.
  await sql`update catalog.principal p set default_warehouse = ${to}
    from catalog.catalog c
    where c.id = ${id} and p.tenant_id = c.tenant_id and (p.default_warehouse = ${from}
      or lower(p.default_warehouse collate "C") = ${foldIdentifier(from)}
        and not exists (select from catalog.catalog o where o.tenant_id = c.tenant_id and o.name = p.default_warehouse))`.execute(
    tx,
  );
}
