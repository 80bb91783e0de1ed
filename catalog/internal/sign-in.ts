import type { SignInReply } from '#proto/generated/skein/catalog/v1/SignInReply.ts';
import type { SignInRequest } from '#proto/generated/skein/catalog/v1/SignInRequest.ts';
import { isOutsideToken } from '#shared/authorization/outside-token.ts';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import type { CatalogContext } from '../context.ts';
import type { NamedPrincipal } from '../principal/sign-in-log.ts';
import { reasonOf } from '../principal/refused-sign-in.ts';
import { requireNoFactor } from '../factor/required-factor.ts';
import { userByPassword } from '../principal/password-of-user.ts';
import { authenticateClient } from '../principal/authenticate-client.ts';
import { namedByRefusal, signInByOutsideToken } from '../principal/sign-in-by-outside-token.ts';
import { signInByToken } from '../principal/sign-in-by-token.ts';
import { subjectOf, type TokenPrincipal } from '../store/postgres/principal-store.ts';
import { ACCESS_TOKEN_PREFIX, CLIENT_SECRET_PREFIX, sha256 } from '../token/secret.ts';

type Method = Extract<TokenClaims['auth_method'], 'password' | 'client' | 'pat' | 'federated'>;

/** A principal that has signed in, the scopes of its token, and the moment at which the token ends at the latest. */
type SignedIn = {
  readonly principal: TokenPrincipal;
  readonly scopes: readonly string[];
  readonly endsAtMs: number;
};

const WAYS: Readonly<Record<Method, (context: CatalogContext, request: SignInRequest) => Promise<SignedIn>>> = {
  password: async (context, { tenant, user, address, password }) => {
    const principal = await userByPassword(context, { tenant, user, address }, password);
    requireNoFactor(context.config, principal, address);
    return signedIn(principal);
  },
  client: async (context, request) => signedIn(await clientOf(context, request)),
  pat: async (context, { user, password, tenant, address }) => {
    const place = { address, user: user || undefined, tenant: tenant || undefined };
    const { principal, scopes, expiresAt } = await signInByToken(context, password, place);
    return { principal, scopes, endsAtMs: expiresAt.getTime() };
  },
  federated: async (context, { user, password, tenant, address }) => {
    if (context.config['catalog.outside_bearer'] === 'off') throw wrong();
    const place = { address, user: user || undefined, tenant: tenant || undefined };
    const { principal, scopes, expiresAtMs } = await signInByOutsideToken(context, password, place);
    return { principal, scopes, endsAtMs: expiresAtMs };
  },
};

const signedIn = (principal: TokenPrincipal): SignedIn => ({
  principal,
  scopes: principal.scopes,
  endsAtMs: Number.POSITIVE_INFINITY,
});

/** Decided by the text alone, so that the time tells nothing about who is there. */
function methodOf(shown: string): Method {
  if (shown.startsWith(CLIENT_SECRET_PREFIX)) return 'client';
  if (shown.startsWith(ACCESS_TOKEN_PREFIX)) return 'pat';
  return isOutsideToken(shown) ? 'federated' : 'password';
}

/**
 * Signs in who shows a user and a password at a door of the coordinator, or the id and the secret of a client, or a personal access token of
 * the user or a token of an identity provider (of anybody, without a user), and issues a token. Wrong password, unknown user and service account without a password are one
 * answer, which takes the same time.
 * @throws WRONG_PASSWORD, FACTOR_REQUIRED, TOO_MANY_SIGN_INS
 */
export async function signIn(context: CatalogContext, request: SignInRequest): Promise<SignInReply> {
  const method = methodOf(request.password);
  try {
    const { principal, scopes, endsAtMs } = await WAYS[method](context, request);
    const nowMs = context.clock.nowMs();
    const { token, expiresAtMs } = await context.issuer.issue(
      {
        ...subjectOf(principal),
        scopes,
        authMethod: method,
        ...(method === 'password' ? { sid: newUuidV7(nowMs), amr: ['pwd'], authenticatedAtMs: nowMs } : {}),
      },
      Math.min(context.config['catalog.token_ttl'], endsAtMs - nowMs),
      nowMs,
    );
    const factors = method === 'password' ? { factors: ['pwd'] } : {};
    await context.signIns.granted(principal, method, { address: request.address, agent: request.agent, ...factors });
    context.metrics.signIns.inc({ method, outcome: 'granted' });
    return { token, expires_at_ms: String(expiresAtMs) };
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    const outcome = outcomeOf(error);
    if (outcome === 'refused' || outcome === 'throttled') {
      const seen = { address: request.address, agent: request.agent, reason: reasonOf(error) };
      context.signIns.refused(namedBy(method, request, error), method, seen);
    }
    context.metrics.signIns.inc({ method, outcome });
    throw error;
  }
}

function namedBy(method: Method, { user, tenant, password }: SignInRequest, error: SkeinError): NamedPrincipal {
  switch (method) {
    case 'client':
      return { by: 'client', clientId: user };
    case 'pat':
      return { by: 'token', sha256: sha256(password).toString('hex') };
    case 'federated':
      return namedByRefusal(error);
    case 'password':
      return { by: 'name', tenant, name: user };
    default:
      return unreachable(method);
  }
}

/** The tenant is that of the client, whichever the request names. */
async function clientOf(
  { passwords, store, clock }: CatalogContext,
  { user, password, tenant, address }: SignInRequest,
): Promise<TokenPrincipal> {
  const attempt = { tenant, user, address };
  passwords.requireAllowed(attempt);
  const client = await authenticateClient(store.db, { clientId: user, secret: password }, clock.nowMs());
  if (client?.principal.status === 'ACTIVE' && (tenant === '' || tenant === client.principal.tenant)) {
    return client.principal;
  }
  passwords.failed(attempt);
  throw wrong();
}

const wrong = (): SkeinError => new SkeinError('WRONG_PASSWORD', 'the user or the password is wrong');

function outcomeOf({ code, cause }: SkeinError): string {
  if (code === 'TOO_MANY_SIGN_INS') return cause === undefined ? 'throttled' : 'busy';
  return code === 'WRONG_PASSWORD' || code === 'FACTOR_REQUIRED' ? 'refused' : 'failed';
}
