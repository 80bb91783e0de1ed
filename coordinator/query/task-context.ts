import { blankContext, placeContext, readerContext, type StatementContext } from '#shared/sql/statement-context.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';

/** The part of a statement's context that the tasks of a query need to know. */
export function taskContext(
  { contextual, placeAlone, asksReader }: Pick<PreparedQuery, 'contextual' | 'placeAlone' | 'asksReader'>,
  context: StatementContext,
): StatementContext {
  if (contextual) return placeAlone && !asksReader ? placeContext(context) : context;
  return asksReader ? readerContext(context) : blankContext(context.timeZone);
}
