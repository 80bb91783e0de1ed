import type { Clock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { Store } from '../store/postgres/connect.ts';
import { maySignIn } from '../store/postgres/principal-store.ts';
import { findTokenHolder, type TokenHolder } from '../store/postgres/shown-credentials.ts';
import { sha256 } from '../token/secret.ts';
import type { PasswordVerifier } from './verify-password.ts';

/** Longest text that is taken for a personal access token. */
const LENGTH_MAX = 200;

type Place = {
  readonly address: string;
  /** The owner's name and its tenant, where a client names them; undefined: whoever it is. */
  readonly user?: string | undefined;
  readonly tenant?: string | undefined;
};

/**
 * Finds the owner of a personal access token, and the scopes that a token made from it may have. A token that is unknown, revoked, over,
 * somebody else's, or of a principal that is not active is one refusal.
 * @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS
 */
export async function signInByToken(
  { passwords, store, clock }: { readonly passwords: PasswordVerifier; readonly store: Store; readonly clock: Clock },
  shown: string,
  { address, user, tenant }: Place,
): Promise<TokenHolder> {
  const digest = sha256(shown);
  // Somebody who tries tokens is counted by address, and by each token that is tried again and again.
  const attempt = {
    tenant: tenant ?? '',
    user: user ?? digest.toString('base64'),
    address,
    isNameless: user === undefined,
  };
  passwords.requireAllowed(attempt);
  const found =
    shown.length > LENGTH_MAX ? undefined : await findTokenHolder(store.db, digest, new Date(clock.nowMs()));
  const isOf =
    found !== undefined &&
    maySignIn(found.principal.status) &&
    (user === undefined || foldIdentifier(user) === foldIdentifier(found.principal.username)) &&
    (tenant === undefined || tenant === found.principal.tenant);
  if (!isOf) {
    passwords.failed(attempt);
    throw new SkeinError('WRONG_PASSWORD', 'the personal access token is not valid');
  }
  return { ...found, scopes: found.scopes.filter((scope) => found.principal.scopes.includes(scope)) };
}
