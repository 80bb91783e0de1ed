import type { CatalogContext } from '../../../context.ts';
import { asObject, get } from '../../../commit/json-reader.ts';
import { requireNamespace } from '../../../store/postgres/namespace-store.ts';
import { moveTable, requireTable, tableNotFound } from '../../../store/postgres/table-store.ts';
import { identOfJson } from '../../names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../operation.ts';

/** `POST /v1/{prefix}/tables/rename`: also into another namespace of the catalog. Its location stays. */
export async function renameTable(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const body = asObject(request.body, 'rename table request');
  const source = identOfJson(get(body, 'source'), 'source');
  const destination = identOfJson(get(body, 'destination'), 'destination');
  await context.store.db.transaction().execute(async (tx) => {
    const row = await requireTable(tx, request.claims.tenant, request.params['prefix'] ?? '', source);
    const namespace = await requireNamespace(tx, row.catalogId, destination.namespace);
    if (!(await moveTable(tx, row.id, namespace.id, destination))) tableNotFound(source);
  });
  return NO_CONTENT;
}
