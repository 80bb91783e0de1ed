import { SCOPES } from '#shared/authorization/token-claims.ts';
import { requestedScopes, type RequestedScopes } from '../../../token/grant-scopes.ts';
import { OAuthError } from './oauth-error.ts';
import type { TokenForm } from './token-form.ts';

/** The scopes that a form asks for. @throws OAuthError invalid_scope when it names only words that nobody knows (RFC 6749, 5.2) */
export function takeScopes(form: TokenForm): Exclude<RequestedScopes, 'unknown'> {
  const requested = requestedScopes(form['scope']);
  if (requested !== 'unknown') return requested;
  throw new OAuthError('invalid_scope', `scope names none of ${Object.keys(SCOPES).join(', ')}`);
}
