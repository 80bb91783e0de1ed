import { scopesOf, type TokenClaims } from '#shared/authorization/token-claims.ts';

/** The parts of a token that say whose a result is. */
export type Keeper = Pick<TokenClaims, 'tenant' | 'sub' | 'scope' | 'sess_epoch'>;

/** Whether a token may read what another one of its principal has asked for: it has all of its scopes, and the same rights. */
export const covers = (reader: Keeper, writer: Keeper): boolean =>
  reader.sess_epoch === writer.sess_epoch && scopesOf(writer).isSubsetOf(scopesOf(reader));
