import type { MfaRequired } from '#shared/config/mfa-required.ts';
import { sql } from 'kysely';
import type { TenantId } from '#shared/id.ts';
import { SkeinError } from '#shared/error.ts';
import { normalizeLocation } from '#shared/storage/location.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { keepFormerRoots, takeRoots, type WantedRoots } from './catalog-roots.ts';
import { isForeignKeyViolation, isUniqueViolation } from './errors.ts';
import type { Page } from './page.ts';
import type { Database, Tx } from './tables.ts';

/** Tenants and their catalogs. */

export type CatalogRow = {
  readonly id: string;
  readonly name: string;
  readonly tenant: string;
  /** Root of new tables. */
  readonly location: string;
  /** All roots in which its files may lie: `location`, then the further ones that the operator allows. */
  readonly roots: readonly string[];
  /** Time for which a dropped table can be restored; 0 = not at all. */
  readonly undropWindowMs: number;
  readonly createdAt: Date;
};

/** Names that would collide with the service's own paths: `/v1/<name>/...`. */
const RESERVED_NAMES = new Set(['config', 'oauth', 'catalogs', 'transactions', 'stages']);
/** A catalog name is one URL segment without escapes. */
const CATALOG_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;
const TENANT_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;

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
export async function requireTenant(db: Database, name: TenantId | string): Promise<string> {
  const row = await db.selectFrom('tenant').select('id').where('name', '=', name).executeTakeFirst();
  if (row === undefined) throw tenantNotFound(name);
  return row.id;
}

export type NamedTenant = { readonly id: string; readonly name: string };

/** @param name undefined = the first one that was made */
export function findTenantNamed(db: Database, name: string | undefined): Promise<NamedTenant | undefined> {
  const tenants = db.selectFrom('tenant').select(['id', 'name']);
  const one =
    name === undefined ? tenants.orderBy('created_at').orderBy('id').limit(1) : tenants.where('name', '=', name);
  return one.executeTakeFirst();
}

const tenantNotFound = (name: string): SkeinError =>
  new SkeinError('TENANT_NOT_FOUND', `Tenant does not exist: ${name}`);

export async function listTenants(db: Database): Promise<string[]> {
  const rows = await db.selectFrom('tenant').select('name').orderBy('name').execute();
  return rows.map(({ name }) => name);
}

/** Rules for the passwords of a tenant's users; one that is absent stays as it is. */
export type PasswordRules = {
  readonly minLength?: number;
  readonly classes?: number;
  readonly history?: number;
};

export async function setPasswordRules(tx: Tx, tenantId: string, rules: PasswordRules): Promise<void> {
  const { minLength, classes, history } = rules;
  const change = {
    ...(minLength === undefined ? {} : { password_min_length: minLength }),
    ...(classes === undefined ? {} : { password_classes: classes }),
    ...(history === undefined ? {} : { password_history: history }),
  };
  if (Object.keys(change).length > 0) await tx.updateTable('tenant').set(change).where('id', '=', tenantId).execute();
}

/** Says who must have a second factor. Tokens of those who must from now on, and have none, end. */
export async function setMfaRequired(tx: Tx, tenantId: string, mfaRequired: MfaRequired): Promise<void> {
  const { mfa_required: before } = await tx
    .selectFrom('tenant')
    .select('mfa_required')
    .where('id', '=', tenantId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  await tx.updateTable('tenant').set({ mfa_required: mfaRequired }).where('id', '=', tenantId).execute();
  if (mfaRequired !== 'everyone' || before === 'everyone') return;
  await sql`
    update catalog.principal p set session_epoch = session_epoch + 1
    where tenant_id = ${tenantId} and kind = 'USER' and archived_at is null
      and not exists (select from catalog.authenticator a where a.principal_id = p.id)
      and not exists (select from catalog.passkey k where k.principal_id = p.id)`.execute(tx);
}

/** Drops a tenant without catalogs, with all its users, inside of a transaction. @returns its id @throws TENANT_NOT_FOUND, TENANT_NOT_EMPTY */
export async function dropTenant(tx: Tx, name: string): Promise<string> {
  const tenantId = await requireTenant(tx, name);
  try {
    await tx.deleteFrom('principal').where('tenant_id', '=', tenantId).execute();
    await tx.deleteFrom('tenant').where('id', '=', tenantId).execute();
    return tenantId;
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
    throw new SkeinError('TENANT_NOT_EMPTY', `Tenant ${name} still has catalogs: drop them first`);
  }
}

/** A catalog's id, and its tenant. */
export async function findOwnerOf(
  db: Database,
  catalog: string,
): Promise<{ readonly catalogId: string; readonly tenant: NamedTenant } | undefined> {
  const row = await db
    .selectFrom('catalog as c')
    .innerJoin('tenant as t', 't.id', 'c.tenant_id')
    .select(['c.id', 't.id as tenantId', 't.name'])
    .where('c.name', '=', catalog)
    .executeTakeFirst();
  return row === undefined ? undefined : { catalogId: row.id, tenant: { id: row.tenantId, name: row.name } };
}

type NewCatalog = {
  readonly tenantId: string;
  readonly name: string;
  readonly location: string;
  readonly allowedRoots?: readonly string[];
  readonly chosenBy: WantedRoots['chosenBy'];
  readonly undropWindowMs?: number;
};

/** @throws INVALID_REQUEST on a reserved or malformed name */
export function requireCatalogName(name: string): void {
  if (CATALOG_NAME.test(name) && !RESERVED_NAMES.has(foldIdentifier(name))) return;
  throw new SkeinError('INVALID_REQUEST', `not a catalog name: ${name}`);
}

/**
 * Inserts a catalog, inside of a transaction.
 * @throws INVALID_REQUEST on a reserved or malformed name, or a root of another tenant (`takeRoots`); ALREADY_EXISTS.
 */
export async function insertCatalog(tx: Tx, catalog: NewCatalog): Promise<string> {
  const { tenantId, name, chosenBy } = catalog;
  requireCatalogName(name);
  const location = normalizeLocation(catalog.location);
  const allowedRoots = (catalog.allowedRoots ?? []).map(normalizeLocation);
  await takeRoots(tx, { tenantId, catalog: name, roots: [location, ...allowedRoots], chosenBy });
  try {
    const row = await tx
      .insertInto('catalog')
      .values({
        tenant_id: tenantId,
        name,
        name_folded: foldIdentifier(name),
        location,
        allowed_roots: allowedRoots,
        undrop_window_s: Math.ceil((catalog.undropWindowMs ?? 0) / 1_000),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    return row.id;
  } catch (error) {
    if (isUniqueViolation(error)) throw new SkeinError('ALREADY_EXISTS', `Catalog already exists: ${name}`);
    if (isForeignKeyViolation(error)) throw new SkeinError('TENANT_NOT_FOUND', 'the tenant was dropped meanwhile');
    throw error;
  }
}

/** Changes the settings that the operator decides, inside of a transaction. @throws INVALID_REQUEST, CATALOG_NOT_FOUND */
export async function alterCatalog(
  tx: Tx,
  name: string,
  change: {
    readonly addRoots: readonly string[];
    readonly dropRoots: readonly string[];
    readonly undropWindowMs?: number;
  },
): Promise<void> {
  const row = await tx
    .selectFrom('catalog')
    .select(['id', 'tenant_id', 'allowed_roots'])
    .where('name', '=', name)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) return catalogNotFound(name);
  const added = change.addRoots.map(normalizeLocation);
  const dropped = new Set(change.dropRoots.map(normalizeLocation));
  const { tenant_id: tenantId } = row;
  await takeRoots(tx, { tenantId, catalog: name, roots: added, chosenBy: 'operator' });
  await keepFormerRoots(
    tx,
    tenantId,
    row.allowed_roots.filter((root) => dropped.has(root)),
  );
  const roots = new Set([...row.allowed_roots, ...added].filter((root) => !dropped.has(root)));
  await tx
    .updateTable('catalog')
    .set({
      allowed_roots: [...roots],
      ...(change.undropWindowMs === undefined ? {} : { undrop_window_s: Math.ceil(change.undropWindowMs / 1_000) }),
    })
    .where('id', '=', row.id)
    .execute();
}

/**
 * Drops a catalog, inside of a transaction; its tenant keeps its roots.
 * @throws CATALOG_NOT_FOUND; CATALOG_NOT_EMPTY while it holds namespaces, or dropped tables whose time has not come.
 */
export async function deleteCatalog(
  tx: Tx,
  { name, id }: { readonly name: string; /** Absent: whoever has it. */ readonly id?: string },
): Promise<void> {
  try {
    let query = tx.deleteFrom('catalog').where('name', '=', name).returning(['tenant_id', 'location', 'allowed_roots']);
    if (id !== undefined) query = query.where('id', '=', id);
    const row = await query.executeTakeFirst();
    if (row === undefined) return catalogNotFound(name);
    await keepFormerRoots(tx, row.tenant_id, [row.location, ...row.allowed_roots]);
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
    throw new SkeinError(
      'CATALOG_NOT_EMPTY',
      `Catalog ${name} is not empty: it holds namespaces, dropped tables that can still be had back or are being purged, or folders of tables that had policies`,
    );
  }
}

const catalogsOfTenants = (db: Database) =>
  db
    .selectFrom('catalog as c')
    .innerJoin('tenant as t', 't.id', 'c.tenant_id')
    .select([
      'c.id',
      'c.name',
      't.name as tenant',
      'c.location',
      'c.allowed_roots',
      'c.undrop_window_s',
      'c.created_at',
    ]);

const toCatalogRow = (row: {
  id: string;
  name: string;
  tenant: string;
  location: string;
  allowed_roots: readonly string[];
  undrop_window_s: string;
  created_at: Date;
}): CatalogRow => ({
  id: row.id,
  name: row.name,
  tenant: row.tenant,
  location: row.location,
  roots: [row.location, ...row.allowed_roots],
  undropWindowMs: Number(row.undrop_window_s) * 1_000,
  createdAt: row.created_at,
});

/** Returns the catalog of this name if the tenant owns it. @throws CATALOG_NOT_FOUND, with the same words for another tenant's catalog */
export async function requireCatalog(db: Database, tenant: TenantId, name: string): Promise<CatalogRow> {
  const row = await catalogsOfTenants(db).where('c.name', '=', name).where('t.name', '=', tenant).executeTakeFirst();
  return row === undefined ? catalogNotFound(name) : toCatalogRow(row);
}

/** Lists the catalogs of one tenant, or of all, by name. */
export async function listCatalogRows(db: Database, tenant: string | undefined, page: Page): Promise<CatalogRow[]> {
  let query = catalogsOfTenants(db).orderBy('c.name');
  if (tenant !== undefined) query = query.where('t.name', '=', tenant);
  if (page.after !== undefined) query = query.where('c.name', '>', page.after);
  if (page.limit !== undefined) query = query.limit(page.limit);
  return (await query.execute()).map(toCatalogRow);
}

export function catalogNotFound(name: string): never {
  throw new SkeinError('CATALOG_NOT_FOUND', `Warehouse does not exist: ${name}`);
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
