import { SCOPES } from '#shared/authorization/token-claims.ts';
import { atLocalhost } from '#shared/config/loopback.ts';
import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../../../context.ts';
import { ok, type Answer, type PublicRequest } from '../../rest-operation.ts';
import { GRANT_TYPES } from './get-token.ts';

/** `GET /.well-known/oauth-authorization-server` (RFC 8414). @throws NOT_FOUND where the catalog does not know its own address */
export function getAuthorizationServer(_context: CatalogContext, { origin: known }: PublicRequest): Promise<Answer> {
  const origin = known === undefined ? undefined : atLocalhost(known);
  if (origin === undefined) throw new SkeinError('NOT_FOUND', 'behind a proxy catalog.public_url must be set');
  const clients = ['none', 'client_secret_basic', 'client_secret_post'];
  return Promise.resolve(
    ok({
      issuer: origin,
      authorization_endpoint: `${origin}/oauth/authorize`,
      token_endpoint: `${origin}/v1/oauth/tokens`,
      revocation_endpoint: `${origin}/oauth/revoke`,
      jwks_uri: `${origin}/.well-known/jwks.json`,
      scopes_supported: Object.keys(SCOPES),
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: [...GRANT_TYPES],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: clients,
      revocation_endpoint_auth_methods_supported: clients,
      authorization_response_iss_parameter_supported: true,
    }),
  );
}
