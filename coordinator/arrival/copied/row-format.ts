import type { ScalarKind, ValueKind } from '../postgres/value-kind.ts';

/** How rows that a client copies in are written. Delimiter, quote and escape are one byte each. */
export type RowFormat = {
  readonly format: 'text' | 'csv' | 'binary';
  readonly delimiter: string;
  /** The text of a value that is not there. */
  readonly null: string;
  /** Whether the first line has the names of the columns, which may have to be those of the table. */
  readonly header: boolean | 'match';
  readonly quote: string;
  readonly escape: string;
};

/** A column of the rows. */
export type CopiedColumn = {
  readonly name: string;
  readonly kind: ValueKind;
  /** Kind of the elements of an array; null for others. */
  readonly element: ScalarKind | null;
  /** The text of NULL means itself (CSV). */
  readonly neverNull: boolean;
  /** The text of NULL means NULL in quotes, too (CSV). */
  readonly nullInQuotes: boolean;
};

/** Bytes that begin with a row, and what is known of them. */
export type RowsInput = {
  readonly bytes: Uint8Array;
  /** Nothing follows. */
  readonly isLast: boolean;
  readonly isFirst: boolean;
  /** The number of the first line. */
  readonly line: number;
  readonly format: RowFormat;
  readonly columns: readonly CopiedColumn[];
};

/** The values of a column as Arrow has them: texts, bytes, or lists of one of both. */
export type ColumnValues = {
  readonly type: 'text' | 'bytes';
  readonly validity: Uint8Array;
  readonly nullCount: number;
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
  /** The place of each list among the values above; null = the values are no lists. */
  readonly lists: { readonly validity: Uint8Array; readonly nullCount: number; readonly offsets: Int32Array } | null;
};

/** A fault of the rows, and its place. */
export type RowFault = {
  readonly sqlState: string;
  readonly message: string;
  readonly line: number;
  readonly column: string | null;
  /** The value, or the line; null = it is not shown. */
  readonly text: string | null;
};

export type ReadRows = {
  readonly rows: number;
  /** Bytes of whole rows; the rest waits for more. */
  readonly consumed: number;
  /** The number of the line behind them. */
  readonly line: number;
  /** The end that the rows themselves have. */
  readonly isEnd: boolean;
  /** The line of each row, and the columns. */
  readonly lines: Int32Array;
  readonly columns: readonly ColumnValues[];
  readonly fault: RowFault | null;
};

/** A fault of a row. */
export class RowError extends Error {
  readonly sqlState: string;
  readonly column: string | null;
  readonly text: string | null;

  constructor(
    message: string,
    { sqlState = '22P04', column = null, text = null }: Partial<Pick<RowFault, 'sqlState' | 'column' | 'text'>> = {},
  ) {
    super(message);
    this.sqlState = sqlState;
    this.column = column;
    this.text = text;
  }
}
