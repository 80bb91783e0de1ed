import { createHash } from 'node:crypto';
import { errors, jwtVerify } from 'jose';
import type { Clock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import {
  EXPIRY_TOLERANCE_MS,
  hasExpired,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  type TokenClaims,
} from '#shared/token-claims.ts';
import type { SessionEpochs } from '../principal/session-epochs.ts';
import { ALGORITHM, type SigningKeys } from './signing-keys.ts';

/** Maximum number of cached verified tokens: a client's next request costs a hash instead of a signature check. */
const CACHE_ENTRIES_MAX = 10_000;
const TOKEN_LENGTH_MAX = 8_192;

/** Verifies the bearer tokens of requests: signature, issuer, audience, times, and the principal's session epoch. */
export class TokenVerifier {
  readonly #keys: SigningKeys;
  readonly #epochs: SessionEpochs;
  readonly #clock: Clock;
  /** Verified claims by the token's digest: the cache holds no token that could be used. */
  readonly #cache = new Map<string, TokenClaims>();

  constructor(keys: SigningKeys, epochs: SessionEpochs, clock: Clock) {
    this.#keys = keys;
    this.#epochs = epochs;
    this.#clock = clock;
  }

  /** @throws UNAUTHENTICATED, saying whether the token is absent, expired, revoked or not valid. */
  async verify(authorization: string | undefined): Promise<TokenClaims> {
    const token = /^Bearer +([^\s]+)\s*$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw new SkeinError('UNAUTHENTICATED', 'a bearer token is needed');
    return this.verifyToken(token);
  }

  /** @throws UNAUTHENTICATED */
  async verifyToken(token: string): Promise<TokenClaims> {
    if (token.length > TOKEN_LENGTH_MAX) throw new SkeinError('UNAUTHENTICATED', 'the token is not valid');
    const digest = createHash('sha256').update(token).digest('base64');
    const claims = this.#cache.get(digest) ?? (await this.#verifySignature(token, 'refused'));
    if (hasExpired(claims, this.#clock.nowMs())) {
      this.#cache.delete(digest);
      throw new SkeinError('UNAUTHENTICATED', 'the token has expired');
    }
    if (this.#isRevoked(claims)) {
      this.#cache.delete(digest);
      throw new SkeinError('UNAUTHENTICATED', 'the token has been revoked');
    }
    this.#remember(digest, claims);
    return claims;
  }

  /** Like `verifyToken`, but accepts an expired token: for a principal that has also shown its secret. @throws UNAUTHENTICATED */
  async verifyExpiredToken(token: string): Promise<TokenClaims> {
    if (token.length > TOKEN_LENGTH_MAX) throw new SkeinError('UNAUTHENTICATED', 'the token is not valid');
    const claims = await this.#verifySignature(token, 'accepted');
    if (this.#isRevoked(claims)) throw new SkeinError('UNAUTHENTICATED', 'the token has been revoked');
    return claims;
  }

  #isRevoked(claims: TokenClaims): boolean {
    return claims.sess_epoch < this.#epochs.of(claims.sub);
  }

  async #verifySignature(token: string, expired: 'accepted' | 'refused'): Promise<TokenClaims> {
    try {
      const { payload } = await jwtVerify(
        token,
        async ({ kid }) => {
          const key = kid === undefined ? undefined : await this.#keys.publicKey(kid);
          if (key === undefined) throw new errors.JWKSNoMatchingKey();
          return key;
        },
        {
          algorithms: [ALGORITHM],
          issuer: TOKEN_ISSUER,
          audience: TOKEN_AUDIENCE,
          requiredClaims: ['sub', 'tenant', 'preferred_username', 'scope', 'sess_epoch', 'jti', 'exp'],
          currentDate: new Date(this.#clock.nowMs()),
          clockTolerance: EXPIRY_TOLERANCE_MS / 1_000,
        },
      );
      return payload as unknown as TokenClaims;
    } catch (error) {
      if (error instanceof errors.JWTExpired) {
        // The age is checked last: everything else is valid.
        if (expired === 'accepted') return error.payload as unknown as TokenClaims;
        throw new SkeinError('UNAUTHENTICATED', 'the token has expired');
      }
      if (error instanceof errors.JOSEError) throw new SkeinError('UNAUTHENTICATED', 'the token is not valid');
      throw error;
    }
  }

  #remember(digest: string, claims: TokenClaims): void {
    if (this.#cache.has(digest)) return;
    const [oldest] = this.#cache.keys();
    if (oldest !== undefined && this.#cache.size >= CACHE_ENTRIES_MAX) this.#cache.delete(oldest);
    this.#cache.set(digest, claims);
  }
}
