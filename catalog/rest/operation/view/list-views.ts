import type { CatalogContext } from '../../../context.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { requireNamespace } from '../../../store/postgres/namespace-store.ts';
import { listViews as list } from '../../../store/postgres/view-store.ts';
import { namespaceOf } from '../../../metadata/check-name.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';
import { nextPageToken, pageOf } from '../../paging.ts';

/** `GET /v1/{prefix}/namespaces/{namespace}/views` */
export async function listViewsOperation(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { db } = context.store;
  const page = pageOf(request);
  const path = namespaceOf(request.params['namespace'] ?? '');
  const catalog = await requireCatalog(db, request.claims.tenant, request.params['prefix'] ?? '');
  const namespace = await requireNamespace(db, catalog.id, path);
  const names = await list(db, namespace.id, page);
  return ok({
    identifiers: names.map((name) => ({ namespace: path, name })),
    'next-page-token': nextPageToken(page, names),
  });
}
