import type { OutputColumn } from '../sink/result-sink.ts';
import { textColumns } from '../sink/text-batch.ts';
import type { CopyOptions } from './copy-into.ts';

/** The columns of the row that COPY INTO a table answers for each file. */
export const COPY_COLUMNS = [
  'file',
  'status',
  'rows_parsed',
  'rows_loaded',
  'errors_seen',
  'first_error',
  'first_error_line',
];
/** Those of VALIDATION_MODE = RETURN_ERRORS. */
export const COPY_ERROR_COLUMNS = ['error', 'file', 'line', 'column_name', 'code', 'sql_state', 'rejected_record'];

/** The columns of the answer; null for the rows of a validation, which are the table's. */
export function copyColumns({ validation }: Pick<CopyOptions, 'validation'>): readonly OutputColumn[] | null {
  if (validation?.kind === 'rows') return null;
  return textColumns(validation === null ? COPY_COLUMNS : COPY_ERROR_COLUMNS);
}
