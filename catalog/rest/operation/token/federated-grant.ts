import type { CatalogContext } from '../../../context.ts';
import { reasonOf } from '../../../principal/refused-sign-in.ts';
import { namedByRefusal, signInByOutsideToken } from '../../../principal/sign-in-by-outside-token.ts';
import { grantScopes } from '../../../token/grant-scopes.ts';
import type { Answer } from '../../rest-operation.ts';
import { ACCESS_TOKEN_TYPE, asRefusal, countRequest, issue } from './issue.ts';
import { OAuthError } from './oauth-error.ts';
import type { Shown } from './read-credentials.ts';
import { requiredField, type TokenForm } from './token-form.ts';
import { takeScopes } from './take-scopes.ts';

const ANSWERED_TYPES = [ACCESS_TOKEN_TYPE, 'urn:ietf:params:oauth:token-type:jwt'];

/** RFC 8693 with a token of an identity provider: the service account that it is gets one of ours, which ends with it and renews by the next. */
export async function federatedGrant(
  context: CatalogContext,
  form: TokenForm,
  { address, agent }: Omit<Shown, 'credentials'>,
): Promise<Answer> {
  const token = requiredField(form, 'subject_token');
  const requested = form['requested_token_type'];
  if (requested !== undefined && !ANSWERED_TYPES.includes(requested)) {
    throw new OAuthError('invalid_request', `requested_token_type must be ${ANSWERED_TYPES.join(' or ')}`);
  }
  if (form['actor_token'] !== undefined) throw new OAuthError('invalid_request', 'actor_token is not served');
  const { principal, scopes, expiresAtMs } = await asRefusal(
    'subject_token',
    () => signInByOutsideToken(context, token, { address }),
    (error) => {
      context.signIns.refused(namedByRefusal(error), 'federated', { address, agent, reason: reasonOf(error) });
      context.metrics.signIns.inc({ method: 'federated', outcome: 'refused' });
    },
  );
  countRequest(context, principal.id);
  await context.signIns.granted(principal, 'federated', { address, agent });
  context.metrics.signIns.inc({ method: 'federated', outcome: 'granted' });
  return issue(context, {
    principal,
    scopes: grantScopes(takeScopes(form), scopes),
    authMethod: 'federated',
    endsAtMs: expiresAtMs,
    ...(requested === undefined ? {} : { issuedTokenType: requested }),
  });
}
