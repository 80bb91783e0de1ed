import type { CatalogContext } from '../../../context.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { listNamespaces as list } from '../../../store/postgres/namespace-store.ts';
import { splitPath } from '../../../metadata/object-name.ts';
import { namespaceOf } from '../../../metadata/check-name.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';
import { nextPageToken, pageOf } from '../../paging.ts';

/** `GET /v1/{prefix}/namespaces`: the namespaces directly below `parent`, or of the top level. */
export async function listNamespacesOperation(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { db } = context.store;
  const page = pageOf(request);
  const parent = request.query['parent'];
  const catalog = await requireCatalog(db, request.claims.tenant, request.params['prefix'] ?? '');
  const paths = await list(
    db,
    catalog.id,
    parent === undefined || parent === '' ? undefined : namespaceOf(parent),
    page,
  );
  return ok({ namespaces: paths.map(splitPath), 'next-page-token': nextPageToken(page, paths) });
}
