import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../../../context.ts';
import { deleteTable, requireTable, tableNotFound } from '../../../store/postgres/table-store.ts';
import { tableTarget } from '../../names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../operation.ts';

/**
 * `DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}`: the table leaves the catalog, its files stay where they are. With
 * `purgeRequested=true` it is also dropped and its files stay: the parameter is a request (specification: "whether the user requested to
 * purge"), and the operator removes the files. The answer says so in the header `X-Skein-Purged: false`.
 */
export async function dropTable(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const target = tableTarget(request);
  const purge = isTrue(request.query['purgeRequested']);
  const { id } = await requireTable(context.store.db, target.claims.tenant, target.catalog, target.ident);
  if (!(await deleteTable(context.store.db, id))) return tableNotFound(target.ident);
  return purge ? { ...NO_CONTENT, headers: { 'x-skein-purged': 'false' } } : NO_CONTENT;
}

function isTrue(text: string | undefined): boolean {
  const value = text?.toLowerCase() ?? 'false';
  if (value !== 'true' && value !== 'false') {
    throw new SkeinError('INVALID_REQUEST', `Invalid purgeRequested: ${text}`);
  }
  return value === 'true';
}
