import { SkeinError } from '#shared/error.ts';
import { attachmentOf, BYTES_TYPE } from '#shared/stage/attachment.ts';
import { addressSigner, holdsBodiesToSize } from '#shared/storage/client-uploads.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import type { Stage, StageCatalog } from '../catalog-client/stage-catalog.ts';
import type { SignedRequest } from './signed-url.ts';
import type { UrlSigner } from './stage-urls.ts';

/** Largest body of one request, and smallest part of an upload but for the last, as S3 has them. */
const BODY_BYTES_MAX = 5 * 2 ** 30;
/** Largest block of Azure's; Google takes larger parts. */
const BLOCK_BYTES_MAX = 4_000 * 2 ** 20;
export const STORE_PART_BYTES_MIN = 5 * 2 ** 20;

/**
 * Signs URLs of the store in which the files of a stage lie, with the stage's key, which opens nothing else and ends no earlier than they do.
 * Undefined where clients come through the coordinator: for local files, and where the key reaches more than the stage.
 */
export function storeSigner(
  { location, credential, clientEndpoint }: Pick<Stage, 'location' | 'credential' | 'clientEndpoint'>,
  nowMs: () => number,
): UrlSigner | undefined {
  if (credential === null || credential.kind === 'file') return undefined;
  if (clientEndpoint === null || credential.expiresAtMs === null) return undefined;
  const signAddress = addressSigner(credential, clientEndpoint);
  if (signAddress === undefined) return undefined;
  return {
    endsAtMs: credential.expiresAtMs,
    usesStoreIds: true,
    sign: (requests) =>
      Promise.all(
        requests.map(async ({ method, path, part, sizeBytes, expiresAtMs }) => {
          if ((sizeBytes ?? 0) > BODY_BYTES_MAX) {
            throw new SkeinError(
              'INVALID_REQUEST',
              `one request puts ${BODY_BYTES_MAX} bytes at most: ${path} comes in parts`,
            );
          }
          // Whatever type its writer has given it, no browser shows it as a page of the store.
          const answersAs = method === 'GET' ? { type: BYTES_TYPE, disposition: attachmentOf(path) } : undefined;
          const request = { method, location: `${location}/${path}`, part, answersAs, sizeBytes, expiresAtMs };
          return { url: await signAddress(request, nowMs()) };
        }),
      ),
  };
}

/**
 * The same where the catalog signs, because the key of the stage cannot. Undefined where it does not.
 * @param asker who has the right to the stage
 */
export function catalogSigner(
  { id: stageId, credential, signs }: Pick<Stage, 'id' | 'credential' | 'signs'>,
  { catalog, principal }: { readonly catalog: Pick<StageCatalog, 'sign'>; readonly principal: Principal },
): UrlSigner | undefined {
  if (!signs || credential === null || credential.kind === 'file') return undefined;
  return {
    endsAtMs: credential.expiresAtMs ?? Infinity,
    usesStoreIds: false,
    sign: async (requests) => {
      const [first] = requests;
      if (first === undefined) return [];
      const large = requests.find(({ part, sizeBytes = 0 }) => part !== undefined && sizeBytes > BLOCK_BYTES_MAX);
      if (large !== undefined) {
        throw new SkeinError('INVALID_REQUEST', `a part of ${large.path} has ${BLOCK_BYTES_MAX} bytes at most`);
      }
      const { method, expiresAtMs } = first;
      const files = requests.map(({ path, sizeBytes = null, part = null }) => ({ path, sizeBytes, part }));
      return catalog.sign(principal, method === 'PUT' ? 'stage.write' : 'stage.read', { stageId, files, expiresAtMs });
    },
  };
}

/** Whether the store itself refuses a body of another length than was signed, where one was. */
export const holdsToSize = (
  { location }: Pick<Stage, 'location'>,
  { method, sizeBytes }: Pick<SignedRequest, 'method' | 'sizeBytes'>,
): boolean => method === 'GET' || sizeBytes === undefined || holdsBodiesToSize(location);
