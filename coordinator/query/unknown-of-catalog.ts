import type { ErrorCode, SkeinError } from '#shared/error.ts';
import { shownShape } from '../quarantine/fingerprint.ts';
import type { RunnerServices } from './runner-services.ts';

/** SQLSTATE 42P01, 42883 and 42704. */
const UNKNOWN: ReadonlySet<ErrorCode> = new Set(['TABLE_NOT_FOUND', 'FUNCTION_NOT_FOUND', 'TYPE_NOT_FOUND']);

/** Names of Postgres' catalog, where an error stands. */
const OF_CATALOG = /^"?(?:pg_|_pg_|information_schema\b|reg[a-z])/i;

/** Counts a statement that failed because it named something of Postgres' catalog that is not here, and logs its shape: a tool may need it. */
export function noteUnknown(
  { log, metrics }: Pick<RunnerServices, 'log' | 'metrics'>,
  sql: string,
  { code, position }: Pick<SkeinError, 'code' | 'position'>,
): void {
  if (!UNKNOWN.has(code) || position === undefined || !OF_CATALOG.test(sql.slice(position, position + 100))) return;
  metrics.catalogUnknown();
  log.info({ shape: shownShape(sql), code }, "a statement asked for what Postgres' catalog has not");
}
