import type { CatalogContext } from '../../../context.ts';
import { asObject, get, stringMap } from '../../../metadata/json-reader.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { insertNamespace } from '../../../store/postgres/namespace-store.ts';
import { checkProperties, namespaceOfJson } from '../../../metadata/check-name.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `POST /v1/{prefix}/namespaces`: 409 when it exists, 404 when its parent does not. */
export async function createNamespace(
  _context: CatalogContext,
  request: RestRequest,
  unit: UnitOfWork,
): Promise<Answer> {
  const body = asObject(request.body, 'create namespace request');
  const path = namespaceOfJson(get(body, 'namespace'));
  const properties = stringMap(get(body, 'properties'), 'properties');
  checkProperties(properties);
  await unit.transact(async (tx) => {
    const catalog = await requireCatalog(tx, request.claims.tenant, request.params['prefix'] ?? '');
    await insertNamespace(tx, catalog.id, path, properties);
  });
  return ok({ namespace: path, properties });
}

export const createNamespaceAgain = (_context: CatalogContext, { body }: RestRequest): Promise<Answer> => {
  const object = asObject(body, 'create namespace request');
  const properties = stringMap(get(object, 'properties'), 'properties');
  return Promise.resolve(ok({ namespace: namespaceOfJson(get(object, 'namespace')), properties }));
};
