import { createHash } from 'node:crypto';
import { createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { SkeinError } from '#shared/error.ts';
import {
  EXPIRY_TOLERANCE_MS,
  hasExpired,
  scopesOf,
  TOKEN_AUDIENCE,
  TOKEN_ISSUER,
  type Scope,
  type TokenClaims,
} from '#shared/token-claims.ts';

/** The caller of a request, and what the caller's token allows. */
export type Caller = { readonly claims: TokenClaims; readonly scopes: ReadonlySet<string> };

/** Bearer token -> caller. */
export type Authenticate = (authorization: string | undefined) => Promise<Caller>;

type Options = {
  readonly keys: JWTVerifyGetKey;
  /** Current session epoch of a principal; undefined = not known at present. */
  readonly epochOf: (principal: string) => number | undefined;
  readonly nowMs: () => number;
};

const TOKEN_BYTES_MAX = 8_192;
const VERIFIED_MAX = 10_000;
/** An unknown key id asks the catalog again, at most this often. */
const KEYS_COOLDOWN_MS = 2_000;
const KEYS_AGE_MS_MAX = 600_000;

/**
 * The keys that the catalog signs tokens with. They come over the internal channel: over HTTP, anybody between the machines could put
 * keys of their own in place of the catalog's. `signingKeys` answers a JSON Web Key Set.
 */
export const catalogKeys = (catalog: { signingKeys(): Promise<string> }): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL('internal:signing-keys'), {
    cooldownDuration: KEYS_COOLDOWN_MS,
    cacheMaxAge: KEYS_AGE_MS_MAX,
    [customFetch]: async () => new Response(await catalog.signingKeys()),
  });

const refuse = (message: string): never => {
  throw new SkeinError('UNAUTHENTICATED', message);
};

const unavailable = (cause?: unknown): SkeinError =>
  new SkeinError('CATALOG_UNAVAILABLE', 'tokens cannot be checked: the catalog does not answer', { cause });

/**
 * Verifies signature, issuer, audience, expiry and session epoch. A verified token is remembered by its hash until it expires; its
 * epoch is compared on every request.
 */
export function authenticator(options: Options): Authenticate {
  const verified = new Map<string, Caller>();

  return async (authorization) => {
    const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return refuse('a bearer token is needed');
    if (token.length > TOKEN_BYTES_MAX) return refuse('the token is not valid');
    const hash = createHash('sha256').update(token).digest('base64');
    let caller = verified.get(hash);
    if (caller === undefined) {
      caller = await verify(token, options.keys);
      verified.set(hash, caller);
      for (const oldest of verified.keys()) {
        if (verified.size <= VERIFIED_MAX) break;
        verified.delete(oldest);
      }
    }
    if (hasExpired(caller.claims, options.nowMs())) {
      verified.delete(hash);
      return refuse('the token has expired');
    }
    const epoch = options.epochOf(caller.claims.sub);
    if (epoch === undefined) throw unavailable();
    if (caller.claims.sess_epoch < epoch) return refuse('the token has been revoked');
    return caller;
  };
}

async function verify(token: string, keys: JWTVerifyGetKey): Promise<Caller> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer: TOKEN_ISSUER,
      audience: TOKEN_AUDIENCE,
      algorithms: ['RS256', 'ES256', 'EdDSA'],
      requiredClaims: ['sub', 'exp', 'jti', 'tenant', 'sess_epoch', 'scope'],
      clockTolerance: EXPIRY_TOLERANCE_MS / 1_000,
    });
    const claims = payload as unknown as TokenClaims;
    const texts = [claims.sub, claims.tenant, claims.scope, claims.jti];
    if (!texts.every((t) => typeof t === 'string') || !Number.isSafeInteger(claims.sess_epoch))
      return refuse('the token is not valid');
    return { claims, scopes: scopesOf(claims) };
  } catch (error) {
    if (error instanceof errors.JWTExpired) return refuse('the token has expired');
    if (error instanceof SkeinError) throw error;
    // Every fault of a token has a code of its own; the rest are failed requests for the keys.
    const fault =
      error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout) && error.code !== 'ERR_JOSE_GENERIC';
    if (!fault) throw unavailable(error);
    throw new SkeinError('UNAUTHENTICATED', 'the token is not valid', { cause: error });
  }
}

const TENANT_ADMIN = 'tenant_admin';

/** @throws FORBIDDEN unless the operator has made the token, for an administrator. */
export function requireOperator({ claims }: Caller): void {
  const isOperator = claims.auth_method === 'operator' && claims.roles.includes(TENANT_ADMIN);
  if (!isOperator) throw new SkeinError('FORBIDDEN', 'this is for the operator');
}

/** @throws FORBIDDEN unless the token grants `scope`. */
export function requireScope(caller: Caller, scope: Scope): void {
  if (!caller.scopes.has(scope)) throw new SkeinError('FORBIDDEN', `the token lacks the scope ${scope}`);
}
