import type { CatalogContext } from '../../../context.ts';
import type { NamedPrincipal } from '../../../principal/sign-in-log.ts';
import { reasonOf } from '../../../principal/refused-sign-in.ts';
import { namesOf, signInByAssertion } from '../../../principal/sign-in-by-assertion.ts';
import { grantScopes } from '../../../token/grant-scopes.ts';
import type { Answer } from '../../rest-operation.ts';
import { asRefusal, countRequest, issue } from './issue.ts';
import type { Shown } from './read-credentials.ts';
import { takeScopes } from './take-scopes.ts';
import { requiredField, type TokenForm } from './token-form.ts';

/** RFC 7523, 2.1: a service account signs an assertion with one of its keys, and gets a token with the scopes of its roles. */
export async function jwtBearerGrant(
  context: CatalogContext,
  form: TokenForm,
  { address, agent }: Omit<Shown, 'credentials'>,
): Promise<Answer> {
  const assertion = requiredField(form, 'assertion');
  const principal = await asRefusal(
    'assertion',
    () => signInByAssertion(context, assertion, address),
    (error) => context.signIns.refused(issuerOf(assertion), 'keypair', { address, agent, reason: reasonOf(error) }),
  );
  countRequest(context, principal.id);
  await context.signIns.granted(principal, 'keypair', { address, agent });
  return issue(context, { principal, scopes: grantScopes(takeScopes(form), principal.scopes), authMethod: 'keypair' });
}

function issuerOf(assertion: string): NamedPrincipal {
  const named = namesOf(assertion);
  return named === undefined ? { by: 'nobody' } : { by: 'issuer', issuer: named.issuer };
}
