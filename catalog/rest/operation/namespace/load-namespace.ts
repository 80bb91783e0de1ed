import type { CatalogContext } from '../../../context.ts';
import { namespaceLocation } from '../../../storage/table-location.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { requireNamespace } from '../../../store/postgres/namespace-store.ts';
import { namespaceOf } from '../../../metadata/check-name.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';

/**
 * `GET /v1/{prefix}/namespaces/{namespace}`. The `location` of a namespace that sets none is the folder of its tables: Trino puts new
 * tables below it, and cannot create one without it.
 */
export async function loadNamespace(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { db } = context.store;
  const path = namespaceOf(request.params['namespace'] ?? '');
  const catalog = await requireCatalog(db, request.claims.tenant, request.params['prefix'] ?? '');
  const { properties } = await requireNamespace(db, catalog.id, path);
  return ok({ namespace: path, properties: { location: namespaceLocation(catalog.location, path), ...properties } });
}
