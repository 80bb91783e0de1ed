import type { TenantId } from '#shared/id.ts';
import { SkeinError } from '#shared/error.ts';
import { isWithin, normalizeLocation } from '#shared/storage/location.ts';
import { sql } from 'kysely';
import { isUniqueViolation } from './errors.ts';
import type { Database, Tx } from './tables.ts';

/** Tenants and their catalogs. */

export type CatalogRow = { readonly id: string; readonly name: string; readonly location: string };

/** Names that would stand where the service has paths of its own: `/v1/<name>/...`. */
const RESERVED_NAMES = new Set(['config', 'oauth', 'catalogs', 'transactions', 'stages']);
/** One URL segment without escapes. */
const CATALOG_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;
const TENANT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;
/** Key of the advisory lock under which roots are compared and one is added. */
const ROOTS_LOCK = 5_324_002;

export async function insertTenant(tx: Tx, name: string): Promise<string> {
  if (!TENANT_NAME.test(name)) throw new SkeinError('INVALID_REQUEST', `not a tenant name: ${name}`);
  try {
    const { id } = await tx.insertInto('tenant').values({ name }).returning('id').executeTakeFirstOrThrow();
    return id;
  } catch (error) {
    if (isUniqueViolation(error)) throw new SkeinError('ALREADY_EXISTS', `Tenant already exists: ${name}`);
    throw error;
  }
}

/** @throws TENANT_NOT_FOUND */
export async function requireTenant(tx: Tx, name: TenantId | string): Promise<string> {
  const row = await tx.selectFrom('tenant').select('id').where('name', '=', name).executeTakeFirst();
  if (row === undefined) throw new SkeinError('TENANT_NOT_FOUND', `Tenant does not exist: ${name}`);
  return row.id;
}

export async function listTenants(tx: Tx): Promise<string[]> {
  const rows = await tx.selectFrom('tenant').select('name').orderBy('name').execute();
  return rows.map(({ name }) => name);
}

/**
 * Adds a catalog, inside of a transaction.
 * @throws INVALID_REQUEST on a reserved or odd name, or a root that overlaps another tenant's; ALREADY_EXISTS.
 */
export async function insertCatalog(
  tx: Tx,
  catalog: { tenantId: string; name: string; location: string },
): Promise<string> {
  const { tenantId, name } = catalog;
  if (!CATALOG_NAME.test(name) || RESERVED_NAMES.has(name.toLowerCase())) {
    throw new SkeinError('INVALID_REQUEST', `not a catalog name: ${name}`);
  }
  const location = normalizeLocation(catalog.location);
  await sql`select pg_advisory_xact_lock(${ROOTS_LOCK})`.execute(tx);
  const others = await tx.selectFrom('catalog').select('location').where('tenant_id', '!=', tenantId).execute();
  if (others.some((other) => isWithin(location, other.location) || isWithin(other.location, location))) {
    throw new SkeinError('INVALID_REQUEST', `the location of catalog ${name} cannot be used: ${location}`);
  }
  try {
    const row = await tx
      .insertInto('catalog')
      .values({ tenant_id: tenantId, name, name_folded: name.toLowerCase(), location })
      .returning('id')
      .executeTakeFirstOrThrow();
    return row.id;
  } catch (error) {
    if (isUniqueViolation(error)) throw new SkeinError('ALREADY_EXISTS', `Catalog already exists: ${name}`);
    throw error;
  }
}

/** The catalog of this name, if the tenant owns it. @throws CATALOG_NOT_FOUND, word for word also for another tenant's. */
export async function requireCatalog(tx: Tx, tenant: TenantId, name: string): Promise<CatalogRow> {
  const row = await tx
    .selectFrom('catalog as c')
    .innerJoin('tenant as t', 't.id', 'c.tenant_id')
    .select(['c.id', 'c.name', 'c.location'])
    .where('c.name', '=', name)
    .where('t.name', '=', tenant)
    .executeTakeFirst();
  return row ?? catalogNotFound(name);
}

export function catalogNotFound(name: string): never {
  throw new SkeinError('CATALOG_NOT_FOUND', `Warehouse does not exist: ${name}`);
}

/** Whether any tenant has a catalog of this name: for the configuration, which needs no token. */
export async function catalogExists(tx: Tx, name: string): Promise<boolean> {
  const row = await tx.selectFrom('catalog').select('id').where('name', '=', name).executeTakeFirst();
  return row !== undefined;
}

export async function listCatalogs(db: Database, tenant: string): Promise<string[]> {
  const rows = await db
    .selectFrom('catalog as c')
    .innerJoin('tenant as t', 't.id', 'c.tenant_id')
    .select('c.name')
    .where('t.name', '=', tenant)
    .orderBy('c.name')
    .execute();
  return rows.map(({ name }) => name);
}
