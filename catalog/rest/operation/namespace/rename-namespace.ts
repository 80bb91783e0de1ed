import { decide } from '../../../authorization/decide.ts';
import { renameWithViews } from '../../../commit/view/rename-with-views.ts';
import type { CatalogContext } from '../../../context.ts';
import { namespaceOf, namespaceOfJson } from '../../../metadata/check-name.ts';
import { asObject, get } from '../../../metadata/json-reader.ts';
import { joinPath } from '../../../metadata/object-name.ts';
import { requireNoneLent } from '../../../policy/protect-tables.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { requireNamespace } from '../../../store/postgres/namespace-store.ts';
import { renameNamespaces } from '../../../store/postgres/rename-namespace.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';
import { NO_CONTENT, type Answer, type RestRequest } from '../../rest-operation.ts';

/**
 * `POST /v1/{prefix}/namespaces/{namespace}/rename`, an extension: gives a namespace another name, also below another parent, and all below it with
 * it. The body is the `destination`, its levels. Everything in it stays as it is, where it is. 409 when the new name is taken, or the old one stands in
 * the text of a view, a function or a bound policy.
 */
export async function renameNamespace(
  context: CatalogContext,
  request: RestRequest,
  unit: UnitOfWork,
): Promise<Answer> {
  const { claims, params } = request;
  const { prefix = '', namespace = '' } = params;
  const from = namespaceOf(namespace);
  const to = namespaceOfJson(get(asObject(request.body, 'rename namespace request'), 'destination'));
  await renameWithViews(context, unit, async (tx, follow) => {
    const catalog = await requireCatalog(tx, claims.tenant, prefix);
    if (joinPath(from) === joinPath(to)) return void (await requireNamespace(tx, catalog.id, from));
    await requireNoneLent(tx, await renameNamespaces(tx, { catalogId: catalog.id, from, to }));
    const isTold = decide(claims, 'view.list', { kind: 'catalog', catalog: catalog.name }).allowed;
    const change = { kind: 'namespace', catalog: catalog.name, from, to } as const;
    await follow({ tenant: claims.tenant, change, isTold });
  });
  return NO_CONTENT;
}
