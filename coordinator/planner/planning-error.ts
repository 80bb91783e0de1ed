import { duckDbError } from '#shared/duckdb-error.ts';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { isFunctionAllowed } from '../binding/function-policy.ts';

const MEMORY_ERRORS: ReadonlySet<ErrorCode> = new Set(['OUT_OF_MEMORY', 'MEMORY_EXHAUSTED', 'SPILL_LIMIT']);

/**
 * Turns an error of DuckDB's planning into one of the catalogue. Out of memory is STATEMENT_TOO_COMPLEX here: users cannot set a planner's
 * memory limit, and a planner cannot spill. A planner reads no file, so an error about one is the text of an argument: `range(error('...'))`.
 */
export function planningError(...report: Parameters<typeof duckDbError>): SkeinError {
  const error = duckDbError(...report);
  if (error.code === 'INVALID_TABLE_DATA') {
    return new SkeinError('INVALID_ARGUMENT', error.message, { position: error.position, cause: error.cause });
  }
  if (!MEMORY_ERRORS.has(error.code)) return withServedHint(error);
  return new SkeinError('STATEMENT_TOO_COMPLEX', 'the statement needs too much memory to plan', { cause: error });
}

const HINT = /\nDid you mean "([^"\n]*)"\?$/;

/** The error of a function that does not exist, without the name of one that is not served. */
function withServedHint(error: SkeinError): SkeinError {
  const hint = error.code === 'FUNCTION_NOT_FOUND' ? HINT.exec(error.message) : null;
  if (hint === null || isFunctionAllowed(hint[1] ?? '')) return error;
  const message = error.message.slice(0, hint.index);
  return error.at(error.position, message);
}
