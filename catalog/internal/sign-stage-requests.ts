import type { SignedStageRequests } from '#proto/generated/skein/catalog/v1/SignedStageRequests.ts';
import type { StageRequest } from '#proto/generated/skein/catalog/v1/StageRequest.ts';
import type { SignStageRequestsRequest } from '#proto/generated/skein/catalog/v1/SignStageRequestsRequest.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { uploadFile } from '#shared/stage/stage-folders.ts';
import { stageFileNames } from '#shared/stage/stage-path.ts';
import type { CatalogContext } from '../context.ts';
import type { ObjectRequest } from '../storage/object-request.ts';
import { keepKey, requireStageById, type StageRow } from '../store/postgres/stage-store.ts';
import type { Database } from '../store/postgres/tables.ts';
import { requireUpload, type UploadRow } from '../store/postgres/upload-store.ts';

/** Requests of one call: the coordinator asks in pages. */
const REQUESTS_MAX = 1_000;

/**
 * Addresses of the store for files of a stage. The key that signs them opens more than the stage, so that it stays here. `stage.read` reads files,
 * and `stage.write` writes them.
 * @throws STAGE_NOT_FOUND, UPLOAD_NOT_FOUND, INVALID_REQUEST for a path, NOT_SUPPORTED where the store's key signs nothing
 */
export async function signStageRequests(
  { clock, storages, store: { db } }: CatalogContext,
  { stage_id: stageId, action, requests, expires_at_ms: expiresAtMs }: SignStageRequestsRequest,
  { tenant, sub: principalId }: Principal,
): Promise<SignedStageRequests> {
  if (requests.length > REQUESTS_MAX) {
    throw new SkeinError('INVALID_REQUEST', `one call signs ${REQUESTS_MAX} requests at most`);
  }
  const stage = await requireStageById(db, { tenant, principalId }, stageId);
  const method = action === 'stage.write' ? 'PUT' : 'GET';
  const partOf = partFinder(db, { stage, now: new Date(clock.nowMs()) });
  const wanted: ObjectRequest[] = [];
  for (const request of requests) {
    const { path, size_bytes: sizeBytes } = request;
    stageFileNames(path);
    const part = request.upload_id === '' || method === 'GET' ? null : await partOf(request);
    const location = `${stage.location}/${path}`;
    wanted.push({ method, location, sizeBytes: sizeBytes === '-1' ? null : Number(sizeBytes), part });
  }
  const signed = await storages.signRequests(stage.location, wanted, Number(expiresAtMs));
  // A file may come until then, also into a stage that was dropped.
  if (method === 'PUT') await keepKey(db, stage.id, Math.max(0, ...signed.map((one) => one.expiresAtMs)));
  return {
    requests: signed.map((one) => ({
      url: one.url,
      headers: { ...one.headers },
      expires_at_ms: String(one.expiresAtMs),
    })),
  };
}

/** Finds what requests for parts put, each upload once. @returns a function that throws UPLOAD_NOT_FOUND, INVALID_REQUEST for another file's upload */
function partFinder(
  db: Database,
  { stage, now }: { readonly stage: StageRow; readonly now: Date },
): (request: StageRequest) => Promise<NonNullable<ObjectRequest['part']>> {
  const found = new Map<string, Promise<UploadRow>>();
  return async ({ path, upload_id: id, part_number: number }) => {
    const finding = found.get(id) ?? requireUpload(db, id, now);
    found.set(id, finding);
    const { stageId, path: ofUpload, storeUploadId } = await finding;
    if (stageId !== stage.id || ofUpload !== path || storeUploadId === null) {
      throw new SkeinError('INVALID_REQUEST', `the upload is for ${ofUpload}, or into another stage`);
    }
    return { storeUploadId, number, coming: uploadFile(stage.location, id) };
  };
}
