import type { ErrorCode } from '#shared/error.ts';

/** Errors after which the state of an instance cannot be trusted, so it is closed. */
export const SPOILS_INSTANCE: ReadonlySet<ErrorCode> = new Set([
  'OUT_OF_MEMORY',
  'MEMORY_KILLED',
  'MEMORY_EXHAUSTED',
  'SPILL_LIMIT',
  'QUERY_CANCELLED',
  'QUERY_TIMEOUT',
  'INTERNAL_ERROR',
  // DuckDB takes no further statement in the instance.
  'ENGINE_FAULT',
]);

/** Errors after which the process may hold much freed memory, which is then returned to the system. */
export const TAKES_MUCH: ReadonlySet<ErrorCode> = new Set(['OUT_OF_MEMORY', 'MEMORY_KILLED', 'MEMORY_EXHAUSTED']);
