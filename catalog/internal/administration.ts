import type { AlterCatalogRequest } from '#proto/generated/skein/catalog/v1/AlterCatalogRequest.ts';
import type { AlterTenantRequest } from '#proto/generated/skein/catalog/v1/AlterTenantRequest.ts';
import type { CatalogList } from '#proto/generated/skein/catalog/v1/CatalogList.ts';
import type { CreateCatalogRequest } from '#proto/generated/skein/catalog/v1/CreateCatalogRequest.ts';
import type { CreateTenantReply } from '#proto/generated/skein/catalog/v1/CreateTenantReply.ts';
import type { CreateTenantRequest } from '#proto/generated/skein/catalog/v1/CreateTenantRequest.ts';
import type { DescribeCatalogsRequest } from '#proto/generated/skein/catalog/v1/DescribeCatalogsRequest.ts';
import type { DropCatalogRequest } from '#proto/generated/skein/catalog/v1/DropCatalogRequest.ts';
import type { DropTenantRequest } from '#proto/generated/skein/catalog/v1/DropTenantRequest.ts';
import type { NameList } from '#proto/generated/skein/catalog/v1/NameList.ts';
import { insertNamespace } from '../store/postgres/namespace-store.ts';
import { SkeinError } from '#shared/error.ts';
import type { JsonObject } from '#shared/json.ts';
import { catalogLocation } from '../bootstrap.ts';
import type { CatalogContext } from '../context.ts';
import { checkPrincipalName, firstEmail } from '../principal-statement/check-names.ts';
import { hashPassword } from '../principal/password.ts';
import { addBucket, bucketsOf, changeBucket } from './bucket-settings.ts';
import { makeRoots } from '../storage/make-roots.ts';
import {
  alterCatalog as changeCatalog,
  deleteCatalog,
  dropTenant as deleteTenant,
  insertCatalog,
  insertTenant,
  listCatalogRows,
  listTenants as tenants,
  findOwnerOf,
  requireTenant,
  setPasswordRules,
} from '../store/postgres/catalog-store.ts';
import { forgetClosed } from '../store/postgres/folder-claims.ts';
import { recordOperator } from '../store/postgres/audit-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { EVERYTHING } from '../store/postgres/page.ts';
import { insertPrincipal, TENANT_ADMIN } from '../store/postgres/principal-store.ts';
import { transact } from '../store/postgres/transact.ts';

/** Calls of the operator: create, alter and drop tenants and their catalogs. */

/** Creates a tenant with its administrator. @throws INVALID_REQUEST, ALREADY_EXISTS */
export async function createTenant(context: CatalogContext, request: CreateTenantRequest): Promise<CreateTenantReply> {
  if (request.admin_password === '') throw new SkeinError('INVALID_REQUEST', 'the administrator needs a password');
  checkPrincipalName('a user', request.admin_user);
  const passwordHash = await hashPassword(request.admin_password);
  const now = new Date(context.clock.nowMs());
  const id = await transact(context.store.db, async (tx) => {
    const tenantId = await insertTenant(tx, request.name);
    const admin = await insertPrincipal(tx, {
      tenantId,
      username: request.admin_user,
      email: firstEmail(request.admin_user, request.admin_email),
      passwordHash,
      roles: [TENANT_ADMIN],
      isBootstrap: true,
    });
    await recordOperator(tx, { id: tenantId, name: request.name }, now, {
      type: 'create_tenant',
      target: { id: admin, name: request.admin_user },
    });
    return tenantId;
  });
  return { tenant_id: id };
}

export const listTenantsCall = async (context: CatalogContext): Promise<NameList> => ({
  names: await tenants(context.store.db),
});

/** Bounds of the rules for passwords; the longest password has 256 characters. */
const RULES = {
  password_min_length: { name: 'minLength', min: 8, max: 128 },
  password_classes: { name: 'classes', min: 1, max: 4 },
  password_history: { name: 'history', min: 0, max: 24 },
} as const;

/** Changes what the passwords of a tenant's users must be, from the next one on. @throws TENANT_NOT_FOUND, INVALID_REQUEST */
export async function alterTenant(
  context: CatalogContext,
  request: AlterTenantRequest,
): Promise<Record<string, never>> {
  const rules: Record<string, number> = {};
  for (const key of ['password_min_length', 'password_classes', 'password_history'] as const) {
    const value = request[key];
    if (value === -1) continue;
    const { name, min, max } = RULES[key];
    if (value < min || value > max) throw new SkeinError('INVALID_REQUEST', `${key} is ${min} to ${max}`);
    rules[name] = value;
  }
  await transact(context.store.db, async (tx) => {
    const tenant = { id: await requireTenant(tx, request.name), name: request.name };
    await setPasswordRules(tx, tenant.id, rules);
    const event = { type: 'alter_tenant', target: tenant, details: { password_rules: rules } } as const;
    await recordOperator(tx, tenant, new Date(context.clock.nowMs()), event);
  });
  return {};
}

/** @throws TENANT_NOT_FOUND, TENANT_NOT_EMPTY */
export async function dropTenantCall(
  context: CatalogContext,
  request: DropTenantRequest,
): Promise<Record<string, never>> {
  await transact(context.store.db, async (tx) => {
    const id = await deleteTenant(tx, request.name);
    const tenant = { id, name: request.name };
    await recordOperator(tx, tenant, new Date(context.clock.nowMs()), { type: 'drop_tenant', target: tenant });
  });
  return {};
}

/**
 * Creates a catalog; an empty location means `<data_dir>/catalogs/<name>-<uuid>`. @throws TENANT_NOT_FOUND, INVALID_REQUEST, ALREADY_EXISTS
 */
export async function createCatalogCall(
  context: CatalogContext,
  request: CreateCatalogRequest,
): Promise<Record<string, never>> {
  const { name, allow_roots: allowedRoots } = request;
  const location = request.location === '' ? catalogLocation(context.config, name) : request.location;
  await transact(context.store.db, async (tx) => {
    const tenantId = await requireTenant(tx, request.tenant);
    const undropWindowMs = windowOf(request.undrop_window_ms);
    const id = await insertCatalog(tx, {
      tenantId,
      name,
      location,
      allowedRoots,
      chosenBy: 'operator',
      undropWindowMs,
    });
    await recordOperator(tx, { id: tenantId, name: request.tenant }, new Date(context.clock.nowMs()), {
      type: 'create_catalog',
      target: { id, name },
      details: { location },
    });
    await addBucket(tx, context.sealing, { id, roots: [location, ...allowedRoots], bucket: request.bucket });
    const { first_namespace: namespace } = request;
    if (namespace !== '') await insertNamespace(tx, id, [namespace], {});
  });
  await makeRoots(context, [location, ...allowedRoots]);
  return {};
}

/** Longest time for which dropped tables are kept. */
const UNDROP_WINDOW_MAX_MS = 366 * 86_400_000;

function windowOf(text: string): number {
  const windowMs = Number(text);
  if (windowMs < 0 || windowMs > UNDROP_WINDOW_MAX_MS) {
    throw new SkeinError('INVALID_REQUEST', `the UNDROP window is 0 to ${UNDROP_WINDOW_MAX_MS / 86_400_000} days`);
  }
  return windowMs;
}

/** @throws CATALOG_NOT_FOUND, INVALID_REQUEST */
export async function alterCatalogCall(
  context: CatalogContext,
  request: AlterCatalogRequest,
): Promise<Record<string, never>> {
  const { name, allow_roots: addRoots, disallow_roots: dropRoots, undrop_window_ms: windowMs } = request;
  const window = windowMs === '-1' ? {} : { undropWindowMs: windowOf(windowMs) };
  const { bucket } = request;
  await transact(context.store.db, async (tx) => {
    await changeCatalog(tx, name, { addRoots, dropRoots, ...window });
    if (bucket !== null) await changeBucket(tx, context.sealing, { name, bucket });
    const details = {
      allow_roots: addRoots,
      disallow_roots: dropRoots,
      ...(windowMs === '-1' ? {} : { undrop_window_seconds: Number(windowMs) / 1_000 }),
      changes_bucket: bucket !== null,
    };
    await recordCatalog(tx, context, { type: 'alter_catalog', name, details });
  });
  await makeRoots(context, addRoots);
  return {};
}

/** @throws CATALOG_NOT_FOUND, CATALOG_NOT_EMPTY */
export async function dropCatalogCall(
  context: CatalogContext,
  request: DropCatalogRequest,
): Promise<Record<string, never>> {
  await transact(context.store.db, async (tx) => {
    await recordCatalog(tx, context, { type: 'drop_catalog', name: request.name });
    await forgetClosed(tx, request.name);
    await deleteCatalog(tx, { name: request.name });
  });
  return {};
}

async function recordCatalog(
  tx: Tx,
  { clock }: CatalogContext,
  {
    type,
    name,
    details,
  }: { readonly type: 'alter_catalog' | 'drop_catalog'; readonly name: string; readonly details?: JsonObject },
): Promise<void> {
  const owner = await findOwnerOf(tx, name);
  if (owner === undefined) return;
  await recordOperator(tx, owner.tenant, new Date(clock.nowMs()), {
    type,
    target: { id: owner.catalogId, name },
    ...(details === undefined ? {} : { details }),
  });
}

export async function describeCatalogs(
  context: CatalogContext,
  request: DescribeCatalogsRequest,
): Promise<CatalogList> {
  const tenant = request.tenant === '' ? undefined : request.tenant;
  const rows = await listCatalogRows(context.store.db, tenant, EVERYTHING);
  const buckets = await bucketsOf(context);
  return {
    catalogs: rows.map(({ name, tenant: owner, roots, undropWindowMs }) => ({
      name,
      tenant: owner,
      roots,
      undrop_window_ms: String(undropWindowMs),
      bucket: { ...buckets.get(name) },
    })),
  };
}
