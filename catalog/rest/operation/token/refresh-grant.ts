import type { CatalogContext } from '../../../context.ts';
import { isAppToken, renewAppSignIn } from '../../../sign-in/app-sign-ins.ts';
import { deleteFamily, replaceToken } from '../../../store/postgres/refresh-token-store.ts';
import { grantScopes } from '../../../token/grant-scopes.ts';
import { newRefreshToken, parseRefreshToken } from '../../../token/refresh-token.ts';
import type { Answer } from '../../rest-operation.ts';
import { issueToPerson } from './authorization-code-grant.ts';
import { lifetimeMs } from '../../../token/lifetime.ts';
import { countRequest, issue } from './issue.ts';
import { OAuthError } from './oauth-error.ts';
import type { Shown } from './read-credentials.ts';
import { requireClient } from './require-client.ts';
import { requiredField, type TokenForm } from './token-form.ts';
import { transact } from '../../../store/postgres/transact.ts';
import { takeScopes } from './take-scopes.ts';

/**
 * RFC 6749, 6, with rotation (RFC 9700, 4.14.2): each refresh token is valid once. A reused one ends its family, because either the client
 * or a thief has the newer one. The client shows its secret as well. A family ends `catalog.refresh_token_ttl` after it began; no refresh
 * extends it.
 */
export async function refreshGrant(
  context: CatalogContext,
  form: TokenForm,
  { credentials, address, agent }: Shown,
): Promise<Answer> {
  const { store, clock, log } = context;
  const text = requiredField(form, 'refresh_token');
  if (isAppToken(text)) return refreshOfPerson(context, form, text);
  const client = await requireClient(context, credentials(), { address, agent });
  // Before the token is used up: a client that misspells a scope keeps it.
  const scopes = takeScopes(form);
  const shown = parseRefreshToken(text);
  if (shown === undefined) throw invalidGrant();
  const { clientId } = client;
  const next = newRefreshToken(shown.family);
  const now = new Date(clock.nowMs());
  const family = await transact(store.db, (tx) => replaceToken(tx, { ...shown, clientId, now }, next.sha256));
  if (family === undefined || family.sessionEpoch < client.principal.sessionEpoch) {
    const ended = await transact(store.db, (tx) => deleteFamily(tx, shown.family, clientId));
    if (ended) log.warn({ clientId, family: shown.family }, 'a refresh token came again, or too late: its family ends');
    throw invalidGrant();
  }
  if (lifetimeMs(context, family.authenticatedAtMs) === 0) throw invalidGrant();
  const allowed = family.scopes.filter((scope) => client.scopes.includes(scope));
  return issue(context, {
    principal: client.principal,
    scopes: grantScopes(scopes, allowed),
    authMethod: 'client',
    authenticatedAtMs: family.authenticatedAtMs,
    refreshToken: next.text,
  });
}

/** The same for a person's sign-in, whose client has no secret: the token is all it shows. */
async function refreshOfPerson(context: CatalogContext, form: TokenForm, token: string): Promise<Answer> {
  const clientId = requiredField(form, 'client_id');
  const scopes = takeScopes(form);
  const renewed = await renewAppSignIn(context, { token, clientId });
  if (renewed === undefined) throw invalidGrant();
  countRequest(context, renewed.principal.id);
  if (lifetimeMs(context, renewed.signIn.authenticatedAt.getTime()) === 0) throw invalidGrant();
  return issueToPerson(context, renewed, scopes);
}

const invalidGrant = (): OAuthError =>
  new OAuthError(
    'invalid_grant',
    'the refresh token is unknown, has expired, was used before, or is of another client',
  );
