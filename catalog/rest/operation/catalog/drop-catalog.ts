import { isExempt } from '../../../authorization/policies.ts';
import type { CatalogContext } from '../../../context.ts';
import { deleteCatalog, requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { forgetClosed } from '../../../store/postgres/folder-claims.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/**
 * `DELETE /v1/catalogs/{catalog}`: 409 while it holds namespaces, or dropped tables that can be restored or are being purged, or folders that tables
 * with policies have left, which only the exempt open.
 */
export async function dropCatalog(_context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  await unit.transact(async (tx) => {
    const catalog = await requireCatalog(tx, request.claims.tenant, request.params['catalog'] ?? '');
    if (isExempt(request.claims)) await forgetClosed(tx, catalog.name);
    await deleteCatalog(tx, catalog);
  });
  return NO_CONTENT;
}
