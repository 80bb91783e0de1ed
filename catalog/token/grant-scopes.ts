import { SCOPES, type Scope } from '#shared/authorization/token-claims.ts';

/**
 * Words that clients put into `scope` by default, whoever their user is. They ask for nothing here and are ignored: `catalog` (Java, Spark,
 * Trino, PyIceberg), `sign` (the remote signer of Java and PyIceberg), `openid` and the standard scopes beside it (OpenID Connect
 * libraries), `PRINCIPAL_ROLE:<name>` (DuckDB; other catalogs' roles). `catalog/README.md` shows this list to users.
 */
const DEFAULT_WORDS: ReadonlySet<string> = new Set(['catalog', 'sign', 'openid', 'profile', 'email', 'offline_access']);
const DEFAULT_PREFIX = 'PRINCIPAL_ROLE:';

/** The scopes that a request names; `all` = it leaves the choice to us; `unknown` = it names only words that nobody knows. */
export type RequestedScopes = ReadonlySet<Scope> | 'all' | 'unknown';

const isScope = (word: string): word is Scope => Object.hasOwn(SCOPES, word);
const isDefault = (word: string): boolean => DEFAULT_WORDS.has(word) || word.startsWith(DEFAULT_PREFIX);

/** Reads the field `scope` of a token request. Beside one of our scopes an unknown word is ignored. */
export function requestedScopes(field: string | undefined): RequestedScopes {
  const words = (field ?? '').split(' ').filter((word) => word !== '' && !isDefault(word));
  if (words.length === 0) return 'all';
  const own = words.filter(isScope);
  return own.length === 0 ? 'unknown' : new Set(own);
}

/** Returns the granted scopes: those that the request asks for and may have. */
export function grantScopes(
  requested: Exclude<RequestedScopes, 'unknown'>,
  allowed: readonly string[],
): readonly Scope[] {
  return Object.keys(SCOPES)
    .filter(isScope)
    .filter((scope) => allowed.includes(scope) && (requested === 'all' || requested.has(scope)));
}
