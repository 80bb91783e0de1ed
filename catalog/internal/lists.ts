import { tenantId } from '#shared/id.ts';
import type { CatalogContext } from '../context.ts';
import { listCatalogs as catalogsOf, requireCatalog } from '../store/postgres/catalog-store.ts';
import { listAllNamespaces, requireNamespace } from '../store/postgres/namespace-store.ts';
import { EVERYTHING } from '../store/postgres/page.ts';
import { listTables as tablesOf } from '../store/postgres/table-store.ts';

/** Lists for SHOW and for names without their catalog; names as they are stored, sorted. */

type CatalogRequest = { readonly tenant: string; readonly catalog: string };

export const listCatalogs = async (
  context: CatalogContext,
  request: { readonly tenant: string },
): Promise<{ names: readonly string[] }> => ({ names: await catalogsOf(context.store.db, request.tenant) });

/** @throws CATALOG_NOT_FOUND */
export async function listNamespaces(
  { store: { db } }: CatalogContext,
  request: CatalogRequest,
): Promise<{ namespaces: readonly { levels: readonly string[] }[] }> {
  const catalog = await requireCatalog(db, tenantId(request.tenant), request.catalog);
  return { namespaces: (await listAllNamespaces(db, catalog.id)).map((levels) => ({ levels })) };
}

/** @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND */
export async function listTables(
  { store: { db } }: CatalogContext,
  request: CatalogRequest & { readonly namespace: readonly string[]; readonly limit: number },
): Promise<{ names: readonly string[] }> {
  const catalog = await requireCatalog(db, tenantId(request.tenant), request.catalog);
  const namespace = await requireNamespace(db, catalog.id, request.namespace);
  return {
    names: await tablesOf(db, namespace.id, request.limit === 0 ? EVERYTHING : { ...EVERYTHING, limit: request.limit }),
  };
}
