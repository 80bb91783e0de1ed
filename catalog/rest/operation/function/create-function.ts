import { randomUUID } from 'node:crypto';
import { printJson } from '#shared/json.ts';
import { newFunctionMetadata, parseCreateFunction } from '../../../metadata/function-metadata.ts';
import type { CatalogContext } from '../../../context.ts';
import { metadataLocation, newTableLocation } from '../../../storage/table-location.ts';
import { requireCatalog } from '../../../store/postgres/catalog-store.ts';
import { insertFunction, requireFunction } from '../../../store/postgres/function-store.ts';
import { holdNamespace, requireNamespace } from '../../../store/postgres/namespace-store.ts';
import { checkName, namespaceOf } from '../../../metadata/check-name.ts';
import type { Answer, RestRequest } from '../../rest-operation.ts';
import { loadFunctionAnswer } from './function-answer.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/**
 * `POST /v1/{prefix}/namespaces/{namespace}/functions`, an extension: the Iceberg specification has no call that creates a function. The
 * body is a name and the metadata members that the client decides: `definitions`, `properties`, `secure`, `doc`.
 */
export async function createFunction(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const { db } = context.store;
  const nowMs = context.clock.nowMs();
  const body = parseCreateFunction(request.body, nowMs);
  const ident = { namespace: namespaceOf(request.params['namespace'] ?? ''), name: checkName(body.name, 'function') };
  const catalog = await requireCatalog(db, request.claims.tenant, request.params['prefix'] ?? '');
  await requireNamespace(db, catalog.id, ident.namespace);
  const uuid = randomUUID();
  const metadata = newFunctionMetadata(body, {
    uuid,
    location: newTableLocation(catalog.location, ident, uuid),
    nowMs,
  });
  const row = {
    metadataLocation: metadataLocation({ location: metadata.location, properties: {} }, 0, uuid),
    metadata: printJson(metadata),
  };
  const storage = await context.storages.open(row.metadataLocation);
  await unit.transact(async (tx) => {
    const namespace = await holdNamespace(tx, catalog.id, ident.namespace);
    await insertFunction(tx, { catalogId: catalog.id, namespaceId: namespace.id, ident, ...row });
    await storage.write(row.metadataLocation, Buffer.from(row.metadata));
  });
  return loadFunctionAnswer(row);
}

export async function createFunctionAgain(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const { db } = context.store;
  const { name } = parseCreateFunction(request.body, context.clock.nowMs());
  const ident = { namespace: namespaceOf(request.params['namespace'] ?? ''), name: checkName(name, 'function') };
  const catalog = await requireCatalog(db, request.claims.tenant, request.params['prefix'] ?? '');
  const namespace = await requireNamespace(db, catalog.id, ident.namespace);
  return loadFunctionAnswer(await requireFunction(db, namespace.id, ident));
}
