import type { ListNamespacesRequest } from '#proto/generated/skein/catalog/v1/ListNamespacesRequest.ts';
import type { ListTablesRequest } from '#proto/generated/skein/catalog/v1/ListTablesRequest.ts';
import type { NameListInput } from '#proto/generated/skein/catalog/v1/NameList.ts';
import type { NamespaceListInput } from '#proto/generated/skein/catalog/v1/NamespaceList.ts';
import type { TableListInput } from '#proto/generated/skein/catalog/v1/TableList.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import type { CatalogContext } from '../context.ts';
import { listCatalogs as catalogsOf, requireCatalog } from '../store/postgres/catalog-store.ts';
import { joinPath } from '../metadata/object-name.ts';
import { listAllNamespaces, requireNamespace } from '../store/postgres/namespace-store.ts';
import type { Page } from '../store/postgres/page.ts';
import { listTables as tablesOf, listTablesAndViews } from '../store/postgres/table-store.ts';

/** Paged lists for SHOW and for resolving names without a catalog; names as stored, sorted. */

/** The page of names that follow `after`; an empty `after` means the first page. */
export const pageAfter = (after: string, limit: number): Page => ({
  ...(after === '' ? {} : { after }),
  ...(limit === 0 ? {} : { limit }),
});

export const hasMore = (found: readonly unknown[], limit: number): boolean => limit !== 0 && found.length === limit;

export const listCatalogsCall = async (
  context: CatalogContext,
  _request: unknown,
  { tenant }: Principal,
): Promise<NameListInput> => ({ names: await catalogsOf(context.store.db, tenant) });

/** @throws CATALOG_NOT_FOUND */
export async function listNamespacesCall(
  { store: { db } }: CatalogContext,
  { catalog: ofCatalog, after, limit, name }: ListNamespacesRequest,
  { tenant }: Principal,
): Promise<NamespaceListInput> {
  const catalog = await requireCatalog(db, tenant, ofCatalog);
  const page = pageAfter(joinPath(after), limit);
  const found = await listAllNamespaces(db, catalog.id, { ...page, ...(name === '' ? {} : { name }) });
  const namespaces = found.map(({ path, owner, comment, oid }) => ({
    levels: [...path],
    owner: owner ?? '',
    comment: comment ?? '',
    oid,
  }));
  return { namespaces, more: hasMore(found, limit) };
}

/** @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND */
export async function listTablesCall(
  { store: { db } }: CatalogContext,
  request: ListTablesRequest,
  { tenant }: Principal,
): Promise<TableListInput> {
  const { after, limit } = request;
  const catalog = await requireCatalog(db, tenant, request.catalog);
  const namespace = await requireNamespace(db, catalog.id, request.namespace);
  const names = await (request.with_views ? listTablesAndViews : tablesOf)(db, namespace.id, pageAfter(after, limit));
  return { names, more: hasMore(names, limit) };
}
