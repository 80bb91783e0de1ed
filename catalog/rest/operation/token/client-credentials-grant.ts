import type { CatalogContext } from '../../../context.ts';
import { insertFamily } from '../../../store/postgres/refresh-token-store.ts';
import { grantScopes } from '../../../token/grant-scopes.ts';
import { newRefreshToken } from '../../../token/refresh-token.ts';
import type { Answer } from '../../rest-operation.ts';
import { issue } from './issue.ts';
import type { Shown } from './read-credentials.ts';
import { requireClient } from './require-client.ts';
import type { TokenForm } from './token-form.ts';
import { transact } from '../../../store/postgres/transact.ts';
import { takeScopes } from './take-scopes.ts';

/**
 * RFC 6749, 4.4: authenticates a service account by its secret. The answer includes a refresh token, although the RFC advises against it:
 * DuckDB's client renews by it, and no other grant of the service specification issues a first one.
 */
export async function clientCredentialsGrant(
  context: CatalogContext,
  form: TokenForm,
  { credentials, address, agent }: Shown,
): Promise<Answer> {
  const client = await requireClient(context, credentials(), { address, agent });
  const scopes = grantScopes(takeScopes(form), client.scopes);
  const refresh = newRefreshToken();
  const nowMs = context.clock.nowMs();
  const family = {
    id: refresh.family,
    clientId: client.clientId,
    secretSha256: refresh.sha256,
    scopes,
    sessionEpoch: client.principal.sessionEpoch,
    authenticatedAtMs: nowMs,
    expiresAtMs: nowMs + context.config['catalog.refresh_token_ttl'],
  };
  await transact(context.store.db, (tx) => insertFamily(tx, family));
  await context.signIns.granted(client.principal, 'client', { address, agent });
  return issue(context, {
    principal: client.principal,
    scopes,
    authMethod: 'client',
    issuedAtMs: nowMs,
    refreshToken: refresh.text,
  });
}
