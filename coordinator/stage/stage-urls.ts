import { principalOf, type Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { BYTES_TYPE } from '#shared/stage/attachment.ts';
import type { StageUpload } from '../catalog-client/stage-catalog.ts';
import type { SignedRequest } from './signed-url.ts';

/** Makes the URLs by which clients reach the files of a stage: the coordinator's own, or those of the store in which they lie. */
export interface UrlSigner {
  /** Time at which its URLs end at the latest. */
  readonly endsAtMs: number;
  /** It names uploads in parts by the store's ids. */
  readonly usesStoreIds: boolean;
  /**
   * Signs requests of one method that end at one time. @returns the URLs in the order of the requests
   * @throws INVALID_REQUEST for a body that is too large for one request
   */
  sign(requests: readonly SignedRequest[]): Promise<readonly SignedUrl[]>;
}

type SignedUrl = {
  readonly url: string;
  /** The request has to have them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent = as was asked for. */
  readonly expiresAtMs?: number;
};

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

/** The URLs of some requests, in their order; each signer is asked once. */
export async function fileUrls(
  wanted: readonly { readonly signer: UrlSigner; readonly request: SignedRequest }[],
): Promise<readonly FileUrl[]> {
  const signed = new Map<SignedRequest, SignedUrl>();
  for (const signer of new Set(wanted.map((one) => one.signer))) {
    const requests = wanted.filter((one) => one.signer === signer).map(({ request }) => request);
    const urls = await signer.sign(requests);
    for (const [i, request] of requests.entries()) signed.set(request, must(urls[i], 'each request has a URL'));
  }
  return wanted.map(({ request }) => {
    const { method, path } = request;
    const { url, headers, expiresAtMs = request.expiresAtMs } = must(signed.get(request), 'it was signed');
    const type = method === 'PUT' ? { 'content-type': BYTES_TYPE } : {};
    return { path, method, url, headers: { ...type, ...headers }, expiresAtMs };
  });
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

/** How a signer names an upload. */
export const uploadIdFor = ({ usesStoreIds }: UrlSigner, { id, storeUploadId }: StageUpload): string =>
  usesStoreIds ? (storeUploadId ?? id) : id;

/** The URL of each part of an upload. */
export async function partUrls(
  signer: UrlSigner,
  to: { readonly principal: Principal; readonly upload: StageUpload; readonly expiresAtMs: number },
  parts: UploadPlan['parts'],
): Promise<readonly { readonly number: number; readonly url: string }[]> {
  const requests = parts.map(({ number, sizeBytes }) => ({
    method: 'PUT' as const,
    stageId: to.upload.stage.id,
    path: to.upload.path,
    principal: principalOf(to.principal),
    expiresAtMs: to.expiresAtMs,
    part: { uploadId: uploadIdFor(signer, to.upload), number },
    ...(sizeBytes === null ? {} : { sizeBytes }),
  }));
  const urls = await signer.sign(requests);
  return parts.map(({ number }, i) => ({ number, url: must(urls[i], 'each part has a URL').url }));
}
