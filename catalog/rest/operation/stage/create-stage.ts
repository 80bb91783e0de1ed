import { asObject, get, requiredString, stringMap } from '../../../metadata/json-reader.ts';
import type { CatalogContext } from '../../../context.ts';
import { checkStageProperties } from '../../../stage/stage-properties.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { holdNamespace, requireNamespace } from '../../../store/postgres/namespace-store.ts';
import { insertStage, requireStage } from '../../../store/postgres/stage-store.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';
import { checkName, checkProperties, namespaceOf } from '../../../metadata/check-name.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';
import { stageAnswer } from './stage-answer.ts';

/**
 * `POST /v1/{prefix}/namespaces/{namespace}/stages`, an extension: a folder for files that statements load and unload. The body is a name
 * and the properties `comment`, `owner` and `upload_ttl`. 409 when it exists.
 */
export async function createStage(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const body = asObject(request.body, 'create stage request');
  const properties = stringMap(get(body, 'properties'), 'properties');
  checkProperties(properties);
  checkStageProperties(properties);
  const ident = identOf(request);
  await unit.transact(async (tx) => {
    const catalog = await requireCatalog(tx, request.claims.tenant, request.params['prefix'] ?? '');
    const { id: namespaceId } = await holdNamespace(tx, catalog.id, ident.namespace);
    await insertStage(tx, { catalog, namespaceId, ident, properties });
  });
  return createStageAgain(context, request);
}

export async function createStageAgain({ store: { db } }: CatalogContext, request: RestRequest): Promise<Answer> {
  const ident = identOf(request);
  const { tenant } = request.claims;
  const catalog = await requireCatalog(db, tenant, request.params['prefix'] ?? '');
  const { id: namespaceId } = await requireNamespace(db, catalog.id, ident.namespace);
  return stageAnswer(await requireStage(db, tenant, { namespaceId, ident }));
}

const identOf = ({ params, body }: RestRequest) => ({
  namespace: namespaceOf(params['namespace'] ?? ''),
  name: checkName(requiredString(asObject(body, 'create stage request'), 'name'), 'stage'),
});
