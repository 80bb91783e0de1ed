/** Texts that a spreadsheet takes for a formula. A number is none. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;

/** A value that no spreadsheet runs: what looks like a formula has an apostrophe before it. */
const harmless = (text: string): string => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);

const tabbed = (text: string): string => (/["\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Rows for the clipboard, with their headers: fields between tabs, as spreadsheets take them. NULL is an empty field. */
export function clipboardText(headers: readonly string[], rows: readonly (readonly (string | null)[])[]): string {
  const line = (fields: readonly (string | null)[]): string =>
    fields.map((field) => (field === null ? '' : tabbed(harmless(field)))).join('\t');
  return [headers, ...rows].map(line).join('\n');
}

const csvField = (text: string | null): string => {
  if (text === null) return '';
  const safe = harmless(text);
  return safe === '' || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** A line of CSV (RFC 4180): NULL is an empty field, an empty text is `""`. */
export const csvLine = (fields: readonly (string | null)[]): string => `${fields.map(csvField).join(',')}\r\n`;

const BARE = /^(?:U?(?:TINYINT|SMALLINT|INTEGER)|BOOLEAN)$/;

/** An object of JSON. Numbers that a double may not hold are texts, as `POST /api/query` has them. */
export function jsonLine(
  columns: readonly { readonly name: string; readonly type: string }[],
  fields: readonly (string | null)[],
): string {
  const members = columns.map(({ name, type }, i) => {
    const text = fields[i] ?? null;
    const value = text === null ? 'null' : BARE.test(type) ? text : JSON.stringify(text);
    return `${JSON.stringify(name)}:${value}`;
  });
  return `{${members.join(',')}}`;
}
