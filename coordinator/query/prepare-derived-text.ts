import type { StatementContext } from '#shared/sql/statement-context.ts';
import { SkeinError } from '#shared/error.ts';
import { managesPolicies } from '../auth/authenticate.ts';
import type { PrepareRequest } from '../prepare/prepare-request.ts';
import type { DerivedText } from '../statement/derived-text.ts';
import type { TextSpan } from '../statement/statement.ts';
import type { ValuePlace } from '../statement/value-place.ts';
import type { RunningStatement } from './running-statement.ts';

type TextWork<T> = {
  readonly context: StatementContext;
  /** The values of parameters in the text. */
  readonly values: readonly ValuePlace[];
  readonly work: (request: PrepareRequest) => Promise<T>;
};

/** Does the work on a text that was made of the query; errors have their place in the statement. */
export async function prepareDerivedText<T>(
  { services, request, active, tables }: RunningStatement & Pick<PrepareRequest, 'tables'>,
  query: TextSpan,
  derived: DerivedText,
  { context, values, work }: TextWork<T>,
): Promise<T> {
  const { tenant, sub: principal } = request.caller.claims;
  const asker = { tenant, principal };
  const { planner } = services.compiler;
  const { signal } = active;
  try {
    const seesPolicies = managesPolicies(request.caller);
    const asked = { sql: derived.text, offset: 0, values, context, asker, tables, planner, signal, seesPolicies };
    return await work(asked);
  } catch (thrown) {
    const error = SkeinError.of(thrown);
    if (error.position === undefined) throw error;
    throw error.at(query.offset + derived.toSource(error.position));
  }
}
