import type { PersonTokens } from '#proto/generated/skein/catalog/v1/PersonTokens.ts';
import type { RedeemCodeRequest } from '#proto/generated/skein/catalog/v1/RedeemCodeRequest.ts';
import type { RenewSignInRequest } from '#proto/generated/skein/catalog/v1/RenewSignInRequest.ts';
import type { RevokeSignInReply } from '#proto/generated/skein/catalog/v1/RevokeSignInReply.ts';
import type { RevokeSignInRequest } from '#proto/generated/skein/catalog/v1/RevokeSignInRequest.ts';
import { SkeinError } from '#shared/error.ts';
import { addressKey } from '#shared/newcomers/address-key.ts';
import type { CatalogContext } from '../context.ts';
import { methodOf } from '../factor/required-factor.ts';
import { lifetimeMs } from '../token/lifetime.ts';
import { redeemCode, renewAppSignIn, revokeAppSignIn, type AppSignedIn } from '../sign-in/app-sign-ins.ts';
import { subjectOf } from '../store/postgres/principal-store.ts';

/**
 * A person's sign-in at the pages of the catalog to a client that a coordinator is. The grants of REST do the same for others; here the tokens
 * go over the internal channel, so that nobody between the machines sees them, and none goes to a browser.
 */

/** @throws UNAUTHENTICATED, TOO_MANY_SIGN_INS */
export async function redeemCodeCall(context: CatalogContext, request: RedeemCodeRequest): Promise<PersonTokens> {
  const { address, agent } = request;
  if (context.tokenLimits.address.take(addressKey(address)) > 0) throw tooMany('from this address');
  const redeemed = await redeemCode(context, {
    code: request.code,
    clientId: request.client_id,
    redirectUri: request.redirect_uri,
    verifier: request.verifier,
    address,
    agent,
  });
  if (redeemed === undefined) throw refused('the code of the sign-in is unknown, has expired, or was used before');
  const { signIn, principal } = redeemed;
  const seen = { address, agent, factors: signIn.amr, client: signIn.clientId };
  await context.signIns.granted(principal, methodOf(signIn.amr), seen);
  return tokensOf(context, redeemed, signIn.startedAt.getTime());
}

/** @throws UNAUTHENTICATED */
export async function renewSignInCall(context: CatalogContext, request: RenewSignInRequest): Promise<PersonTokens> {
  const renewed = await renewAppSignIn(context, { token: request.refresh_token, clientId: request.client_id });
  if (renewed === undefined || lifetimeMs(context, renewed.signIn.authenticatedAt.getTime()) === 0) {
    throw refused('the sign-in has ended');
  }
  return tokensOf(context, renewed, context.clock.nowMs());
}

/** A token of another client is left alone, without a word: the coordinator shows none but its own. */
export async function revokeSignInCall(
  context: CatalogContext,
  request: RevokeSignInRequest,
): Promise<RevokeSignInReply> {
  await revokeAppSignIn(context, { token: request.refresh_token, clientId: request.client_id });
  return {};
}

async function tokensOf(
  { issuer, config, clock }: CatalogContext,
  { signIn, principal, refreshToken }: AppSignedIn,
  issuedAtMs: number,
): Promise<PersonTokens> {
  const authenticatedAtMs = signIn.authenticatedAt.getTime();
  const endsAtMs = signIn.endsAt.getTime();
  const { token, expiresAtMs } = await issuer.issue(
    {
      ...subjectOf(principal),
      scopes: signIn.scopes.filter((scope) => principal.scopes.includes(scope)),
      authMethod: methodOf(signIn.amr),
      sid: signIn.id,
      amr: signIn.amr,
      authenticatedAtMs,
    },
    Math.min(lifetimeMs({ config, clock }, authenticatedAtMs), endsAtMs - issuedAtMs),
    issuedAtMs,
  );
  return {
    token,
    expires_at_ms: String(expiresAtMs),
    refresh_token: refreshToken,
    ends_at_ms: String(endsAtMs),
  };
}

const refused = (why: string): SkeinError => new SkeinError('UNAUTHENTICATED', `${why}: sign in again`);

const tooMany = (whose: string): SkeinError =>
  new SkeinError('TOO_MANY_SIGN_INS', `too many token requests ${whose}: try again later`);
