import { isOutsideToken } from '#shared/authorization/outside-token.ts';
import { SkeinError } from '#shared/error.ts';
import { hasExpired, scopesOf, type TokenClaims } from '#shared/authorization/token-claims.ts';
import type { CatalogContext } from '../../../context.ts';
import { requireShownFactor, type FactorHolder } from '../../../factor/required-factor.ts';
import type { SeenSignIn } from '../../../principal/sign-in-log.ts';
import { findAppSignIn } from '../../../store/postgres/app-sign-in-store.ts';
import { maySignIn } from '../../../store/postgres/principal-store.ts';
import { findTokenPrincipal } from '../../../store/postgres/shown-credentials.ts';
import { grantScopes } from '../../../token/grant-scopes.ts';
import type { TokenSubject } from '../../../token/token-issuer.ts';
import type { Answer } from '../../rest-operation.ts';
import { federatedGrant } from './federated-grant.ts';
import { lifetimeMs } from '../../../token/lifetime.ts';
import { ACCESS_TOKEN_TYPE, countRequest, issue } from './issue.ts';
import { invalidClient, OAuthError } from './oauth-error.ts';
import type { Credentials, Shown } from './read-credentials.ts';
import { requireClient } from './require-client.ts';
import { requiredField, type TokenForm } from './token-form.ts';
import { takeScopes } from './take-scopes.ts';

/** Token types that name our access tokens. */
const TYPES = [ACCESS_TOKEN_TYPE, 'urn:ietf:params:oauth:token-type:jwt'];

/** Token types that a token of an identity provider may have. */
const OUTSIDE_TYPES = ['urn:ietf:params:oauth:token-type:jwt', 'urn:ietf:params:oauth:token-type:id_token'];

/** The caller: a principal that proved itself by its secret, or by a token of its own. */
type Caller = { readonly sub: string; readonly tenant: string; readonly bySecret: boolean };

/**
 * RFC 8693: exchanges an access token of ours for a new one of the same principal, with no more scopes than it has.
 *
 * With a bearer token alone the sign-in continues: the new token keeps the time at which the principal signed in, and all tokens of the
 * sign-in end `catalog.refresh_token_ttl` after it. A client that shows its secret signs in anew, and may exchange an expired token of its
 * own; a person's token stays that of the sign-in whose password was shown, whoever exchanges it. A token that an operator minted is never exchanged: whoever finds it cannot keep it alive.
 *
 * With a token of an identity provider as `subject_token`, of type `jwt` or `id_token`, it is `federatedGrant`.
 *
 * Java's client renews its token with the old one as `subject_token` and as bearer; once it has expired, with the secret in HTTP Basic. A
 * fault of the subject token is `invalid_request` (2.2.2).
 */
export async function exchangeGrant(
  context: CatalogContext,
  form: TokenForm,
  { credentials, address, agent }: Shown,
): Promise<Answer> {
  const subjectToken = requiredField(form, 'subject_token');
  const type = requiredField(form, 'subject_token_type');
  if (OUTSIDE_TYPES.includes(type) && isOutsideToken(subjectToken)) {
    return federatedGrant(context, form, { address, agent });
  }
  checkType('subject_token_type', type);
  const requested = form['requested_token_type'];
  if (requested !== undefined) checkType('requested_token_type', requested);
  if (form['actor_token'] !== undefined) throw new OAuthError('invalid_request', 'actor_token is not served');

  const caller = await requireCaller(context, credentials(), { address, agent });
  const claims = await subjectOf(context, subjectToken, caller);
  if (claims.auth_method === 'operator') throw badSubject('an operator made the token, and such tokens do not renew');
  if (claims.auth_method === 'pat') throw badSubject('exchange the personal access token anew, with which it ends');
  if (claims.auth_method === 'federated') {
    throw badSubject('exchange a new token of the identity provider: this one ends with the one that it was made from');
  }
  const source = claims.auth_method === 'keypair' ? 'roles' : 'client';
  const principal = await findTokenPrincipal(context.store.db, claims.sub, source);
  if (principal === undefined || !maySignIn(principal.status) || principal.tenant !== claims.tenant)
    throw badSubject('the token is not valid');
  if (claims.sess_epoch < principal.sessionEpoch) throw badSubject('the token has been revoked');
  const isPerson = claims.auth_method === 'password' || claims.auth_method === 'sso';
  const endsAtMs = claims.auth_method === 'sso' ? await endOf(context, claims) : undefined;
  if (isPerson && hasExpired(claims, context.clock.nowMs())) throw badSubject('the token has expired');
  if (isPerson) requireFactorOf(context, principal, claims, address);
  const signsIn = caller.bySecret && caller.sub === claims.sub && !isPerson;
  const authenticatedAtMs = signsIn ? context.clock.nowMs() : (claims.auth_time ?? claims.iat) * 1000;
  if (lifetimeMs(context, authenticatedAtMs) === 0) throw badSubject('the sign-in that it comes from has ended');
  const requestedScopes = takeScopes(form);
  const own = scopesOf(claims);
  const allowed = [...own].filter((scope) => principal.scopes.includes(scope));
  if (signsIn) await context.signIns.granted(principal, claims.auth_method, { address, agent });
  return issue(context, {
    principal,
    scopes: grantScopes(requestedScopes, allowed),
    authMethod: claims.auth_method,
    ...(signsIn ? {} : { authenticatedAtMs, person: personOf(claims) }),
    ...(endsAtMs === undefined ? {} : { endsAtMs }),
    ...(requested === undefined ? {} : { issuedTokenType: requested }),
  });
}

/** The end of a sign-in at an identity provider, which no exchange puts off. */
async function endOf({ store }: CatalogContext, { sid }: TokenClaims): Promise<number> {
  const signIn = sid === undefined ? undefined : await findAppSignIn(store.db, sid);
  if (signIn === undefined) throw badSubject('the sign-in that it comes from has ended');
  return signIn.endsAt.getTime();
}

const personOf = ({ sid, amr }: TokenClaims): Pick<TokenSubject, 'sid' | 'amr'> => ({
  ...(sid === undefined ? {} : { sid }),
  ...(amr === undefined ? {} : { amr }),
});

/** A requirement that the configuration has raised bumps no epoch: a token of a password alone ends, and is not carried on. */
function requireFactorOf({ config }: CatalogContext, user: FactorHolder, { amr }: TokenClaims, address: string): void {
  try {
    requireShownFactor(config, user, amr ?? [], address);
  } catch (error) {
    throw error instanceof SkeinError ? badSubject(error.message) : error;
  }
}

function checkType(field: string, type: string): void {
  if (!TYPES.includes(type)) throw new OAuthError('invalid_request', `${field} must be ${TYPES.join(' or ')}`);
}

async function requireCaller(context: CatalogContext, credentials: Credentials, seen: SeenSignIn): Promise<Caller> {
  if (credentials.kind !== 'bearer') {
    const { principal } = await requireClient(context, credentials, seen);
    return { sub: principal.id, tenant: principal.tenant, bySecret: true };
  }
  const claims = await context.verifier.verifyToken(credentials.token).catch((error: unknown) => {
    throw isRefusal(error) ? invalidClient(error.message, 'Bearer') : error;
  });
  countRequest(context, claims.sub);
  return { sub: claims.sub, tenant: claims.tenant, bySecret: false };
}

/** Returns the claims of a token that the caller may exchange. A token of another tenant counts as invalid. */
async function subjectOf(context: CatalogContext, token: string, caller: Caller): Promise<TokenClaims> {
  const { verifier, clock } = context;
  const read = caller.bySecret ? verifier.verifyExpiredToken(token) : verifier.verifyToken(token);
  const claims = await read.catch((error: unknown) => {
    throw isRefusal(error) ? badSubject(error.message) : error;
  });
  if (claims.tenant !== caller.tenant) throw badSubject('the token is not valid');
  if (claims.sub !== caller.sub && claims.exp * 1000 <= clock.nowMs()) throw badSubject('the token has expired');
  return claims;
}

const isRefusal = (error: unknown): error is SkeinError =>
  error instanceof SkeinError && error.code === 'UNAUTHENTICATED';

const badSubject = (why: string): OAuthError => new OAuthError('invalid_request', `subject_token: ${why}`);
