import { type ErrorData } from '#shared/error.ts';

/**
 * A text that shows DuckDB's parser parts of a statement:
 * - `expressions`: `VALUES (part), (part)`, in which neither an alias nor a second value can stand
 * - `tables`: `SELECT NULL FROM part WHERE NULL`
 * - `list`: `SELECT part FROM "skein parts"`
 * - `query`: the part alone
 */
export type PartText = {
  readonly kind: 'expressions' | 'tables' | 'list' | 'query';
  readonly sql: string;
  /** The number of parts in it. */
  readonly count: number;
};

/** The name of the table that a list is read from. */
export const LIST_SOURCE = 'skein parts';

/** Why a text of parts is refused: its position is a byte offset in the text, and `part` the number of the part; null where one is not known. */
export type PartRefusal = { readonly error: ErrorData; readonly part: number | null };
