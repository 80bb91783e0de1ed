import { asObject, requiredString } from '../../../metadata/json-reader.ts';
import { checkViewLocations, printViewMetadata, VIEW_BYTES_MAX } from '../../../commit/view/commit-view.ts';
import { storagePlace } from '../../../commit/view/storage-place.ts';
import { parseViewMetadata } from '../../../metadata/view/view-metadata.ts';
import type { CatalogContext } from '../../../context.ts';
import { readMetadataFile } from '../../../storage/read-metadata-file.ts';
import { viewFacts } from '../../../metadata/relation-facts.ts';
import { requireBelowRoot } from '../../../storage/table-location.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { holdNamespace, requireNamespace } from '../../../store/postgres/namespace-store.ts';
import type { TableIdent } from '../../../metadata/object-name.ts';
import { findView, insertView, requireView, viewExistsError } from '../../../store/postgres/view-store.ts';
import { checkName, namespaceOf } from '../../../metadata/check-name.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';
import { loadViewAnswer } from './view-answer.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/**
 * `POST /v1/{prefix}/namespaces/{namespace}/register-view`: adds a view from a metadata file in the catalog's root; the file stays
 * unchanged.
 */
export async function registerView(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const { ident, file } = parseRequest(request);
  const { db } = context.store;
  const prefix = request.params['prefix'] ?? '';
  if ((await findView(db, request.claims.tenant, prefix, ident)) !== undefined) throw viewExistsError(ident);
  const catalog = await requireCatalog(db, request.claims.tenant, prefix);
  await requireNamespace(db, catalog.id, ident.namespace);
  requireBelowRoot(file, catalog.roots);
  const metadata = parseViewMetadata(await readMetadataFile(await context.storages.open(file), file, VIEW_BYTES_MAX));
  checkViewLocations(metadata, undefined, catalog.roots);
  const view = {
    location: metadata.location,
    metadataLocation: file,
    metadata: printViewMetadata(context, metadata),
    facts: viewFacts(metadata),
  };
  await unit.transact(async (tx) => {
    const storage = await storagePlace(tx, catalog.id, { metadata });
    const namespace = await holdNamespace(tx, catalog.id, ident.namespace);
    await insertView(tx, { catalogId: catalog.id, namespaceId: namespace.id, ident, ...view, storage });
  });
  return loadViewAnswer(view);
}

export async function registerViewAgain(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { ident } = parseRequest(request);
  const { tenant } = request.claims;
  return loadViewAnswer(await requireView(context.store.db, tenant, request.params['prefix'] ?? '', ident));
}

function parseRequest(request: RestRequest): { readonly ident: TableIdent; readonly file: string } {
  const body = asObject(request.body, 'register view request');
  const name = checkName(requiredString(body, 'name'), 'view');
  const file = requiredString(body, 'metadata-location');
  return { ident: { namespace: namespaceOf(request.params['namespace'] ?? ''), name }, file };
}
