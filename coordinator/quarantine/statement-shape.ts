import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import { fingerprint } from './fingerprint.ts';
import type { StatementShape } from './quarantine.ts';

/** Characters of a statement's text that a quarantine shows. */
const TEXT_MAX = 1_000;

/** The shape of the query `text`, which stands in the statement whose text without secrets is `redactedSql`. */
export function statementShape(
  { tenant, sub: principal, preferred_username: username }: TokenClaims,
  text: string,
  redactedSql: string,
): StatementShape {
  // Copied, because a slice would keep the whole statement in memory for as long as the shape is remembered.
  const sql = Buffer.from(redactedSql.slice(0, TEXT_MAX)).toString();
  return { tenant, principal, username, fingerprint: fingerprint(text), sql };
}
