import type { CsvFormat } from '#shared/stage/file-format.ts';

// Texts of NULL in which the escape stands, such as `\N` beside ESCAPE = '\': DuckDB's reader of CSV takes none of them.

/** Stands for them in copies of the files that have some: no field of a file is this by chance. */
const SIGN = '\x02\x10NULL\x02';

const isEscaped = (text: string, { escape, quote }: CsvFormat): boolean =>
  escape !== null && escape !== quote && text.includes(escape);

/** The texts of NULL that only a copy can show DuckDB. */
export const escapedNulls = (format: CsvFormat): readonly string[] =>
  format.nulls.filter((text) => isEscaped(text, format));

/** The texts of NULL as DuckDB is told of them. */
export function readNulls(format: CsvFormat): readonly string[] {
  const plain = format.nulls.filter((text) => !isEscaped(text, format));
  return plain.length === format.nulls.length ? plain : [...plain, SIGN];
}

/** A record in which each field that is one of `nulls`, and that nothing encloses, is the sign instead. */
export function signNulls(record: Uint8Array, format: CsvFormat, nulls: readonly string[]): Uint8Array {
  const { delimiter, quote, escape } = format;
  // Bytes as characters: quotes, escapes and delimiters are ASCII.
  const text = Buffer.from(record).toString('latin1');
  const wanted = new Set(nulls.map((one) => Buffer.from(one).toString('latin1')));
  if (![...wanted].some((one) => text.includes(one))) return record;
  let result = '';
  for (let at = 0; at <= text.length;) {
    const end = fieldEnd(text, at, { delimiter, quote, escape });
    const field = text.slice(at, end);
    result += `${wanted.has(field) ? SIGN : field}${text.slice(end, end + delimiter.length)}`;
    at = end + delimiter.length;
  }
  return Buffer.from(result, 'latin1');
}

/** The end of the field that begins at a place. */
function fieldEnd(text: string, start: number, format: Pick<CsvFormat, 'delimiter' | 'quote' | 'escape'>): number {
  let at = start;
  if (format.quote !== null && text[start] === format.quote) {
    for (at += 1; at < text.length && text[at] !== format.quote; at += 1) if (text[at] === format.escape) at += 1;
  }
  const end = text.indexOf(format.delimiter, at);
  return end === -1 ? text.length : end;
}
