import { SCOPES } from '#shared/token-claims.ts';

/** How our scopes look, the misspelt ones too. */
const OWN_WORD = /^(catalog|namespace|table):/;

/**
 * The scopes that a request is granted: those that it names and that it may have. Words that are none of ours (`catalog`, `sign`,
 * `PRINCIPAL_ROLE:ALL`, `openid`, ...: every client has a default of its own) ask for nothing in particular; a request of such words
 * alone, or of none, gets all that it may have.
 */
export function grantScopes(requested: string | undefined, allowed: readonly string[]): readonly string[] {
  const own = new Set((requested ?? '').split(' ').filter((word) => OWN_WORD.test(word)));
  const known = Object.keys(SCOPES).filter((scope) => allowed.includes(scope));
  return own.size === 0 ? known : known.filter((scope) => own.has(scope));
}
