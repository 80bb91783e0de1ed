import { decide } from '../../../authorization/decide.ts';
import { renameWithViews } from '../../../commit/view/rename-with-views.ts';
import type { CatalogContext } from '../../../context.ts';
import { asObject, requiredString } from '../../../metadata/json-reader.ts';
import { requireNoneLentOf } from '../../../policy/protect-tables.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { giveCatalogName, lockCatalog } from '../../../store/postgres/rename-catalog.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';

/**
 * `POST /v1/catalogs/{catalog}/rename`: gives a catalog of the caller's tenant another `name`. Everything in it stays as it is, where it is; users whose
 * `DEFAULT_WAREHOUSE` it is start in it as before. 409 when any tenant has a catalog of the new name, or the old one stands in the text of a view, a
 * function or a bound policy.
 */
export async function renameCatalog(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const { claims, params } = request;
  const { tenant } = claims;
  const from = params['catalog'] ?? '';
  const to = requiredString(asObject(request.body, 'rename catalog request'), 'name');
  await renameWithViews(context, unit, async (tx, follow) => {
    const { id } = await requireCatalog(tx, tenant, from);
    if (to === from) return;
    await lockCatalog(tx, id, from);
    await requireNoneLentOf(tx, id);
    const isTold = decide(claims, 'view.list', { kind: 'catalog', catalog: from }).allowed;
    await follow({ tenant, change: { kind: 'catalog', from, to }, isTold });
    await giveCatalogName(tx, { id, from, to });
  });
  return NO_CONTENT;
}
