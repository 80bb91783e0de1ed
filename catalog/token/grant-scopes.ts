import { SCOPES } from '#shared/token-claims.ts';

/** Matches words of the form of our scopes, misspelt ones included. */
const OWN_WORD = /^(catalog|namespace|table):/;

/**
 * Returns the granted scopes: those that the request names and may have. Foreign words (`catalog`, `sign`, `PRINCIPAL_ROLE:ALL`, `openid`,
 * ...: every client has its own default) are ignored; a request of such words alone, or of none, gets all scopes that it may have.
 */
export function grantScopes(requested: string | undefined, allowed: readonly string[]): readonly string[] {
  const own = new Set((requested ?? '').split(' ').filter((word) => OWN_WORD.test(word)));
  const known = Object.keys(SCOPES).filter((scope) => allowed.includes(scope));
  return own.size === 0 ? known : known.filter((scope) => own.has(scope));
}
