/**
 * Folds an identifier as DuckDB compares it: it ignores the case of the letters A to Z only. JavaScript's own folding maps more pairs
 * (U+212A, the kelvin sign, becomes a `k`; U+017F becomes an `S`), and where two programs disagree about a name, one of them checks a table
 * that the other does not read. Every comparison of SQL identifiers and keywords goes through this file.
 */
export const foldIdentifier = (name: string): string => name.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());

/** Returns a keyword in upper case; changes only the letters a to z. */
export const foldKeyword = (word: string): string => word.replaceAll(/[a-z]+/g, (letters) => letters.toUpperCase());
