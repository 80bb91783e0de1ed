import type { CatalogContext } from '../../../context.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { requireNamespace } from '../../../store/postgres/namespace-store.ts';
import { dropStage as drop, stageNotFound } from '../../../store/postgres/stage-store.ts';
import { displayIdent } from '../../../metadata/object-name.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';
import { checkName, namespaceOf } from '../../../metadata/check-name.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';

/** `DELETE /v1/{prefix}/namespaces/{namespace}/stages/{stage}`, an extension; the background work deletes its files. */
export async function dropStageOperation(
  context: CatalogContext,
  request: RestRequest,
  unit: UnitOfWork,
): Promise<Answer> {
  const { params, claims } = request;
  const ident = {
    namespace: namespaceOf(params['namespace'] ?? ''),
    name: checkName(params['stage'] ?? '', 'stage'),
  };
  await unit.transact(async (tx) => {
    const catalog = await requireCatalog(tx, claims.tenant, params['prefix'] ?? '');
    const namespace = await requireNamespace(tx, catalog.id, ident.namespace);
    if (!(await drop(tx, namespace.id, ident.name))) stageNotFound(displayIdent(ident));
  });
  context.sweeper.wake();
  return NO_CONTENT;
}
