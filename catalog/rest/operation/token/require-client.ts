import type { CatalogContext } from '../../../context.ts';
import { authenticateClient } from '../../../principal/authenticate-client.ts';
import type { SeenSignIn } from '../../../principal/sign-in-log.ts';
import type { ClientRow } from '../../../store/postgres/client-store.ts';
import type { Credentials } from './read-credentials.ts';
import { countRequest } from './issue.ts';
import { invalidClient, OAuthError } from './oauth-error.ts';

/**
 * Returns the active client of the credentials and counts its request. Unknown client, dropped client and wrong secret get the same answer.
 * @throws OAuthError invalid_client; unauthorized_client when it is suspended; 429
 */
export async function requireClient(
  context: CatalogContext,
  credentials: Credentials,
  seen: SeenSignIn,
): Promise<ClientRow> {
  if (credentials.kind !== 'secret') throw invalidClient('client_secret is missing');
  const client = await authenticateClient(context.store.db, credentials, context.clock.nowMs());
  if (client?.principal.status !== 'ACTIVE') {
    const clientId = client?.clientId ?? credentials.clientId;
    context.signIns.refused(clientId === undefined ? { by: 'nobody' } : { by: 'client', clientId }, 'client', {
      ...seen,
      reason: client === undefined ? 'wrong' : 'not active',
    });
  }
  if (client === undefined) throw invalidClient('the client is unknown or its secret is wrong');
  if (client.principal.status !== 'ACTIVE') {
    throw new OAuthError('unauthorized_client', 'the service account is not active');
  }
  countRequest(context, client.principal.id);
  return client;
}
