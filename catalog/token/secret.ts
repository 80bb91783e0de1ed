import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Begins every personal access token. */
export const ACCESS_TOKEN_PREFIX = 'skein_pat_';
/** Begins every client secret. */
export const CLIENT_SECRET_PREFIX = 'skein_cs_';

/**
 * Creates a secret: 256 random bits in characters that need no escape in a form, a header or a URL, after a prefix that source code
 * scanners can find. Secrets are stored as SHA-256: they cannot be guessed, so a slow hash would protect nothing.
 */
export const newSecret = (prefix: string): string => `${prefix}${randomBytes(32).toString('base64url')}`;

export const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares two digests of SHA-256 in constant time. */
export const sameDigest = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b);
