import type { CatalogContext } from '../../../context.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { requireNamespace } from '../../../store/postgres/namespace-store.ts';
import { listStages as list } from '../../../store/postgres/stage-store.ts';
import { namespaceOf } from '../../../metadata/check-name.ts';
import { ok, type Answer, type RestRequest } from '../../rest-operation.ts';
import { nextPageToken, pageOf } from '../../paging.ts';
import { stageJson } from './stage-answer.ts';

/** `GET /v1/{prefix}/namespaces/{namespace}/stages`, an extension */
export async function listStagesOperation({ store: { db } }: CatalogContext, request: RestRequest): Promise<Answer> {
  const page = pageOf(request);
  const { tenant } = request.claims;
  const catalog = await requireCatalog(db, tenant, request.params['prefix'] ?? '');
  const namespace = await requireNamespace(db, catalog.id, namespaceOf(request.params['namespace'] ?? ''));
  const stages = await list(db, tenant, namespace.id, page);
  const token = nextPageToken(
    page,
    stages.map(({ name }) => name),
  );
  return ok({ stages: stages.map(stageJson), 'next-page-token': token });
}
