import { SkeinError } from '#shared/error.ts';
import { catalogLocation } from '../bootstrap.ts';
import type { CatalogContext } from '../context.ts';
import { hashPassword } from '../principal/password.ts';
import { insertCatalog, insertTenant, listTenants as tenants, requireTenant } from '../store/postgres/catalog-store.ts';
import { insertPrincipal, TENANT_ADMIN } from '../store/postgres/principal-store.ts';

/** What the operator does: tenants, and catalogs for them. */

/** A tenant with its administrator. @throws INVALID_REQUEST, ALREADY_EXISTS */
export async function createTenant(
  context: CatalogContext,
  request: { readonly name: string; readonly admin_user: string; readonly admin_password: string },
): Promise<{ tenant_id: string }> {
  if (request.admin_password === '') throw new SkeinError('INVALID_REQUEST', 'the administrator needs a password');
  const passwordHash = await hashPassword(request.admin_password);
  const id = await context.store.db.transaction().execute(async (tx) => {
    const tenantId = await insertTenant(tx, request.name);
    await insertPrincipal(tx, {
      tenantId,
      username: request.admin_user,
      passwordHash,
      roles: [TENANT_ADMIN],
      isBootstrap: true,
    });
    return tenantId;
  });
  return { tenant_id: id };
}

export const listTenants = async (context: CatalogContext): Promise<{ names: readonly string[] }> => ({
  names: await tenants(context.store.db),
});

/** A catalog; an empty location is `<data_dir>/catalogs/<name>`. @throws TENANT_NOT_FOUND, INVALID_REQUEST, ALREADY_EXISTS */
export async function createCatalog(
  context: CatalogContext,
  request: { readonly tenant: string; readonly name: string; readonly location: string },
): Promise<Record<string, never>> {
  const { name } = request;
  await context.store.db.transaction().execute(async (tx) => {
    const tenantId = await requireTenant(tx, request.tenant);
    const location = request.location === '' ? catalogLocation(context.config, name) : request.location;
    await insertCatalog(tx, { tenantId, name, location });
  });
  return {};
}
