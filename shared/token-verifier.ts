import { memoryUses } from './memory-uses.ts';
import { createHash } from 'node:crypto';
import { errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { LRUCache } from 'lru-cache';
import { SkeinError } from './error.ts';
import type { PrincipalId } from './id.ts';
import {
  EXPIRY_TOLERANCE_MS,
  hasExpired,
  TOKEN_ALGORITHM,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  type TokenClaims,
} from './authorization/token-claims.ts';

/** Maximum number of verified tokens in the cache: a client's next request then costs a hash instead of a signature check. */
const VERIFIED_MAX = 10_000;
const TOKEN_LENGTH_MAX = 8_192;

type Options = {
  /** Finds the public key that a token's header names. @throws JWKSNoMatchingKey of jose when there is none */
  readonly keys: JWTVerifyGetKey;
  /** Returns the current session epoch of a principal; undefined = not known at present. */
  readonly epochOf: (principal: PrincipalId) => number | undefined;
  /** Whether a sign-in of a person has ended before its tokens. */
  readonly hasEnded: (signIn: string) => boolean;
  readonly nowMs: () => number;
};

/**
 * Verifies access tokens for every service: signature, issuer, audience, times, the form of the claims, the principal's session epoch, and
 * the sign-in. A verified token is cached until it expires; its age, its epoch and its sign-in are checked at every request.
 */
export class TokenVerifier {
  readonly #options: Options;
  /** Verified claims by the token's digest, so that the cache holds no usable token. */
  readonly #verified = new LRUCache<string, TokenClaims>({ max: VERIFIED_MAX });

  readonly #uses = memoryUses('verified_tokens');

  constructor(options: Options) {
    this.#options = options;
  }

  /** @throws UNAUTHENTICATED, saying whether the token is absent, expired, revoked or not valid; CATALOG_UNAVAILABLE */
  verify(authorization: string | undefined): Promise<TokenClaims> {
    const token = /^Bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1];
    return token === undefined ? Promise.reject(refusal('a bearer token is needed')) : this.verifyToken(token);
  }

  /** @throws UNAUTHENTICATED, CATALOG_UNAVAILABLE */
  async verifyToken(token: string): Promise<TokenClaims> {
    if (token.length > TOKEN_LENGTH_MAX) throw refusal('the token is not valid');
    const digest = createHash('sha256').update(token).digest('base64');
    const known = this.#uses.of(this.#verified.get(digest));
    const claims = known ?? (await this.#verifySignature(token, 'refused'));
    if (hasExpired(claims, this.#options.nowMs())) {
      this.#verified.delete(digest);
      throw refusal('the token has expired');
    }
    this.requireEpoch(claims);
    if (known === undefined) this.#verified.set(digest, claims);
    return claims;
  }

  /** Like `verifyToken`, but accepts an expired token: for a principal that has also shown its secret. @throws UNAUTHENTICATED */
  async verifyExpiredToken(token: string): Promise<TokenClaims> {
    if (token.length > TOKEN_LENGTH_MAX) throw refusal('the token is not valid');
    const claims = await this.#verifySignature(token, 'accepted');
    this.requireEpoch(claims);
    return claims;
  }

  /**
   * @throws UNAUTHENTICATED when the principal's rights have changed since the token was given, or its sign-in has ended; CATALOG_UNAVAILABLE
   */
  requireEpoch({ sub, sess_epoch: epoch, sid }: Pick<TokenClaims, 'sub' | 'sess_epoch' | 'sid'>): void {
    const current = this.#options.epochOf(sub);
    if (current === undefined) {
      throw new SkeinError('CATALOG_UNAVAILABLE', 'tokens cannot be checked: the catalog does not answer');
    }
    if (epoch < current) throw refusal('the token has been revoked');
    if (sid !== undefined && this.#options.hasEnded(sid)) throw refusal('the token has been revoked');
  }

  async #verifySignature(token: string, expired: 'accepted' | 'refused'): Promise<TokenClaims> {
    try {
      const { payload } = await jwtVerify(token, this.#key, {
        algorithms: [TOKEN_ALGORITHM],
        issuer: TOKEN_ISSUER,
        audience: TOKEN_AUDIENCE,
        requiredClaims: ['exp'],
        currentDate: new Date(this.#options.nowMs()),
        clockTolerance: EXPIRY_TOLERANCE_MS / 1_000,
      });
      return checkClaims(payload);
    } catch (error) {
      // The age is checked last, so everything else is valid.
      if (error instanceof errors.JWTExpired && expired === 'accepted') return checkClaims(error.payload);
      if (error instanceof errors.JWTExpired) throw refusal('the token has expired');
      if (error instanceof errors.JOSEError) throw refusal('the token is not valid', error);
      throw error;
    }
  }

  readonly #key: JWTVerifyGetKey = (header, token) => {
    if (header.kid === undefined) throw new errors.JWKSNoMatchingKey();
    return this.#options.keys(header, token);
  };
}

const refusal = (message: string, cause?: unknown): SkeinError => new SkeinError('UNAUTHENTICATED', message, { cause });

/** @throws UNAUTHENTICATED unless the claims have the form that `TokenClaims` says. */
function checkClaims(payload: object): TokenClaims {
  const claims = payload as Partial<Record<keyof TokenClaims, unknown>>;
  const {
    sub,
    tenant,
    preferred_username: username,
    scope,
    jti,
    auth_method: method,
    roles,
    sess_epoch: epoch,
    sid,
    amr,
    privileges,
    auth_time: authTime,
  } = claims;
  const isText = [sub, tenant, username, scope, jti, method].every((claim) => typeof claim === 'string');
  const areLists =
    isTexts(roles) && (amr === undefined || isTexts(amr)) && (privileges === undefined || isTexts(privileges));
  const isSignIn = sid === undefined || typeof sid === 'string';
  const areNumbers = Number.isSafeInteger(epoch) && (authTime === undefined || Number.isSafeInteger(authTime));
  if (!isText || !areLists || !isSignIn || !areNumbers) throw refusal('the token is not valid');
  return payload as TokenClaims;
}

const isTexts = (list: unknown): list is readonly string[] =>
  Array.isArray(list) && list.every((each) => typeof each === 'string');
