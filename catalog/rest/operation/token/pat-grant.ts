import type { CatalogContext } from '../../../context.ts';
import { reasonOf } from '../../../principal/refused-sign-in.ts';
import { signInByToken } from '../../../principal/sign-in-by-token.ts';
import { sha256 } from '../../../token/secret.ts';
import { grantScopes } from '../../../token/grant-scopes.ts';
import type { Answer } from '../../rest-operation.ts';
import { asRefusal, countRequest, issue } from './issue.ts';
import { OAuthError } from './oauth-error.ts';
import type { Shown } from './read-credentials.ts';
import { takeScopes } from './take-scopes.ts';
import { requiredField, type TokenForm } from './token-form.ts';

/** The client id of everybody who exchanges a personal access token (service specification, Token endpoint). */
const CLIENT_ID = 'service-sql';

/** Exchanges a personal access token for an access token, which ends with it. */
export async function patGrant(
  context: CatalogContext,
  form: TokenForm,
  { address, agent }: Omit<Shown, 'credentials'>,
): Promise<Answer> {
  if (requiredField(form, 'client_id') !== CLIENT_ID) {
    throw new OAuthError('invalid_request', `client_id must be ${CLIENT_ID}`);
  }
  const shown = requiredField(form, 'pat');
  const { principal, scopes, expiresAt } = await asRefusal(
    'pat',
    () => signInByToken(context, shown, { address }),
    (error) => {
      const token = { by: 'token', sha256: sha256(shown).toString('hex') } as const;
      context.signIns.refused(token, 'pat', { address, agent, reason: reasonOf(error) });
    },
  );
  countRequest(context, principal.id);
  await context.signIns.granted(principal, 'pat', { address, agent });
  return issue(context, {
    principal,
    scopes: grantScopes(takeScopes(form), scopes),
    authMethod: 'pat',
    endsAtMs: expiresAt.getTime(),
  });
}
