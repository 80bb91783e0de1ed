import type { SignInReply } from '#proto/generated/skein/catalog/v1/SignInReply.ts';
import type { SignInRequest } from '#proto/generated/skein/catalog/v1/SignInRequest.ts';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../context.ts';
import { authenticateClient } from '../principal/authenticate-client.ts';
import { findPasswordHolder, type TokenPrincipal } from '../store/postgres/principal-store.ts';
import { scopesOfRoles } from '../store/postgres/role-store.ts';
import { countFailure, countSuccess, isLocked } from '../store/postgres/sign-in-store.ts';
import { transact } from '../store/postgres/transact.ts';
import { CLIENT_SECRET_PREFIX } from '../token/secret.ts';

type Method = Extract<TokenClaims['auth_method'], 'password' | 'client'>;

/**
 * Signs in who shows a user and a password at a door of the coordinator, or the id and the secret of a client, and issues a token. Wrong
 * password, unknown user and service account without a password are one answer, which takes the same time.
 * @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS
 */
export async function signIn(context: CatalogContext, request: SignInRequest): Promise<SignInReply> {
  // Decided by the text alone, so that the time tells nothing about who is there.
  const method: Method = request.password.startsWith(CLIENT_SECRET_PREFIX) ? 'client' : 'password';
  try {
    const principal = method === 'client' ? await clientOf(context, request) : await userOf(context, request);
    const { token, expiresAtMs } = await context.issuer.issue(
      {
        principal: principal.id,
        username: principal.username,
        roles: principal.roles,
        sessionEpoch: principal.sessionEpoch,
        tenant: principal.tenant,
        scopes: principal.scopes ?? (await scopesOfRoles(context.store.db, principal.id)),
        authMethod: method,
      },
      context.config['catalog.token_ttl'],
    );
    context.metrics.signIns.inc({ method, outcome: 'granted' });
    return { token, expires_at_ms: String(expiresAtMs) };
  } catch (error) {
    if (error instanceof SkeinError) context.metrics.signIns.inc({ method, outcome: outcomeOf(error) });
    throw error;
  }
}

/** Wrong passwords lock a user for a while; the lock refuses the right one, too, and the answer is the same. */
async function userOf(
  { passwords, store, clock, config }: CatalogContext,
  { user, password, tenant, address }: SignInRequest,
): Promise<TokenPrincipal> {
  const attempt = { tenant, user, address };
  passwords.requireAllowed(attempt);
  const holder = user.includes('\0') ? undefined : await findPasswordHolder(store.db, tenant || undefined, user);
  const isRight = await passwords.matches(attempt, password, holder?.passwordHash ?? undefined);
  if (holder === undefined) throw wrong();
  const { id, status } = holder.principal;
  const now = new Date(clock.nowMs());
  if (await isLocked(store.db, id, now)) throw wrong();
  if (!isRight) {
    const rule = { after: config['principal.lock_after'], forMs: config['principal.lock_time'] };
    await transact(store.db, (tx) => countFailure(tx, id, now, rule));
  }
  if (!isRight || status !== 'ACTIVE') throw wrong();
  await transact(store.db, (tx) => countSuccess(tx, id, now));
  return holder.principal;
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
