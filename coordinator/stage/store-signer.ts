import { SkeinError } from '#shared/error.ts';
import { presign } from '#shared/storage/s3/presign.ts';
import type { Stage } from '../catalog-client/stage-catalog.ts';
import type { UrlSigner } from './stage-urls.ts';

/** Largest body of one request, and smallest part of an upload but for the last, as S3 has them. */
const BODY_BYTES_MAX = 5 * 2 ** 30;
export const STORE_PART_BYTES_MIN = 5 * 2 ** 20;

/**
 * Signs URLs of the store in which the files of a stage lie, with the stage's key, which opens nothing else and ends no earlier than they do.
 * Undefined where clients come through the coordinator: for local files, and where the key reaches more than the stage.
 */
export function storeSigner(
  { location, credential, clientEndpoint }: Pick<Stage, 'location' | 'credential' | 'clientEndpoint'>,
  nowMs: () => number,
): UrlSigner | undefined {
  if (credential?.kind !== 's3' || clientEndpoint === null || credential.expiresAtMs === null) return undefined;
  const key = { ...credential, endpoint: clientEndpoint };
  return {
    endsAtMs: credential.expiresAtMs,
    sign: ({ method, path, part, sizeBytes, expiresAtMs }) => {
      if ((sizeBytes ?? 0) > BODY_BYTES_MAX) {
        throw new SkeinError(
          'INVALID_REQUEST',
          `one request puts ${BODY_BYTES_MAX} bytes at most: ${path} comes in parts`,
        );
      }
      const query =
        part === undefined ? answerAs(method, path) : { partNumber: String(part.number), uploadId: part.uploadId };
      return presign(key, { method, location: `${location}/${path}`, query, sizeBytes, expiresAtMs }, nowMs());
    },
  };
}

/** The answer to a GET is bytes for a file, whatever type its writer has given it: no browser shows it as a page of the store. */
const answerAs = (method: 'PUT' | 'GET', path: string): Readonly<Record<string, string>> =>
  method === 'PUT'
    ? {}
    : {
        'response-content-type': 'application/octet-stream',
        'response-content-disposition': `attachment; filename*=UTF-8''${headerText(path.split('/').at(-1) ?? '')}`,
      };

/** A text as a parameter of a header has it (RFC 5987), in which fewer characters stand for themselves than in a URL. */
export const headerText = (text: string): string =>
  encodeURIComponent(text).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
