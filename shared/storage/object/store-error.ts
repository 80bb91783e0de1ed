import { SkeinError } from '#shared/error.ts';

/** An answer of a store that refuses the request. Its message holds no key, which the texts of some stores name. */
export class StoreError extends Error {
  readonly status: number;
  /** The store's word for it; empty when it gave none. */
  readonly code: string;

  /** @param note words of ours behind it, which begin with a semicolon */
  constructor(status: number, code: string, note = '') {
    const word = /^[A-Za-z0-9._-]{0,100}$/.test(code) ? code : '';
    super(`${status} ${word}${note}`);
    this.name = 'StoreError';
    this.status = status;
    this.code = word;
  }
}

/** The store has no space, or allows no more. */
const FULL: ReadonlySet<string> = new Set([
  'XMinioStorageFull',
  'QuotaExceeded',
  'InsufficientCapacity',
  'EntityTooLarge',
  'quotaExceeded',
]);

export function storageError(location: string, cause: unknown): SkeinError {
  if (cause instanceof SkeinError) return cause;
  if (cause instanceof StoreError && FULL.has(cause.code)) {
    return new SkeinError('STORAGE_FULL', `there is no space to write ${location}`, { cause });
  }
  const why = cause instanceof StoreError ? `: ${cause.message}` : '';
  return new SkeinError('STORAGE_ERROR', `cannot access ${location}${why}`, { cause });
}

/** A key that has ended, or that the store does not know any more: of S3, of Google, of Azure. */
const REFUSED_KEY_CODES: ReadonlySet<string> = new Set([
  'ExpiredToken',
  'ExpiredTokenException',
  'TokenRefreshRequired',
  'InvalidAccessKeyId',
  'InvalidTokenId',
  'InvalidToken',
  'authError',
  'AuthenticationRequired',
  'AuthenticationFailed',
  // Azurite's word for a signature that has ended; Azure's own for one that may not, where another is asked for once in vain.
  'AuthorizationFailure',
]);

/** Whether a store has refused a request for its key. The answer to HEAD has no code. */
export const isRefusedKey = ({ status, code }: StoreError): boolean =>
  REFUSED_KEY_CODES.has(code) || status === 401 || (status === 403 && code === '');

/** The same of an error that may have come from another thread, with its text alone. */
export const isKeyRefusal = ({ code, message }: SkeinError): boolean => {
  const [, status, word = ''] = /: (40[0-9]) ([A-Za-z]*)(?:; [^:]*)?$/.exec(message) ?? [];
  return code === 'STORAGE_ERROR' && (REFUSED_KEY_CODES.has(word) || status === '401');
};

/** Whether an object, or its bucket, is not there. */
export const isMissing = (error: unknown): boolean =>
  error instanceof StoreError && (error.status === 404 || error.code === 'NoSuchKey');
