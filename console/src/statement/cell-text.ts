/** A value of a JSON answer as text. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Characters of a value in a table: a hundred texts of megabytes would stop the page. Longer than every token and secret that is shown once. */
const SHOWN_MAX = 10_000;

export function shownText(value: unknown): string {
  const text = cellText(value);
  return text.length <= SHOWN_MAX
    ? text
    : `${text.slice(0, SHOWN_MAX)} … (${text.length.toLocaleString('en')} characters)`;
}
