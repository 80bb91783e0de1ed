import type { StageApi } from '#coordinator/api/http/stage-routes.ts';
import { StageService } from '#coordinator/stage/stage-service.ts';
import { StageUploads } from '#coordinator/stage/stage-uploads.ts';
import { Transfers } from '#coordinator/stage/transfers.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { silentLogger } from '#shared/log/logger.ts';

/** The operations that `test/cluster/stages.test.ts` compares with the OpenAPI document. */
export const STAGE_OPERATIONS: readonly string[] = [
  'abortUpload',
  'completeUpload',
  'getStageFile',
  'initUpload',
  'presignFiles',
  'putStageFile',
];

const refuse = (): never => {
  throw new Error('the test has no stages');
};

/** The part of the HTTP API that serves stages, over a catalog that has none. */
export function noStages(): StageApi {
  const catalog = {
    open: refuse,
    openById: refuse,
    list: refuse,
    loaded: refuse,
    sign: refuse,
    beginUpload: refuse,
    findUpload: refuse,
    endUpload: refuse,
  };
  const uploads = new StageUploads(catalog, silentLogger);
  const nowMs = (): number => Date.now();
  return {
    service: new StageService({
      catalog,
      uploads,
      keyring: fixedKeyring('secret'),
      nowMs,
      urlTtlMs: 1_000,
      urlTtlMsMax: 10_000,
      fileBytesMax: 1_000,
    }),
    transfers: new Transfers({ transfersMax: 10, perPrincipalMax: 10, idleMs: 1_000, bytesMax: 1_000 }),
    askerOf: refuse,
    url: '',
  };
}
