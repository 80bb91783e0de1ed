import { SkeinError } from '#shared/error.ts';
import { baseName } from './plan-file.ts';

/** Names of files in one message. */
const NAMES_MAX = 3;

/**
 * Adds the name of the file to an error about a broken data file when DuckDB's text lacks it, or the names of some files when the statement
 * reads several.
 */
export function nameBadFile(error: SkeinError, files: ReadonlySet<string>): SkeinError {
  if (error.code !== 'INVALID_TABLE_DATA' || files.size === 0) return error;
  const names = [...files].map(baseName);
  if (names.some((name) => error.message.includes(name))) return error;
  const listed = names.slice(0, NAMES_MAX).join(', ');
  const left = names.length - NAMES_MAX;
  const where =
    names.length === 1 ? `the file ${listed}` : `one of the files ${listed}${left > 0 ? ` and ${left} more` : ''}`;
  return new SkeinError(error.code, `${where} is not a valid Parquet file: ${error.message}`, { cause: error.cause });
}
