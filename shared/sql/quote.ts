/** The only place where identifiers and literals are quoted. */

/** Returns a double-quoted SQL identifier. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Returns a single-quoted SQL string literal (DuckDB and standard-conforming Postgres: no backslash escapes). A NUL has no literal form.
 */
export const quoteLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;
