import type { PolicyStatementRequest } from '#proto/generated/skein/catalog/v1/PolicyStatementRequest.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { CHANGE_PASSWORD } from '../authorization/decide.ts';
import type { CatalogContext } from '../context.ts';
import { runPolicyStatement } from '../policy/run-policy-statement.ts';

/** Runs a statement about policies. @throws FORBIDDEN, and the errors of the statement */
export async function answerPolicyStatement(
  context: CatalogContext,
  { statement, term }: PolicyStatementRequest,
  principal: Principal,
): Promise<{ readonly answer: Buffer }> {
  if (principal.must_change_password === true) throw new SkeinError('FORBIDDEN', CHANGE_PASSWORD);
  return { answer: Buffer.from(JSON.stringify(await runPolicyStatement({ context, principal, term }, statement))) };
}
