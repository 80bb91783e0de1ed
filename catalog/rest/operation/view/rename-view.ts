import { asObject, get } from '../../../metadata/json-reader.ts';
import { requireAction } from '../../../authorization/decide.ts';
import type { CatalogContext } from '../../../context.ts';
import { holdNamespace } from '../../../store/postgres/namespace-store.ts';
import { moveView, requireView, viewNotFound } from '../../../store/postgres/view-store.ts';
import { identOfJson } from '../../../metadata/check-name.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `POST /v1/{prefix}/views/rename`: renames a view, also into another namespace of the catalog. Its location stays. */
export async function renameView(_context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const { claims, params } = request;
  const { prefix: catalog = '' } = params;
  const body = asObject(request.body, 'rename view request');
  const from = identOfJson(get(body, 'source'), 'source');
  const to = identOfJson(get(body, 'destination'), 'destination');
  requireAction(claims, 'view.rename', { kind: 'view', catalog, ...from });
  await unit.transact(async (tx) => {
    const row = await requireView(tx, claims.tenant, catalog, from);
    const namespace = await holdNamespace(tx, row.catalogId, to.namespace);
    if (!(await moveView(tx, row, namespace.id, { from, to }))) viewNotFound(from);
  });
  return NO_CONTENT;
}
