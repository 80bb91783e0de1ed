import { methodOf } from '../../../factor/required-factor.ts';
import type { CatalogContext } from '../../../context.ts';
import { redeemCode, type AppSignedIn } from '../../../sign-in/app-sign-ins.ts';
import { grantScopes, type RequestedScopes } from '../../../token/grant-scopes.ts';
import type { Answer } from '../../rest-operation.ts';
import { countRequest, issue } from './issue.ts';
import { OAuthError } from './oauth-error.ts';
import type { Shown } from './read-credentials.ts';
import { requiredField, type TokenForm } from './token-form.ts';

/** RFC 6749, 4.1.3, with PKCE (RFC 7636): a person's sign-in, whose code a browser has brought to the client. */
export async function authorizationCodeGrant(
  context: CatalogContext,
  form: TokenForm,
  { address, agent }: Shown,
): Promise<Answer> {
  const redeemed = await redeemCode(context, {
    code: requiredField(form, 'code'),
    clientId: requiredField(form, 'client_id'),
    redirectUri: requiredField(form, 'redirect_uri'),
    verifier: requiredField(form, 'code_verifier'),
    address,
    agent,
  });
  if (redeemed === undefined) {
    const why =
      'the code is unknown, has expired, was used before, or was made for another client, address or verifier';
    throw new OAuthError('invalid_grant', why);
  }
  const { signIn, principal } = redeemed;
  countRequest(context, principal.id);
  const seen = { address, agent, factors: signIn.amr, client: signIn.clientId };
  await context.signIns.granted(principal, methodOf(signIn.amr), seen);
  return issueToPerson(context, redeemed, 'all', signIn.startedAt.getTime());
}

/** The answer that gives a person's sign-in its next tokens. */
export function issueToPerson(
  context: CatalogContext,
  { signIn, principal, refreshToken }: AppSignedIn,
  scopes: Exclude<RequestedScopes, 'unknown'>,
  issuedAtMs = context.clock.nowMs(),
): Promise<Answer> {
  const allowed = signIn.scopes.filter((scope) => principal.scopes.includes(scope));
  return issue(context, {
    principal,
    scopes: grantScopes(scopes, allowed),
    authMethod: methodOf(signIn.amr),
    authenticatedAtMs: signIn.authenticatedAt.getTime(),
    endsAtMs: signIn.endsAt.getTime(),
    issuedAtMs,
    person: { sid: signIn.id, amr: signIn.amr },
    refreshToken,
  });
}
