import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../../../context.ts';
import { dropTableIn } from '../../../commit/drop-table.ts';
import { requireTableHead } from '../../../store/postgres/table-store.ts';
import { tableTarget } from '../../request-names.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/**
 * `DELETE /v1/{prefix}/namespaces/{namespace}/tables/{table}`: the table can be restored within the catalog's UNDROP window. After it the
 * background work deletes the files if `purgeRequested=true`; otherwise they stay where they are.
 */
export async function dropTable(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const target = tableTarget(request);
  const purge = isTrue(request.query['purgeRequested']);
  const { tenant } = target.claims;
  const head = await requireTableHead(context.store.db, tenant, target.catalog, target.ident);
  await context.documents.run(tenant, head.metadataBytes, () =>
    unit.transact((tx) => dropTableIn(context, tx, target, { purge })),
  );
  if (purge) context.sweeper.wake();
  return NO_CONTENT;
}

function isTrue(text: string | undefined): boolean {
  const value = text?.toLowerCase() ?? 'false';
  if (value !== 'true' && value !== 'false') {
    throw new SkeinError('INVALID_REQUEST', `Invalid purgeRequested: ${text}`);
  }
  return value === 'true';
}
