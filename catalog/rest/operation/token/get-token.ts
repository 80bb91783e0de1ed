import type { CatalogContext } from '../../../context.ts';
import { addressKey } from '#shared/newcomers/address-key.ts';
import type { Answer, PublicRequest } from '../../rest-operation.ts';
import { authorizationCodeGrant } from './authorization-code-grant.ts';
import { clientCredentialsGrant } from './client-credentials-grant.ts';
import { exchangeGrant } from './exchange-grant.ts';
import { refuseFor } from './issue.ts';
import { oauthAnswer, OAuthError } from './oauth-error.ts';
import { readCredentials, type Shown } from './read-credentials.ts';
import { jwtBearerGrant } from './jwt-bearer-grant.ts';
import { patGrant } from './pat-grant.ts';
import { refreshGrant } from './refresh-grant.ts';
import { parseTokenForm, requiredField, type TokenForm } from './token-form.ts';

/** Maximum size of a form: two tokens and some words. */
export const TOKEN_BODY_BYTES_MAX = 64 * 1024;

type Grant = (context: CatalogContext, form: TokenForm, shown: Shown) => Promise<Answer>;

const GRANTS: ReadonlyMap<string, Grant> = new Map([
  ['authorization_code', authorizationCodeGrant],
  ['client_credentials', clientCredentialsGrant],
  ['refresh_token', refreshGrant],
  ['urn:ietf:params:oauth:grant-type:token-exchange', exchangeGrant],
  ['pat', patGrant],
  ['urn:ietf:params:oauth:grant-type:jwt-bearer', jwtBearerGrant],
]);

export const GRANT_TYPES: readonly string[] = [...GRANTS.keys()];

/** `POST /v1/oauth/tokens`: grants and errors as RFC 6749 and RFC 8693 have them, never in Iceberg's envelope. */
export async function getToken(context: CatalogContext, request: PublicRequest): Promise<Answer> {
  try {
    refuseFor(context.tokenLimits.address.take(addressKey(request.remoteAddress)), 'from this address');
    const { headers } = request;
    const form = parseTokenForm(request.payload, headers['content-type'], headers['content-encoding']);
    const grant = GRANTS.get(requiredField(form, 'grant_type'));
    if (grant === undefined) {
      throw new OAuthError('unsupported_grant_type', `grant_type is one of ${GRANT_TYPES.join(', ')}`);
    }
    return await grant(context, form, {
      credentials: () => readCredentials(headers.authorization, form),
      address: request.remoteAddress,
      agent: headers['user-agent'] ?? '',
    });
  } catch (error) {
    if (error instanceof OAuthError) return oauthAnswer(error);
    throw error;
  }
}
