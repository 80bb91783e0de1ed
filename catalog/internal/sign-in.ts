import type { SignInReply } from '#proto/generated/skein/catalog/v1/SignInReply.ts';
import type { SignInRequest } from '#proto/generated/skein/catalog/v1/SignInRequest.ts';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalId } from '#shared/id.ts';
import { unreachable } from '#shared/must.ts';
import type { CatalogContext } from '../context.ts';
import type { NamedPrincipal } from '../principal/sign-in-log.ts';
import { authenticateClient } from '../principal/authenticate-client.ts';
import { signInByToken } from '../principal/sign-in-by-token.ts';
import { subjectOf, type TokenPrincipal } from '../store/postgres/principal-store.ts';
import { recordEvent } from '../store/postgres/audit-store.ts';
import { requireTenant } from '../store/postgres/catalog-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { findPasswordHolder } from '../store/postgres/shown-credentials.ts';
import { countFailure, countUnknown, isLocked, unlock } from '../store/postgres/sign-in-store.ts';
import { transact } from '../store/postgres/transact.ts';
import { ACCESS_TOKEN_PREFIX, CLIENT_SECRET_PREFIX, sha256 } from '../token/secret.ts';

type Method = Extract<TokenClaims['auth_method'], 'password' | 'client' | 'pat'>;

/** A principal that has signed in, the scopes of its token, and the moment at which the token ends at the latest. */
type SignedIn = {
  readonly principal: TokenPrincipal;
  readonly scopes: readonly string[];
  readonly endsAtMs: number;
};

const WAYS: Readonly<Record<Method, (context: CatalogContext, request: SignInRequest) => Promise<SignedIn>>> = {
  password: async (context, request) => signedIn(await userOf(context, request)),
  client: async (context, request) => signedIn(await clientOf(context, request)),
  pat: async (context, { user, password, tenant, address }) => {
    const place = { address, user: user || undefined, tenant: tenant || undefined };
    const { principal, scopes, expiresAt } = await signInByToken(context, password, place);
    return { principal, scopes, endsAtMs: expiresAt.getTime() };
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
  return shown.startsWith(ACCESS_TOKEN_PREFIX) ? 'pat' : 'password';
}

/**
 * Signs in who shows a user and a password at a door of the coordinator, or the id and the secret of a client, or a personal access token of
 * the user (of anybody, without a user), and issues a token. Wrong password, unknown user and service account without a password are one
 * answer, which takes the same time.
 * @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS
 */
export async function signIn(context: CatalogContext, request: SignInRequest): Promise<SignInReply> {
  const method = methodOf(request.password);
  try {
    const { principal, scopes, endsAtMs } = await WAYS[method](context, request);
    const nowMs = context.clock.nowMs();
    const { token, expiresAtMs } = await context.issuer.issue(
      { ...subjectOf(principal), scopes, authMethod: method },
      Math.min(context.config['catalog.token_ttl'], endsAtMs - nowMs),
      nowMs,
    );
    await context.signIns.granted(principal, method, request.address);
    context.metrics.signIns.inc({ method, outcome: 'granted' });
    return { token, expires_at_ms: String(expiresAtMs) };
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    const outcome = outcomeOf(error);
    if (outcome === 'refused' || outcome === 'throttled') {
      context.signIns.refused(namedBy(method, request), method, request.address);
    }
    context.metrics.signIns.inc({ method, outcome });
    throw error;
  }
}

function namedBy(method: Method, { user, tenant, password }: SignInRequest): NamedPrincipal {
  switch (method) {
    case 'client':
      return { by: 'client', clientId: user };
    case 'pat':
      return { by: 'token', sha256: sha256(password).toString('hex') };
    case 'password':
      return { by: 'name', tenant, name: user };
    default:
      return unreachable(method);
  }
}

const NOBODY = '00000000-0000-0000-0000-000000000000' as PrincipalId;

/** Wrong passwords lock a user for a while; the lock refuses the right one, too, and the answer is the same. */
async function userOf(
  { passwords, store, clock, config }: CatalogContext,
  { user, password, tenant, address }: SignInRequest,
): Promise<TokenPrincipal> {
  const attempt = { tenant, user, address };
  passwords.requireAllowed(attempt);
  const holder = user.includes('\0') ? undefined : await findPasswordHolder(store.db, tenant || undefined, user);
  const isRight = await passwords.matches(attempt, password, holder?.passwordHash ?? undefined);
  const principal = holder?.principal;
  const now = new Date(clock.nowMs());
  const isOpen = !(await isLocked(store.db, principal?.id ?? NOBODY, now));
  if (principal !== undefined && isOpen && isRight && principal.status === 'ACTIVE') {
    await transact(store.db, (tx) => unlock(tx, principal.id));
    return principal;
  }
  const rule = { after: config['principal.lock_after'], forMs: config['principal.lock_time'] };
  await transact(store.db, async (tx) => {
    // Every refusal writes a count: its time must not tell who is there.
    if (principal === undefined || !isOpen || isRight) return countUnknown(tx);
    if (await countFailure(tx, principal.id, now, rule)) await recordLock(tx, principal, now);
  });
  throw wrong();
}

async function recordLock(tx: Tx, { id, username, tenant: name }: TokenPrincipal, now: Date): Promise<void> {
  const tenant = { id: await requireTenant(tx, name), name };
  await recordEvent(tx, tenant, now, { type: 'lock_user', actor: null, target: { id, name: username } });
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
  return code === 'WRONG_PASSWORD' ? 'refused' : 'failed';
}
