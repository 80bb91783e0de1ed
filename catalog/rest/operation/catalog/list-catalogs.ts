import type { CatalogContext } from '../../../context.ts';
import { listCatalogRows } from '../../../store/postgres/catalog-store.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';
import { nextPageToken, pageOf } from '../../paging.ts';
import { catalogJson } from './catalog-answer.ts';

/** `GET /v1/catalogs`: the catalogs of the caller's tenant. */
export async function listCatalogsOperation(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const page = pageOf(request);
  const catalogs = await listCatalogRows(context.store.db, request.claims.tenant, page);
  const names = catalogs.map(({ name }) => name);
  return ok({ catalogs: catalogs.map(catalogJson), 'next-page-token': nextPageToken(page, names) });
}
