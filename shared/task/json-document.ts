/** The names and signs by which the text that a coordinator prints for a column of JSON, and the worker that reads it, understand each other. */

/** The column that holds a document, as `json_extract` takes it. */
export const JSON_DOCUMENT = '_skein_json';

/**
 * Begins the text in which a worker has put a number of many digits: DuckDB's parser of JSON keeps a fraction as a DOUBLE, which loses them.
 * It is white space in SQL, and no text of a document begins with it by chance.
 */
export const NUMBER_MARK = '\v\f\v\f';

/** The name under which the structure of whole documents stands among those of their members; no column of DuckDB has it. */
export const OF_DOCUMENT = '';

/** How a column is read from documents of JSON. */
export type JsonRead = {
  /** The type that DuckDB's reader gives; a cast makes the column's type of it. */
  readonly read: string;
  /** The column's value in the document `JSON_DOCUMENT`. */
  readonly value: string;
  /** The same in a document with marked numbers, which are numbers again in it. */
  readonly marked: string;
  /** The column is the whole document, and no member of it. */
  readonly isDocument?: boolean;
};
