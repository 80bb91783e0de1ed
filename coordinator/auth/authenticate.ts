import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose';
import type { Action, Decision } from '#shared/authorization/action.ts';
import { SkeinError } from '#shared/error.ts';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import type { TokenVerifier } from '#shared/token-verifier.ts';
import type { CatalogClient, PrincipalStanding } from '../catalog-client/catalog-client.ts';

/** The caller of a request, and what the catalog has decided that it may do. */
export type Caller = {
  readonly claims: TokenClaims;
  readonly decisions: ReadonlyMap<string, Decision>;
  /** Absent for callers that the coordinator makes for itself. */
  readonly standing?: Omit<PrincipalStanding, 'decisions'>;
};

/** Bearer token -> caller. @param address the client's, by which refusals of personal access tokens are counted */
export type Authenticate = (authorization: string | undefined, address?: string) => Promise<Caller>;

/** An unknown key id asks the catalog again, at most this often. */
const KEYS_COOLDOWN_MS = 2_000;
const KEYS_AGE_MS_MAX = 600_000;

/**
 * The keys that the catalog signs tokens with. They come over the internal channel: over HTTP, anybody between the machines could put
 * keys of their own in place of the catalog's. `signingKeys` answers a JSON Web Key Set.
 */
export function catalogKeys(catalog: Pick<CatalogClient, 'signingKeys'>): JWTVerifyGetKey {
  const keys = createRemoteJWKSet(new URL('internal:signing-keys'), {
    cooldownDuration: KEYS_COOLDOWN_MS,
    cacheMaxAge: KEYS_AGE_MS_MAX,
    [customFetch]: async () => new Response(await catalog.signingKeys()),
  });
  return async (header, token) => {
    try {
      return await keys(header, token);
    } catch (error) {
      // Faults of a token have codes of their own; any other error is a failed request for the keys.
      const isFault =
        error instanceof errors.JOSEError &&
        !(error instanceof errors.JWKSTimeout) &&
        error.code !== 'ERR_JOSE_GENERIC';
      if (isFault) throw error;
      const message = 'tokens cannot be checked: the catalog does not answer';
      throw new SkeinError('CATALOG_UNAVAILABLE', message, { cause: error });
    }
  };
}

/**
 * Verifies tokens, and asks the catalog once per token what its principal may do. A change of these rights raises the principal's session
 * epoch, which makes the token invalid.
 */
export function authenticator(
  verifier: Pick<TokenVerifier, 'verify'>,
  catalog: Pick<CatalogClient, 'authorize'>,
): Authenticate {
  /** Callers by the claims object, which the verifier caches: an entry lives as long as that. */
  const callers = new WeakMap<TokenClaims, Promise<Caller>>();
  return async (authorization) => {
    const claims = await verifier.verify(authorization);
    const known = callers.get(claims);
    if (known !== undefined) return known;
    const asked = catalog.authorize(claims).then(({ decisions, ...standing }) => ({ claims, decisions, standing }));
    callers.set(claims, asked);
    try {
      return await asked;
    } catch (error) {
      callers.delete(claims);
      throw error;
    }
  };
}

/** Whether the catalog allows the caller the action. An action that the catalog does not know is refused. */
export const mayDo = (caller: Pick<Caller, 'decisions'>, action: Action): boolean =>
  caller.decisions.get(action)?.allowed === true;

/** Whether the caller sees bodies of policies, and what they hide of tables. */
export const managesPolicies = ({ claims }: Pick<Caller, 'claims'>): boolean =>
  claims.privileges?.includes('MANAGE POLICIES') === true;

/** @throws FORBIDDEN unless the catalog allows the caller the action. */
export function requireAction(caller: Pick<Caller, 'decisions'>, action: Action): void {
  const decision = caller.decisions.get(action) ?? { allowed: false, reason: `the catalog does not know ${action}` };
  if (!decision.allowed) throw new SkeinError('FORBIDDEN', decision.reason);
}
