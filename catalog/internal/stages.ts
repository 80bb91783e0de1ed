import type { BeginUploadRequest } from '#proto/generated/skein/catalog/v1/BeginUploadRequest.ts';
import type { EndUploadRequest } from '#proto/generated/skein/catalog/v1/EndUploadRequest.ts';
import type { FindUploadRequest } from '#proto/generated/skein/catalog/v1/FindUploadRequest.ts';
import type { ListStagesRequest } from '#proto/generated/skein/catalog/v1/ListStagesRequest.ts';
import type { OpenStageRequest } from '#proto/generated/skein/catalog/v1/OpenStageRequest.ts';
import type { Stage } from '#proto/generated/skein/catalog/v1/Stage.ts';
import type { StageList } from '#proto/generated/skein/catalog/v1/StageList.ts';
import type { StageUpload } from '#proto/generated/skein/catalog/v1/StageUpload.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { toKeyMessage } from '#shared/task/bucket-key.ts';
import type { TenantId } from '#shared/id.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import type { CatalogContext } from '../context.ts';
import type { Database } from '../store/postgres/tables.ts';
import { uploadTtlMs } from '../stage/stage-properties.ts';
import { beginAtStore } from '../stage/store-uploads.ts';
import { requireCatalog } from '../store/postgres/catalog-store.ts';
import { requireNamespace } from '../store/postgres/namespace-store.ts';
import {
  keepKey,
  listStages as stagesOf,
  ownStage,
  requireStage,
  requireStageById,
  type StageRow,
} from '../store/postgres/stage-store.ts';
import { endUpload as end, insertUpload, requireUpload, type UploadRow } from '../store/postgres/upload-store.ts';
import { pageAfter, hasMore } from './lists.ts';

/** Stages as the coordinator asks for them: with where they lie. */

/** @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND */
export async function listStagesCall(
  { store: { db } }: CatalogContext,
  { catalog: ofCatalog, namespace: path, after, limit }: ListStagesRequest,
  { tenant }: Principal,
): Promise<StageList> {
  const catalog = await requireCatalog(db, tenant, ofCatalog);
  const namespace = await requireNamespace(db, catalog.id, path);
  const found = await stagesOf(db, tenant, namespace.id, pageAfter(after, limit));
  return { stages: found.map((stage) => toMessage(stage, null)), more: hasMore(found, limit) };
}

/** @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, STAGE_NOT_FOUND */
export async function openStage(
  context: CatalogContext,
  request: OpenStageRequest,
  { tenant, sub: principalId }: Principal,
): Promise<Stage> {
  const { db } = context.store;
  const stage = await findStage(db, request, { tenant, principalId });
  return withKey(context, stage, { permission: request.action === 'stage.write' ? 'write' : 'read', tenant });
}

async function findStage(
  db: Database,
  request: OpenStageRequest,
  { tenant, principalId }: { readonly tenant: TenantId; readonly principalId: string },
): Promise<StageRow> {
  const { id, name, namespace: path } = request;
  if (id !== '') return requireStageById(db, { tenant, principalId }, id);
  const catalog = () => requireCatalog(db, tenant, request.catalog);
  if (name === '') return ownStage(db, { tenant, principalId }, catalog);
  const namespace = await requireNamespace(db, (await catalog()).id, path);
  return requireStage(db, tenant, { namespaceId: namespace.id, ident: { namespace: path, name } });
}

/** @throws STAGE_NOT_FOUND, QUEUE_FULL */
export async function beginUpload(
  context: CatalogContext,
  request: BeginUploadRequest,
  { tenant, sub: principalId }: Principal,
): Promise<StageUpload> {
  const { clock, config } = context;
  const { db } = context.store;
  const stage = await requireStageById(db, { tenant, principalId }, request.stage_id);
  const ttlMs = uploadTtlMs(stage.properties, config['catalog.stage_upload_ttl']);
  const upload = {
    id: request.upload_id,
    stageId: stage.id,
    path: request.path,
    partBytes: Number(request.part_bytes),
    sizeBytes: request.size_bytes === '-1' ? null : Number(request.size_bytes),
    expiresAt: new Date(clock.nowMs() + ttlMs),
  };
  const message = await withKey(context, stage, { permission: 'write', tenant });
  await insertUpload(db, upload);
  const isAtStore = request.at_store && (message.client_endpoint !== '' || message.signs);
  const storeUploadId = isAtStore
    ? await beginAtStore(context, { id: upload.id, location: stage.location, path: upload.path })
    : null;
  return uploadMessage({ ...upload, storeUploadId }, message);
}

/** @throws UPLOAD_NOT_FOUND, STAGE_NOT_FOUND */
export async function findUpload(
  context: CatalogContext,
  { upload_id: id }: FindUploadRequest,
  { tenant, sub: principalId }: Principal,
): Promise<StageUpload> {
  const { db } = context.store;
  const upload = await requireUpload(db, id, new Date(context.clock.nowMs()));
  const stage = await requireStageById(db, { tenant, principalId }, upload.stageId);
  return uploadMessage(upload, await withKey(context, stage, { permission: 'write', tenant }));
}

export async function endUploadCall(
  { store: { db } }: CatalogContext,
  { upload_id: id, in_parts: inParts }: EndUploadRequest,
): Promise<Record<string, never>> {
  await end(db, id, inParts);
  return {};
}

/** The stage with a key for its folder. */
async function withKey(
  { storages, store: { db } }: CatalogContext,
  stage: StageRow,
  { permission, tenant }: { readonly permission: 'read' | 'write'; readonly tenant: string },
): Promise<Stage> {
  const { credential, clientEndpoint, signs } = await storages.vendForClients({
    folders: [stage.location],
    permission,
    tenant,
  });
  if (permission === 'write' && credential.kind !== 'file' && credential.expiresAtMs !== null) {
    await keepKey(db, stage.id, credential.expiresAtMs);
  }
  return { ...toMessage(stage, credential, clientEndpoint), signs };
}

const toMessage = (
  { id, catalog, namespace, name, location, properties, createdAt }: StageRow,
  credential: StorageCredential | null,
  clientEndpoint: string | null = null,
): Stage => ({
  id,
  catalog,
  namespace: [...namespace],
  name,
  location,
  properties: { ...properties },
  created_at_ms: String(createdAt.getTime()),
  key: credential === null ? null : toKeyMessage(credential),
  client_endpoint: clientEndpoint ?? '',
  signs: false,
});

const uploadMessage = (
  { path, partBytes, sizeBytes, expiresAt, storeUploadId }: UploadRow,
  stage: Stage,
): StageUpload => ({
  stage,
  path,
  part_bytes: String(partBytes),
  size_bytes: String(sizeBytes ?? -1),
  expires_at_ms: String(expiresAt.getTime()),
  store_upload_id: storeUploadId ?? '',
});
