/** Characters that have a meaning in DuckDB's text of a nested value. */
const SPECIAL = /^\s|["'(),:=[\]{}]|\s$/;

/** A text within a list, struct or map, with quotes where DuckDB puts them. */
export function quoteNested(text: string): string {
  const isPlain = text !== '' && !SPECIAL.test(text) && !/^null$/i.test(text);
  return isPlain ? text : `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
