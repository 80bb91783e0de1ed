import { decodeJwt, decodeProtectedHeader, errors, jwtVerify, type JWTPayload } from 'jose';
import { SkeinError } from '#shared/error.ts';
import { isPlainText } from '#shared/plain-text.ts';
import { OUTSIDE_ALGORITHMS } from './discovery.ts';
import type { Issuers } from './issuers.ts';

/** Clocks differ by so much. */
export const CLOCKS_DIFFER_S = 60;
/** Longest life of a token. */
const LIFE_S_MAX = 86_400;
/** Longest `sub`, `iss` and audience, and most audiences. */
const NAME_LENGTH_MAX = 600;
const AUDIENCES_MAX = 20;
const OUTSIDE_TOKEN_LENGTH_MAX = 16_384;
/** Kinds of tokens by their header; a logout token, which also names a subject, is none. */
const TYPES: ReadonlySet<string> = new Set(['jwt', 'at+jwt', 'application/at+jwt']);

/** A token by what it says of itself, before anything is verified. */
export type ShownToken = {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly keyId: string | undefined;
};

/** A text that names somebody or something, as `sub` does. */
export const isSubject = (text: unknown): text is string => isPlainText(text, NAME_LENGTH_MAX);

/** @returns undefined for a text that is no token */
export function shownToken(token: string): ShownToken | undefined {
  if (token.length > OUTSIDE_TOKEN_LENGTH_MAX) return undefined;
  try {
    const { iss, aud } = decodeJwt(token);
    const audiences = [aud ?? []].flat();
    if (!isSubject(iss) || audiences.length > AUDIENCES_MAX || !audiences.every(isSubject)) return undefined;
    return { issuer: iss, audiences, keyId: decodeProtectedHeader(token).kid };
  } catch {
    return undefined;
  }
}

/** The claims of a verified token of an issuer. */
export type OutsideClaims = JWTPayload & { readonly sub: string; readonly exp: number; readonly iat: number };

export type Expected = {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly nowMs: number;
};

/**
 * Verifies a token of an issuer: signature by a key of its `jwks_uri`, whatever else its header points at; `iss`, `aud`, times, a life of a day
 * at most, and a subject. @returns undefined when it is not valid, or the keys of the issuer are not known
 */
export async function verifyOutsideToken(
  issuers: Issuers,
  token: string,
  { issuer, audiences, nowMs }: Expected,
): Promise<OutsideClaims | undefined> {
  try {
    const { payload, protectedHeader } = await jwtVerify(token, (header, jws) => issuers.key(issuer, header, jws), {
      algorithms: [...OUTSIDE_ALGORITHMS],
      issuer,
      audience: [...audiences],
      requiredClaims: ['exp', 'iat', 'sub'],
      currentDate: new Date(nowMs),
      clockTolerance: CLOCKS_DIFFER_S,
    });
    const { sub, exp = 0, iat = 0 } = payload;
    const nowS = nowMs / 1_000;
    const isShort = exp - iat <= LIFE_S_MAX && exp <= nowS + LIFE_S_MAX + CLOCKS_DIFFER_S && exp > iat;
    const isOfNow = iat <= nowS + CLOCKS_DIFFER_S;
    const isKind = protectedHeader.typ === undefined || TYPES.has(protectedHeader.typ.toLowerCase());
    return isShort && isOfNow && isKind && isSubject(sub) ? { ...payload, sub, exp, iat } : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    // The issuer is away, and its keys are not known: the log says so, and the answer is that of any other token.
    if (error instanceof SkeinError && error.code === 'INVALID_REQUEST') return undefined;
    // A key that cannot be read, of a kind that jose hands through.
    if (error instanceof TypeError || error instanceof DOMException) return undefined;
    throw error;
  }
}
