import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import type { Stage, StageUpload } from '../catalog-client/stage-catalog.ts';
import type { SignedRequest } from './signed-url.ts';

/**
 * The URLs by which clients reach the files of a stage. In a warehouse of files they are the coordinator's own. An object store signs URLs of
 * its own; it is another `UrlSigner`.
 */
export interface UrlSigner {
  sign(request: SignedRequest): string;
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
export function fileUrl(
  signer: UrlSigner,
  to: { readonly stage: Stage; readonly principal: Principal },
  file: {
    readonly path: string;
    readonly method: 'PUT' | 'GET';
    readonly sizeBytes?: number;
    readonly expiresAtMs: number;
  },
): FileUrl {
  const { path, method, expiresAtMs } = file;
  const headers = method === 'PUT' ? { 'content-type': 'application/octet-stream' } : {};
  const url = signer.sign({ ...file, stageId: to.stage.id, principal: plainPrincipal(to.principal) });
  return { path, method, url, headers, expiresAtMs };
}

/**
 * Divides a file into parts. @param partBytes null = the default, or more when the file has too many of these
 * @throws INVALID_REQUEST when there would be too many parts
 */
export function planParts(sizeBytes: number | null, partBytes: number | null): UploadPlan {
  const least = sizeBytes === null ? 0 : Math.ceil(sizeBytes / PARTS_MAX);
  const bytes = partBytes ?? Math.max(PART_BYTES_DEFAULT, least);
  if (bytes < least) {
    throw new SkeinError('INVALID_REQUEST', `the file has more than ${PARTS_MAX} parts of ${bytes} bytes`);
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
  {
    principal,
    upload,
    plan,
    expiresAtMs,
  }: {
    readonly principal: Principal;
    readonly upload: StageUpload;
    readonly plan: UploadPlan;
    readonly expiresAtMs: number;
  },
): readonly { readonly number: number; readonly url: string }[] =>
  plan.parts.map(({ number, sizeBytes }) => ({
    number,
    url: signer.sign({
      method: 'PUT',
      stageId: upload.stage.id,
      path: upload.path,
      principal: plainPrincipal(principal),
      expiresAtMs,
      part: { uploadId: upload.id, number },
      ...(sizeBytes === null ? {} : { sizeBytes }),
    }),
  }));

/** The facts of a principal that the catalog reads, and nothing else of its token. */
const plainPrincipal = ({
  sub,
  tenant,
  preferred_username,
  roles,
  scope,
  sess_epoch,
  auth_method,
}: Principal): Principal => ({
  sub,
  tenant,
  preferred_username,
  roles,
  scope,
  sess_epoch,
  auth_method,
});
