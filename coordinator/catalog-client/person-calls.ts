import type { CatalogInternalClient } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import type { PersonTokens as PersonTokensMessage } from '#proto/generated/skein/catalog/v1/PersonTokens.ts';
import type { ReplyOf, UnaryMethod, UnaryRequest } from '#shared/grpc/call-unary.ts';
import type { ShownCredentials } from './shown-credentials.ts';

/** The tokens of a person's sign-in to a client that this service is. */
export type PersonTokens = {
  readonly token: string;
  readonly expiresAtMs: number;
  /** Good once. */
  readonly refreshToken: string;
  /** No renewal goes beyond it. */
  readonly endsAtMs: number;
};

/** A code that a browser has brought, and what its client knows. */
export type ShownCode = {
  readonly code: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly verifier: string;
  readonly address: string;
  readonly agent: string;
};

type ShownRefresh = { readonly refreshToken: string; readonly clientId: string };

/** Sign-ins at a door, and those of people at the catalog's page to a client that this service is. */
export type PersonCalls = {
  /** Checks a password or a client secret. @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS */
  readonly signIn: (credentials: ShownCredentials) => Promise<{ readonly token: string }>;
  /** Begins one. @throws UNAUTHENTICATED, TOO_MANY_SIGN_INS */
  readonly redeemCode: (shown: ShownCode) => Promise<PersonTokens>;
  /** Goes on with it; the refresh token is then used up. @throws UNAUTHENTICATED when the sign-in has ended */
  readonly renewSignIn: (shown: ShownRefresh) => Promise<PersonTokens>;
  readonly revokeSignIn: (shown: ShownRefresh) => Promise<void>;
};

type Call = <Name extends UnaryMethod<CatalogInternalClient>>(
  method: Name,
  request: UnaryRequest<CatalogInternalClient, Name>,
) => Promise<ReplyOf<CatalogInternalClient, Name>>;

export const personCalls = (call: Call): PersonCalls => ({
  signIn: (credentials) => call('SignIn', credentials),
  redeemCode: async ({ code, clientId, redirectUri, verifier, address, agent }) => {
    const request = { code, client_id: clientId, redirect_uri: redirectUri, verifier, address, agent };
    return tokensOf(await call('RedeemCode', request));
  },
  renewSignIn: async ({ refreshToken, clientId }) =>
    tokensOf(await call('RenewSignIn', { refresh_token: refreshToken, client_id: clientId })),
  revokeSignIn: async ({ refreshToken, clientId }) => {
    await call('RevokeSignIn', { refresh_token: refreshToken, client_id: clientId });
  },
});

const tokensOf = (message: PersonTokensMessage): PersonTokens => ({
  token: message.token,
  expiresAtMs: Number(message.expires_at_ms),
  refreshToken: message.refresh_token,
  endsAtMs: Number(message.ends_at_ms),
});
