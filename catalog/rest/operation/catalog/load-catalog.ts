import type { CatalogContext } from '../../../context.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';
import { catalogJson } from './catalog-answer.ts';

/** `GET /v1/catalogs/{catalog}` */
export const loadCatalog = async (context: CatalogContext, request: RestRequest): Promise<Answer> =>
  ok(catalogJson(await requireCatalog(context.store.db, request.claims.tenant, request.params['catalog'] ?? '')));
