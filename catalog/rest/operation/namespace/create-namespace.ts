import type { CatalogContext } from '../../../context.ts';
import { asObject, get, stringMap } from '../../../commit/json-reader.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { insertNamespace } from '../../../store/postgres/namespace-store.ts';
import { namespaceOfJson } from '../../names.ts';
import { ok, type Answer, type RestRequest } from '../../operation.ts';

/** `POST /v1/{prefix}/namespaces`: 409 when it exists, 404 when its parent does not. */
export async function createNamespace(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { db } = context.store;
  const body = asObject(request.body, 'create namespace request');
  const path = namespaceOfJson(get(body, 'namespace'));
  const properties = stringMap(get(body, 'properties'), 'properties');
  const catalog = await requireCatalog(db, request.claims.tenant, request.params['prefix'] ?? '');
  await insertNamespace(db, catalog.id, path, properties);
  return ok({ namespace: path, properties });
}
