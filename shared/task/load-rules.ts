import type { ErrorCode } from '#shared/error.ts';
import type { SqlText } from './sql-text.ts';

/** How a task loads the files of its scan. */
export type LoadRules = {
  /** `check`: nothing is written, and all errors are reported, as far as there is room. */
  readonly what: 'load' | 'check';
  readonly onError: OnError;
  /**
   * A text that gives a row for each record and fails for none: `p`, the record's place in its file; `fault`, NULL for a record that can be
   * loaded (`FAULTS`); and the structs `r0`, `r1`, ..., which hold the values of the table's columns. It reads the scan with two more columns.
   */
  readonly guarded: SqlText;
  /** The table's columns as a list that reads the guarded text. */
  readonly columns: string;
};

/** Columns of a stage's files in a guarded text, beside their own. */
export const GUARDED_COLUMNS = { place: '_skein_place', fault: '_skein_fault' } as const;

/** First character of a fault, before the name of a column: the column's value cannot be had, or is missing where the table needs one. */
export const FAULTS = { value: 'v', missing: 'm' } as const;

/** The treatment of a file that has records which cannot be loaded. `skip` leaves the file out from so many such records on. */
export type OnError =
  | { readonly kind: 'abort' }
  | { readonly kind: 'continue' }
  | { readonly kind: 'skip'; readonly from: number; readonly unit: 'records' | 'percent' };

/** How the load of a file, or of a part of one, went. */
export type FileLoad = {
  /** Location of the file. */
  readonly path: string;
  readonly rowsParsed: number;
  readonly rowsLoaded: number;
  /** Records that cannot be loaded. */
  readonly errors: number;
  /** The first of them, or, for a check, as many as there is room for. */
  readonly faults: readonly RecordFault[];
};

/** Why a record cannot be loaded. */
export type RecordFault = {
  readonly code: ErrorCode;
  readonly message: string;
  /** Line of the file, from 1, at which the record begins; of Parquet the row; null for what is wrong with the file as a whole. */
  readonly line: number | null;
  readonly column: string | null;
  /** The beginning of the record as the file has it; null when it is no text. */
  readonly record: string | null;
};
