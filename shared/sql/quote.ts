/** Identifiers and literals are quoted here and nowhere else. */

/** A double-quoted SQL identifier. */
export const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A single-quoted SQL string literal (DuckDB and standard-conforming Postgres: no backslash escapes). A NUL has no literal form. */
export const quoteLiteral = (text: string): string => `'${text.replaceAll("'", "''")}'`;
