import type { PolicyStatementRequest } from '#proto/generated/skein/catalog/v1/PolicyStatementRequest.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { requireOwnPasswordFirst } from '#shared/authorization/own-password-first.ts';
import type { CatalogContext } from '../context.ts';
import { runPolicyStatement } from '../policy/run-policy-statement.ts';

/** Runs a statement about policies. @throws FORBIDDEN, and the errors of the statement */
export async function answerPolicyStatement(
  context: CatalogContext,
  { statement, term }: PolicyStatementRequest,
  principal: Principal,
): Promise<{ readonly answer: Buffer }> {
  requireOwnPasswordFirst(principal.must_change_password, false);
  return { answer: Buffer.from(JSON.stringify(await runPolicyStatement({ context, principal, term }, statement))) };
}
