import type { CatalogContext } from '../../../context.ts';
import { SkeinError } from '#shared/error.ts';
import { addressKey } from '#shared/newcomers/address-key.ts';
import { endAppSignIn, isAppToken, revokeAppSignIn } from '../../../sign-in/app-sign-ins.ts';
import { findAppSignIn } from '../../../store/postgres/app-sign-in-store.ts';
import { deleteFamily } from '../../../store/postgres/refresh-token-store.ts';
import { transact } from '../../../store/postgres/transact.ts';
import { parseRefreshToken } from '../../../token/refresh-token.ts';
import type { Answer, PublicRequest } from '../../rest-operation.ts';
import { refuseFor } from './issue.ts';
import { NO_STORE, oauthAnswer, OAuthError } from './oauth-error.ts';
import { readCredentials } from './read-credentials.ts';
import { requireClient } from './require-client.ts';
import { parseTokenForm, requiredField } from './token-form.ts';

const DONE: Answer = { status: 200, headers: NO_STORE };

/**
 * `POST /oauth/revoke` (RFC 7009): a token of a person's sign-in ends the sign-in, a client's refresh token its family; who shows the
 * token may end it. A token that is unknown or over has ended already, which is no error. A client’s access token cannot be ended alone.
 */
export async function revokeToken(context: CatalogContext, request: PublicRequest): Promise<Answer> {
  try {
    refuseFor(context.tokenLimits.address.take(addressKey(request.remoteAddress)), 'from this address');
    const { headers, remoteAddress: address } = request;
    const form = parseTokenForm(request.payload, headers['content-type'], headers['content-encoding']);
    const token = requiredField(form, 'token');
    if (isAppToken(token)) {
      if (await revokeAppSignIn(context, { token, clientId: form['client_id'] })) return DONE;
      throw new OAuthError('invalid_grant', 'the token was issued to another client');
    }
    const family = parseRefreshToken(token);
    if (family !== undefined) {
      const client = await requireClient(context, readCredentials(headers.authorization, form), { address });
      await transact(context.store.db, (tx) => deleteFamily(tx, family.family, client.clientId));
      return DONE;
    }
    return await revokeAccessToken(context, token);
  } catch (error) {
    if (error instanceof OAuthError) return oauthAnswer(error);
    throw error;
  }
}

async function revokeAccessToken(context: CatalogContext, token: string): Promise<Answer> {
  const claims = await context.verifier.verifyToken(token).catch((error: unknown) => {
    if (error instanceof SkeinError && error.code === 'UNAUTHENTICATED') return undefined;
    throw error;
  });
  if (claims === undefined) return DONE;
  const signIn = claims.sid === undefined ? undefined : await findAppSignIn(context.store.db, claims.sid);
  if (signIn === undefined) {
    throw new OAuthError(
      'unsupported_token_type',
      'only the tokens of a person’s sign-in by a program are revoked alone',
    );
  }
  await endAppSignIn(context, signIn.id, 'revoked');
  return DONE;
}
