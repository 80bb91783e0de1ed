import type { BeginUploadRequest } from '#proto/generated/skein/catalog/v1/BeginUploadRequest.ts';
import type { EndUploadRequest } from '#proto/generated/skein/catalog/v1/EndUploadRequest.ts';
import type { FindUploadRequest } from '#proto/generated/skein/catalog/v1/FindUploadRequest.ts';
import type { ListStagesRequest } from '#proto/generated/skein/catalog/v1/ListStagesRequest.ts';
import type { OpenStageRequest } from '#proto/generated/skein/catalog/v1/OpenStageRequest.ts';
import type { Stage } from '#proto/generated/skein/catalog/v1/Stage.ts';
import type { StageList } from '#proto/generated/skein/catalog/v1/StageList.ts';
import type { StageUpload } from '#proto/generated/skein/catalog/v1/StageUpload.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import type { CatalogContext } from '../context.ts';
import { uploadTtlMs } from '../stage/stage-properties.ts';
import { requireCatalog } from '../store/postgres/catalog-store.ts';
import { requireNamespace } from '../store/postgres/namespace-store.ts';
import {
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
export async function listStages(
  { store: { db } }: CatalogContext,
  { catalog: ofCatalog, namespace: path, after, limit }: ListStagesRequest,
  { tenant }: Principal,
): Promise<StageList> {
  const catalog = await requireCatalog(db, tenant, ofCatalog);
  const namespace = await requireNamespace(db, catalog.id, path);
  const found = await stagesOf(db, tenant, namespace.id, pageAfter(after, limit));
  return { stages: found.map(toMessage), more: hasMore(found, limit) };
}

/** @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, STAGE_NOT_FOUND */
export async function openStage(
  { store: { db } }: CatalogContext,
  request: OpenStageRequest,
  { tenant, sub: principalId }: Principal,
): Promise<Stage> {
  const { id, name, namespace: path } = request;
  if (id !== '') return toMessage(await requireStageById(db, { tenant, principalId }, id));
  const catalog = () => requireCatalog(db, tenant, request.catalog);
  if (name === '') return toMessage(await ownStage(db, { tenant, principalId }, catalog));
  const namespace = await requireNamespace(db, (await catalog()).id, path);
  return toMessage(await requireStage(db, tenant, { namespaceId: namespace.id, ident: { namespace: path, name } }));
}

/** @throws STAGE_NOT_FOUND, QUEUE_FULL */
export async function beginUpload(
  { store: { db }, clock, config }: CatalogContext,
  request: BeginUploadRequest,
  { tenant, sub: principalId }: Principal,
): Promise<StageUpload> {
  const stage = await requireStageById(db, { tenant, principalId }, request.stage_id);
  const ttlMs = uploadTtlMs(stage.properties, config['catalog.stage_upload_ttl']);
  const upload: UploadRow = {
    id: request.upload_id,
    stageId: stage.id,
    path: request.path,
    partBytes: Number(request.part_bytes),
    sizeBytes: request.size_bytes === '-1' ? null : Number(request.size_bytes),
    expiresAt: new Date(clock.nowMs() + ttlMs),
  };
  await insertUpload(db, upload);
  return uploadMessage(upload, stage);
}

/** @throws UPLOAD_NOT_FOUND, STAGE_NOT_FOUND */
export async function findUpload(
  { store: { db }, clock }: CatalogContext,
  { upload_id: id }: FindUploadRequest,
  { tenant, sub: principalId }: Principal,
): Promise<StageUpload> {
  const upload = await requireUpload(db, id, new Date(clock.nowMs()));
  return uploadMessage(upload, await requireStageById(db, { tenant, principalId }, upload.stageId));
}

export async function endUpload(
  { store: { db } }: CatalogContext,
  { upload_id: id, in_parts: inParts }: EndUploadRequest,
): Promise<Record<string, never>> {
  await end(db, id, inParts);
  return {};
}

const toMessage = ({ id, catalog, namespace, name, location, properties, createdAt }: StageRow): Stage => ({
  id,
  catalog,
  namespace: [...namespace],
  name,
  location,
  properties: { ...properties },
  created_at_ms: String(createdAt.getTime()),
});

const uploadMessage = ({ path, partBytes, sizeBytes, expiresAt }: UploadRow, stage: StageRow): StageUpload => ({
  stage: toMessage(stage),
  path,
  part_bytes: String(partBytes),
  size_bytes: String(sizeBytes ?? -1),
  expires_at_ms: String(expiresAt.getTime()),
});
