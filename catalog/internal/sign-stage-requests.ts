import type { SignedStageRequests } from '#proto/generated/skein/catalog/v1/SignedStageRequests.ts';
import type { SignStageRequestsRequest } from '#proto/generated/skein/catalog/v1/SignStageRequestsRequest.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { stageFileNames } from '#shared/stage/stage-path.ts';
import type { CatalogContext } from '../context.ts';
import { keepKey, requireStageById } from '../store/postgres/stage-store.ts';

/** Requests of one call: the coordinator asks in pages. */
const REQUESTS_MAX = 1_000;

/**
 * Addresses of the store for files of a stage. The key that signs them opens more than the stage, so that it stays here. `stage.read` reads files,
 * and `stage.write` writes them.
 * @throws STAGE_NOT_FOUND, INVALID_REQUEST for a path, NOT_SUPPORTED where the store's key signs nothing
 */
export async function signStageRequests(
  { storages, store: { db } }: CatalogContext,
  { stage_id: stageId, action, requests, expires_at_ms: expiresAtMs }: SignStageRequestsRequest,
  { tenant, sub: principalId }: Principal,
): Promise<SignedStageRequests> {
  if (requests.length > REQUESTS_MAX) {
    throw new SkeinError('INVALID_REQUEST', `one call signs ${REQUESTS_MAX} requests at most`);
  }
  const stage = await requireStageById(db, { tenant, principalId }, stageId);
  const method = action === 'stage.write' ? 'PUT' : 'GET';
  const wanted = requests.map(({ path, size_bytes: sizeBytes }) => {
    stageFileNames(path);
    return {
      method,
      location: `${stage.location}/${path}`,
      sizeBytes: sizeBytes === '-1' ? null : Number(sizeBytes),
    } as const;
  });
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
