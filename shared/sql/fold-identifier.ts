/**
 * An identifier as DuckDB compares it: without the case of the letters A to Z, and of no others. JavaScript's own folding knows more
 * pairs (U+212A, the sign for kelvin, becomes a `k`; U+017F becomes an `S`), and where two programs disagree about a name, one of them
 * checks a table that the other does not read. Every comparison of SQL identifiers and keywords goes through this file.
 */
export const foldIdentifier = (name: string): string => name.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** A keyword in capitals, the letters a to z alone being changed. */
export const foldKeyword = (word: string): string => word.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase());
