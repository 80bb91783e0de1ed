import type { MadeColumn } from '../binding/made-columns.ts';
import type { CopyOptions } from './copy-into.ts';
import { formColumns, type RowForm } from './row-form.ts';

/** How a file went that COPY INTO has loaded, or has not. */
export type FileResult = {
  /** In the stage. */
  readonly file: string;
  readonly status: 'LOADED' | 'PARTIALLY_LOADED' | 'LOAD_FAILED' | 'LOAD_SKIPPED';
  readonly parsed: number;
  readonly loaded: number;
  readonly errors: number;
  readonly first: { readonly message: string; readonly line: number | null } | null;
};

/** The row that COPY INTO a table answers for each file. */
export const COPY_FORM: RowForm<FileResult> = {
  file: ['VARCHAR', (one) => one.file],
  status: ['VARCHAR', (one) => one.status],
  rows_parsed: ['BIGINT', (one) => one.parsed],
  rows_loaded: ['BIGINT', (one) => one.loaded],
  errors_seen: ['BIGINT', (one) => one.errors],
  first_error: ['VARCHAR', (one) => one.first?.message ?? null],
  first_error_line: ['BIGINT', (one) => one.first?.line ?? null],
};

/** An error that a file of a validation has. */
export type CopyError = {
  readonly file: string;
  readonly message: string;
  readonly line: number | null;
  readonly column: string | null;
  readonly code: string;
  readonly sqlState: string;
  readonly record: string | null;
};

/** The row for each error that VALIDATION_MODE = RETURN_ERRORS answers. */
export const COPY_ERROR_FORM: RowForm<CopyError> = {
  error: ['VARCHAR', (one) => one.message],
  file: ['VARCHAR', (one) => one.file],
  line: ['BIGINT', (one) => one.line],
  column_name: ['VARCHAR', (one) => one.column],
  code: ['VARCHAR', (one) => one.code],
  sql_state: ['VARCHAR', (one) => one.sqlState],
  rejected_record: ['VARCHAR', (one) => one.record],
};

/** The columns of the answer; null for the rows of a validation, which are the table's. */
export function copyColumns({ validation }: Pick<CopyOptions, 'validation'>): readonly MadeColumn[] | null {
  if (validation?.kind === 'rows') return null;
  return validation === null ? formColumns(COPY_FORM) : formColumns(COPY_ERROR_FORM);
}
