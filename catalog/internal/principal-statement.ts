import { Value } from 'typebox/value';
import type { PrincipalStatementRequest } from '#proto/generated/skein/catalog/v1/PrincipalStatementRequest.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { PrincipalRequest } from '#shared/principal/principal-request.ts';
import { requireOwnPasswordFirst } from '#shared/authorization/own-password-first.ts';
import type { CatalogContext } from '../context.ts';
import { runStatement } from '../principal-statement/run-statement.ts';

/**
 * Runs a statement about users, accounts, roles, tokens, keys or the audit log. Nothing of the request or its answer is kept: both carry
 * secrets. Sent again it is another statement.
 * @throws FORBIDDEN, and the errors of the statement
 */
export async function runPrincipalStatement(
  context: CatalogContext,
  { statement, term }: PrincipalStatementRequest,
  principal: Principal,
): Promise<{ readonly answer: Buffer }> {
  const request = readRequest(statement);
  requireOwnPasswordFirst(principal.must_change_password, request.kind === 'set_own_password');
  const answer = await runStatement({ context, principal, term }, request);
  return { answer: Buffer.from(JSON.stringify(answer)) };
}

/** @throws INVALID_REQUEST, whose message repeats nothing of the request */
function readRequest(bytes: Buffer): PrincipalRequest {
  let hasNul = false;
  try {
    const request: unknown = JSON.parse(bytes.toString(), (_key, value: unknown) => {
      hasNul ||= typeof value === 'string' && value.includes('\0');
      return value;
    });
    if (!hasNul && Value.Check(PrincipalRequest, request)) return request;
  } catch {
    // The text of the error would repeat a part of the request.
  }
  // No name has one, and Postgres takes none.
  if (hasNul) throw new SkeinError('INVALID_REQUEST', 'a name or text of the statement holds a NUL character');
  throw new SkeinError('INVALID_REQUEST', 'the statement is none that the catalog knows');
}
