import { ERRORS, SkeinError, type ErrorCode } from '#shared/error.ts';

/**
 * The error of a statement whose policies fail, or whose table below policies cannot be read. DuckDB's text may quote a hidden value, and a
 * storage's names a file: only those who may manage policies see it. What has nothing to do with values stays as it is: a statement that was
 * stopped, a limit, a lost worker.
 */
export function policyError(thrown: unknown, seesPolicies: boolean): SkeinError {
  const error = SkeinError.of(thrown);
  const told = seesPolicies ? `: ${error.message}` : '';
  if (OF_FILES.has(error.code)) return new SkeinError(error.code, `${FILES_FAILED}${told}`, { cause: error });
  if (error.code === 'POLICY_FAILED' || !isOfValues(error)) return error;
  return new SkeinError('POLICY_FAILED', `${BODY_FAILED}${told}`, { cause: error });
}

const FILES_FAILED = 'the files of a table with policies cannot be read';
const BODY_FAILED = 'a policy of a table that the statement reads failed';

/** The message of an error for whoever may read the record of the statement: without what its principal alone was told, who manages policies. */
export function recordedMessage(message: string): string {
  return [FILES_FAILED, BODY_FAILED].find((told) => message.startsWith(`${told}: `)) ?? message;
}

/** Whether an error has to do with values, so that it may be of a policy or of the statement that reads the table. */
export function isOfValues(error: SkeinError): boolean {
  const { kind } = ERRORS[error.code];
  return kind !== 'resource' && kind !== 'auth' && !PLAIN.has(error.code) && !OF_FILES.has(error.code);
}

/** Their texts tell nothing of rows, policies or files. */
const PLAIN: ReadonlySet<ErrorCode> = new Set([
  'CATALOG_UNAVAILABLE',
  'WORKER_LOST',
  'CONNECTION_LOST',
  'NO_WORKERS',
  'NOT_ACTIVE',
]);
const OF_FILES: ReadonlySet<ErrorCode> = new Set([
  'STORAGE_ERROR',
  'STORAGE_FULL',
  'INVALID_TABLE_DATA',
  'TABLE_DATA_TOO_COMPLEX',
  'TABLE_METADATA_MISSING',
]);
