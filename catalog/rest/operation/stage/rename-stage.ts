import { requireAction } from '../../../authorization/decide.ts';
import type { CatalogContext } from '../../../context.ts';
import { identOfJson } from '../../../metadata/check-name.ts';
import { displayIdent } from '../../../metadata/object-name.ts';
import { asObject, get } from '../../../metadata/json-reader.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { holdNamespace, requireNamespace } from '../../../store/postgres/namespace-store.ts';
import { moveStage, stageNotFound } from '../../../store/postgres/stage-store.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';

/**
 * `POST /v1/{prefix}/stages/rename`, an extension: renames a stage, also into another namespace of the catalog. Body: `source` and `destination`, as of
 * a table. Its files stay where they are, and addresses of them that were given out are good as before. 409 when the new name is taken.
 */
export async function renameStage(_context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const { claims, params } = request;
  const { prefix: name = '' } = params;
  const body = asObject(request.body, 'rename stage request');
  const from = identOfJson(get(body, 'source'), 'source');
  const to = identOfJson(get(body, 'destination'), 'destination');
  requireAction(claims, 'stage.rename', { kind: 'stage', catalog: name, ...from });
  await unit.transact(async (tx) => {
    const catalog = await requireCatalog(tx, claims.tenant, name);
    const source = await requireNamespace(tx, catalog.id, from.namespace);
    const destination = await holdNamespace(tx, catalog.id, to.namespace);
    const moved = await moveStage(tx, { namespaceId: source.id, name: from.name }, { namespaceId: destination.id, to });
    if (!moved) stageNotFound(displayIdent(from));
  });
  return NO_CONTENT;
}
