import { blankContext, readerContext, type StatementContext } from '#shared/sql/statement-context.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';

/** The part of a statement's context that the tasks of a query need to know. */
export function taskContext(
  { contextual, asksReader }: Pick<PreparedQuery, 'contextual' | 'asksReader'>,
  context: StatementContext,
): StatementContext {
  if (contextual) return context;
  return asksReader ? readerContext(context) : blankContext(context.timeZone);
}
