import type { Principal } from '#shared/authorization/principal.ts';
import type { CatalogContext } from '../context.ts';
import { listCatalogs as catalogsOf, requireCatalog } from '../store/postgres/catalog-store.ts';
import { joinPath, listAllNamespaces, requireNamespace } from '../store/postgres/namespace-store.ts';
import type { Page } from '../store/postgres/page.ts';
import { listTables as tablesOf } from '../store/postgres/table-store.ts';

/** Paged lists for SHOW and for resolving names without a catalog; names as stored, sorted. */

type CatalogRequest = { readonly catalog: string; readonly limit: number };

/** The page of names that follow `after`; an empty `after` means the first page. */
const pageAfter = (after: string, limit: number): Page => ({
  ...(after === '' ? {} : { after }),
  ...(limit === 0 ? {} : { limit }),
});

const hasMore = (found: readonly unknown[], limit: number): boolean => limit !== 0 && found.length === limit;

export const listCatalogs = async (
  context: CatalogContext,
  _request: unknown,
  { tenant }: Principal,
): Promise<{ names: readonly string[] }> => ({ names: await catalogsOf(context.store.db, tenant) });

/** @throws CATALOG_NOT_FOUND */
export async function listNamespaces(
  { store: { db } }: CatalogContext,
  { catalog: name, after, limit }: CatalogRequest & { readonly after: readonly string[] },
  { tenant }: Principal,
): Promise<{ namespaces: readonly { levels: readonly string[] }[]; more: boolean }> {
  const catalog = await requireCatalog(db, tenant, name);
  const found = await listAllNamespaces(db, catalog.id, pageAfter(joinPath(after), limit));
  return { namespaces: found.map((levels) => ({ levels })), more: hasMore(found, limit) };
}

/** @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND */
export async function listTables(
  { store: { db } }: CatalogContext,
  request: CatalogRequest & { readonly namespace: readonly string[]; readonly after: string },
  { tenant }: Principal,
): Promise<{ names: readonly string[]; more: boolean }> {
  const { after, limit } = request;
  const catalog = await requireCatalog(db, tenant, request.catalog);
  const namespace = await requireNamespace(db, catalog.id, request.namespace);
  const names = await tablesOf(db, namespace.id, pageAfter(after, limit));
  return { names, more: hasMore(names, limit) };
}
