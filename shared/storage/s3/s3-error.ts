import { SkeinError } from '#shared/error.ts';
import { readXml, textAt } from './read-xml.ts';
import type { AwsAnswer } from './signed-request.ts';

/** An answer of S3 or STS that refuses the request. Its message holds no key, which the texts of some stores name. */
export class S3Error extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string) {
    super(`${status} ${code}`);
    this.name = 'S3Error';
    this.status = status;
    this.code = code;
  }
}

/** The error of an answer; HEAD has no body, so that its code is empty. */
export function s3Error({ status, body }: AwsAnswer): S3Error {
  let code = '';
  try {
    const xml = body.length === 0 ? '' : readXml(body);
    code = textAt(xml, 'Error', 'Code') ?? textAt(xml, 'ErrorResponse', 'Error', 'Code') ?? '';
  } catch {
    // A proxy's page is no XML.
  }
  return new S3Error(status, /^[A-Za-z0-9.]{0,100}$/.test(code) ? code : '');
}

/** The store has no space, or allows no more. */
const FULL: ReadonlySet<string> = new Set([
  'XMinioStorageFull',
  'QuotaExceeded',
  'InsufficientCapacity',
  'EntityTooLarge',
]);

export function storageError(location: string, cause: unknown): SkeinError {
  if (cause instanceof SkeinError) return cause;
  if (cause instanceof S3Error && FULL.has(cause.code)) {
    return new SkeinError('STORAGE_FULL', `there is no space to write ${location}`, { cause });
  }
  const why = cause instanceof S3Error ? `: ${cause.message}` : '';
  return new SkeinError('STORAGE_ERROR', `cannot access ${location}${why}`, { cause });
}

/** A key that has ended, or that the store does not know any more. */
export const REFUSED_KEY_CODES: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'TokenRefreshRequired',
  'InvalidAccessKeyId',
  'InvalidTokenId',
  'InvalidToken',
]);

/** Whether a store has refused a request for its key. The error may have come from another thread, with its text alone. */
export const isKeyRefusal = ({ code, message }: SkeinError): boolean =>
  code === 'STORAGE_ERROR' && REFUSED_KEY_CODES.has(/: 40[0-9] ([A-Za-z]+)$/.exec(message)?.[1] ?? '');
