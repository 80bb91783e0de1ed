import type { Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { isAudienceOf } from '#shared/config/outside-audience.ts';
import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { Issuers } from '../issuer/issuers.ts';
import { meetsConditions } from '../issuer/meets-conditions.ts';
import {
  CLOCKS_DIFFER_S,
  shownToken,
  verifyOutsideToken,
  type OutsideClaims,
  type ShownToken,
} from '../issuer/outside-token.ts';
import type { Store } from '../store/postgres/connect.ts';
import { TENANT_ADMIN, type TokenPrincipal } from '../store/postgres/principal-store.ts';
import { providersOfToken, type ProviderRow } from '../store/postgres/provider-store.ts';
import { findTokenPrincipal } from '../store/postgres/shown-credentials.ts';
import { trustsOf } from '../store/postgres/trust-store.ts';
import { sha256 } from '../token/secret.ts';
import { RefusedSignIn } from './refused-sign-in.ts';
import type { NamedPrincipal } from './sign-in-log.ts';
import type { PasswordVerifier } from './verify-password.ts';

export type OutsideParts = {
  readonly passwords: PasswordVerifier;
  readonly store: Store;
  readonly clock: Clock;
  readonly config: Pick<Config, 'catalog.outside_audiences'>;
  readonly issuers: Issuers;
};

type Place = {
  readonly address: string;
  /** The account's name and its tenant, where a client names them; undefined: whoever it is. */
  readonly user?: string | undefined;
  readonly tenant?: string | undefined;
};

/** A service account that a token is, the scopes that its tokens may have, and the end of them. */
export type OutsideSignIn = {
  readonly principal: TokenPrincipal;
  readonly scopes: readonly string[];
  readonly expiresAtMs: number;
};

/** A refusal, for the audit log of the tenant whose provider it was; the log finds it, where the token alone says so. */
export class RefusedOutsideToken extends RefusedSignIn {
  readonly by: string | Pick<ShownToken, 'issuer' | 'audiences'> | undefined;

  constructor(by: RefusedOutsideToken['by'], reason: 'wrong' | 'not trusted' | 'not active') {
    super(reason, 'the token is not valid');
    this.by = by;
  }
}

/** The tenant that a refusal concerns, as the audit log names it. */
export function namedByRefusal(error: unknown): NamedPrincipal {
  if (!(error instanceof RefusedOutsideToken) || error.by === undefined) return { by: 'nobody' };
  if (typeof error.by === 'string') return { by: 'provider', tenant: error.by };
  const { issuer, audiences } = error.by;
  return { by: 'outside token', issuer, audiences };
}

/**
 * Finds the service account that a token of an identity provider is. Issuer and audience name one provider, so one tenant; its keys verify the
 * token, and the trusts of its accounts say who it is. All refusals read alike. @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS
 */
export async function signInByOutsideToken(
  parts: OutsideParts,
  token: string,
  { address, user, tenant }: Place,
): Promise<OutsideSignIn> {
  const { passwords } = parts;
  const attempt = { tenant: '', user: sha256(token).toString('base64'), address, isNameless: true };
  passwords.requireAllowed(attempt);
  try {
    const found = await accountOf(parts, token);
    const { principal } = found;
    const isNamed = user === undefined || foldIdentifier(user) === foldIdentifier(principal.username);
    if (!isNamed || (tenant !== undefined && tenant !== principal.tenant)) {
      throw new RefusedOutsideToken(principal.tenant, 'not trusted');
    }
    return found;
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'WRONG_PASSWORD') passwords.failed(attempt);
    throw error;
  }
}

async function accountOf(parts: OutsideParts, token: string): Promise<OutsideSignIn> {
  const shown = shownToken(token);
  // Before the database is asked.
  if (shown !== undefined && parts.issuers.lacksKey(shown.issuer, shown.keyId))
    throw new RefusedOutsideToken(shown, 'wrong');
  const provider = shown === undefined ? undefined : await providerOf(parts, shown);
  if (shown === undefined || provider === undefined) throw new RefusedOutsideToken(undefined, 'wrong');
  const { issuer, audiences, tenant } = provider;
  const claims = await verifyOutsideToken(parts.issuers, token, { issuer, audiences, nowMs: parts.clock.nowMs() });
  if (claims === undefined) throw new RefusedOutsideToken(tenant, 'wrong');
  const { principal, scopes } = await trustedAccount(parts, provider, claims);
  return { principal, scopes, expiresAtMs: (claims.exp + CLOCKS_DIFFER_S) * 1_000 };
}

/** The one provider for the issuer and the audiences of a token; a token for several is nobody's. */
async function providerOf(
  { store, config }: OutsideParts,
  { issuer, audiences }: ShownToken,
): Promise<ProviderRow | undefined> {
  const found = await providersOfToken(store.db, issuer, audiences);
  const allowed = config['catalog.outside_audiences'];
  const theirs = found.filter((provider) =>
    provider.audiences.some((one) => audiences.includes(one) && isAudienceOf(provider.tenant, one, allowed)),
  );
  return theirs.length === 1 ? theirs[0] : undefined;
}

async function trustedAccount(
  { store }: OutsideParts,
  provider: ProviderRow,
  claims: OutsideClaims,
): Promise<Pick<OutsideSignIn, 'principal' | 'scopes'>> {
  const { tenant } = provider;
  const trusts = (await trustsOf(store.db, provider.id, claims.sub)).filter(({ conditions }) =>
    meetsConditions(claims, conditions),
  );
  const [trust, another] = trusts;
  if (trust === undefined || another !== undefined) throw new RefusedOutsideToken(tenant, 'not trusted');
  const principal = await findTokenPrincipal(store.db, trust.account, 'roles');
  if (principal?.status !== 'ACTIVE') throw new RefusedOutsideToken(tenant, 'not active');
  // The trust or its provider may have ended since it was read: then the epoch is another, which the token must not get.
  if (principal.sessionEpoch !== trust.epoch) throw new RefusedOutsideToken(tenant, 'not trusted');
  if (!mayOpen(provider, principal)) throw new RefusedOutsideToken(tenant, 'not trusted');
  return { principal, scopes: principal.scopes.filter((scope) => trust.scopes.includes(scope)) };
}

/** A provider that was made by one who is no tenant_admin opens nobody who is more than he: its issuer may be his own. */
export const mayOpen = (
  { byAdmin }: Pick<ProviderRow, 'byAdmin'>,
  { roles, privileges }: Pick<TokenPrincipal, 'roles' | 'privileges'>,
): boolean => byAdmin || (!roles.includes(TENANT_ADMIN) && privileges.length === 0);
