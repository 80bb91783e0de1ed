import type { CatalogContext } from '../../../context.ts';
import { listTablesOf } from '../../../store/postgres/table-store.ts';
import { namespaceOf } from '../../../metadata/check-name.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';
import { nextPageToken, pageOf } from '../../paging.ts';

/** `GET /v1/{prefix}/namespaces/{namespace}/tables` */
export async function listTablesOperation(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const page = pageOf(request);
  const path = namespaceOf(request.params['namespace'] ?? '');
  const { tenant } = request.claims;
  const names = await listTablesOf(context.store.db, tenant, request.params['prefix'] ?? '', path, page);
  // Printed by hand: the namespace is the same in every entry, and there may be many thousands.
  const begin = `{"namespace":${JSON.stringify(path)},"name":`;
  const identifiers = names.map((name) => `${begin}${JSON.stringify(name)}}`).join(',');
  const next = JSON.stringify(nextPageToken(page, names));
  return { status: 200, text: `{"identifiers":[${identifiers}],"next-page-token":${next}}` };
}
