import type { CatalogContext } from '../../../context.ts';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import { subjectOf, type TokenPrincipal } from '../../../store/postgres/principal-store.ts';
import { lifetimeMs } from '../../../token/lifetime.ts';
import type { TokenSubject } from '../../../token/token-issuer.ts';
import { SkeinError } from '#shared/error.ts';
import type { Json } from '#shared/json.ts';
import { ok, type Answer } from '../../rest-operation.ts';
import { NO_STORE, OAuthError } from './oauth-error.ts';

export const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token';

type Grant = {
  readonly principal: TokenPrincipal;
  readonly scopes: readonly string[];
  readonly authMethod: TokenClaims['auth_method'];
  /** When the principal signed in; absent: now. The caller has checked that `lifetimeMs` of it is not 0. */
  readonly authenticatedAtMs?: number;
  /** The sign-in of a person that the token continues, and how that person proved himself. */
  readonly person?: Pick<TokenSubject, 'sid' | 'amr'>;
  /** When the token is issued; absent: now. A sign-in that is recorded gives its moment, so that `iat` is what later tokens repeat. */
  readonly issuedAtMs?: number;
  /** The token ends at this moment at the latest. */
  readonly endsAtMs?: number;
  readonly refreshToken?: string;
  readonly issuedTokenType?: string;
};

/** The answer to a grant: RFC 6749, 5.1, with what RFC 8693, 2.2.1 adds (Java's client needs `issued_token_type` of every grant). */
export async function issue(context: CatalogContext, grant: Grant): Promise<Answer> {
  const { principal, scopes, authMethod, authenticatedAtMs, refreshToken } = grant;
  const issuedAtMs = grant.issuedAtMs ?? context.clock.nowMs();
  const { token, expiresAtMs } = await context.issuer.issue(
    {
      ...subjectOf(principal),
      scopes,
      authMethod,
      ...grant.person,
      ...(authenticatedAtMs === undefined ? {} : { authenticatedAtMs }),
    },
    Math.min(lifetimeMs(context, authenticatedAtMs ?? issuedAtMs), (grant.endsAtMs ?? Infinity) - issuedAtMs),
    issuedAtMs,
  );
  const body: Json = {
    access_token: token,
    token_type: 'Bearer',
    // From the moment of the token on: a later one may lie in another second.
    expires_in: Math.max(0, Math.ceil((expiresAtMs - issuedAtMs) / 1000)),
    issued_token_type: grant.issuedTokenType ?? ACCESS_TOKEN_TYPE,
    scope: scopes.join(' '),
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
  };
  return { ...ok(body), headers: NO_STORE };
}

/**
 * Counts a request of an authenticated principal. Only authenticated requests count, so that someone who merely knows a client's id cannot
 * use up its allowance.
 * @throws OAuthError 429
 */
export const countRequest = (context: CatalogContext, principal: string): void =>
  refuseFor(context.tokenLimits.principal.take(principal), 'of this client');

/** Renders the refusals of a sign-in: `invalid_grant`, or 429. */
export async function asRefusal<T>(
  field: string,
  signIn: () => Promise<T>,
  refused: (error: SkeinError) => void,
): Promise<T> {
  try {
    return await signIn();
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    if (error.code === 'WRONG_PASSWORD' || error.code === 'TOO_MANY_SIGN_INS') refused(error);
    if (error.code === 'WRONG_PASSWORD') throw new OAuthError('invalid_grant', `${field} is not valid`);
    if (error.code === 'TOO_MANY_SIGN_INS') {
      throw new OAuthError('temporarily_unavailable', error.message, { status: 429, headers: { 'retry-after': '60' } });
    }
    throw error;
  }
}

/** @throws OAuthError 429 unless `seconds` is 0 */
export function refuseFor(seconds: number, whose: string): void {
  if (seconds === 0) return;
  throw new OAuthError('temporarily_unavailable', `too many token requests ${whose}: try again in ${seconds} s`, {
    status: 429,
    headers: { 'retry-after': String(seconds) },
  });
}
