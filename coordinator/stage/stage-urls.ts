import { principalOf, type Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import type { Stage, StageUpload } from '../catalog-client/stage-catalog.ts';
import type { SignedRequest } from './signed-url.ts';

/** Makes the URLs by which clients reach the files of a stage: the coordinator's own, or those of the store in which they lie. */
export interface UrlSigner {
  /** Time at which its URLs end at the latest. */
  readonly endsAtMs: number;
  /** @throws INVALID_REQUEST for a body that is too large for one request */
  sign(request: SignedRequest): Promise<string> | string;
}

export type FileUrl = {
  readonly path: string;
  readonly method: 'PUT' | 'GET';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAtMs: number;
};

export type UploadPlan = {
  readonly partBytes: number;
  readonly parts: readonly { readonly number: number; readonly sizeBytes: number | null }[];
};

/** Number of parts of an upload, as S3 has it. */
export const PARTS_MAX = 10_000;
/** Parts that are planned for a file of unknown size. */
const PARTS_UNKNOWN = 100;
export const PART_BYTES_DEFAULT = 64 * 2 ** 20;
export const PART_BYTES_MIN = 2 ** 20;

/** A URL for one request on one file. */
export async function fileUrl(
  signer: UrlSigner,
  to: { readonly stage: Stage; readonly principal: Principal },
  file: {
    readonly path: string;
    readonly method: 'PUT' | 'GET';
    readonly sizeBytes?: number;
    readonly part?: { readonly uploadId: string; readonly number: number };
    readonly expiresAtMs: number;
  },
): Promise<FileUrl> {
  const { path, method, expiresAtMs } = file;
  const headers = method === 'PUT' ? { 'content-type': 'application/octet-stream' } : {};
  const url = await signer.sign({ ...file, stageId: to.stage.id, principal: principalOf(to.principal) });
  return { path, method, url, headers, expiresAtMs };
}

/**
 * Divides a file into parts. @param partBytes null = the default, or more when the file has too many of these
 * @param partBytesMin fewest bytes of a part that is not the last
 * @throws INVALID_REQUEST when there would be too many parts, or parts that are too small
 */
export function planParts(sizeBytes: number | null, partBytes: number | null, partBytesMin = 0): UploadPlan {
  const least = sizeBytes === null ? 0 : Math.ceil(sizeBytes / PARTS_MAX);
  const bytes = partBytes ?? Math.max(PART_BYTES_DEFAULT, least);
  if (bytes < least) {
    throw new SkeinError('INVALID_REQUEST', `the file has more than ${PARTS_MAX} parts of ${bytes} bytes`);
  }
  if (bytes < partBytesMin && (sizeBytes === null || sizeBytes > bytes)) {
    throw new SkeinError('INVALID_REQUEST', `a part has at least ${partBytesMin} bytes here, unless it is the last`);
  }
  if (sizeBytes === null) {
    return {
      partBytes: bytes,
      parts: Array.from({ length: PARTS_UNKNOWN }, (_, i) => ({ number: i + 1, sizeBytes: null })),
    };
  }
  const count = Math.max(1, Math.ceil(sizeBytes / bytes));
  const sizeOf = (i: number): number => (i < count - 1 ? bytes : sizeBytes - (count - 1) * bytes);
  return {
    partBytes: bytes,
    parts: Array.from({ length: count }, (_, i) => ({ number: i + 1, sizeBytes: sizeOf(i) })),
  };
}

/** The URL of each part of an upload. */
export const partUrls = (
  signer: UrlSigner,
  to: { readonly principal: Principal; readonly upload: StageUpload; readonly expiresAtMs: number },
  parts: UploadPlan['parts'],
): Promise<readonly { readonly number: number; readonly url: string }[]> =>
  Promise.all(
    parts.map(async ({ number, sizeBytes }) => ({
      number,
      url: await signer.sign({
        method: 'PUT',
        stageId: to.upload.stage.id,
        path: to.upload.path,
        principal: principalOf(to.principal),
        expiresAtMs: to.expiresAtMs,
        part: { uploadId: to.upload.storeUploadId ?? to.upload.id, number },
        ...(sizeBytes === null ? {} : { sizeBytes }),
      }),
    })),
  );
