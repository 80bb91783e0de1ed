import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import { requireOpenFiles } from '../../../authorization/policies.ts';
import type { CatalogContext } from '../../../context.ts';
import type { CommittedTable } from '../../../commit/creation.ts';
import { asObject, get, optionalString } from '../../../metadata/json-reader.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { undropTable as undrop } from '../../../store/postgres/dropped-table-store.ts';
import { LEVEL_SEPARATOR } from '../../../metadata/object-name.ts';
import { identOfJson } from '../../../metadata/check-name.ts';
import { tableTarget } from '../../request-names.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';
import { loadNamedTable, loadTableAgain } from './load-table.ts';
import { loadTableAnswer } from './table-answer.ts';
import { NO_ACCESS } from '../../table-access.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/**
 * `POST /v1/{prefix}/namespaces/{namespace}/tables/{table}/undrop`, an extension: restores the table that was last dropped under this name.
 * The body may select another by its `id` of `dropped-tables`, and another `destination` (a table identifier), whose namespace must exist.
 */
export async function undropTableOperation(
  context: CatalogContext,
  request: RestRequest,
  unit: UnitOfWork,
): Promise<Answer> {
  const { ident } = tableTarget(request);
  const body = asObject(request.body ?? {}, 'undrop table request');
  const id = optionalString(body, 'id');
  if (id !== undefined && !isUuid(id)) throw new SkeinError('INVALID_REQUEST', `Invalid id: ${id}`);
  const destination = get(body, 'destination');
  const to = destination === undefined ? ident : identOfJson(destination, 'destination');
  const { tenant } = request.claims;
  const restore = (): Promise<CommittedTable> =>
    unit.transact(async (tx) => {
      const catalog = await requireCatalog(tx, tenant, request.params['prefix'] ?? '');
      const restored = await undrop(tx, catalog.id, { ident, id, now: new Date(context.clock.nowMs()) }, to);
      requireOpenFiles(restored, request);
      return restored;
    });
  // Undrops are rare, so the size of the document is not read first: it counts as large.
  const table = await context.documents.run(tenant, Number.POSITIVE_INFINITY, restore);
  return loadTableAnswer(table, 'all', NO_ACCESS);
}

export const undropTableAgain = (context: CatalogContext, request: RestRequest): Promise<Answer> => {
  const destination = get(asObject(request.body ?? {}, 'undrop table request'), 'destination');
  if (destination === undefined) return loadTableAgain(context, request);
  const { namespace, name } = identOfJson(destination, 'destination');
  const params = { ...request.params, namespace: namespace.join(LEVEL_SEPARATOR) };
  return loadNamedTable(context, { ...request, params }, name);
};
