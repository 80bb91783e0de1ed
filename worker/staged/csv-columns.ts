import type { StagedSource } from '#shared/task/task.ts';
import type { CsvFormat } from '#shared/stage/file-format.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { nameKey } from './require-some-column.ts';
import type { Column } from './staged-column.ts';

/** A column and the expression of its value over the file's fields; `isTried`: it may fail. */
export type CsvValue = { readonly column: Column; readonly value: string; readonly isTried: boolean };
/** The values of the columns, and the fields of a file as DuckDB is told to read them. */
type Read = { readonly values: readonly CsvValue[]; readonly read: readonly Column[] };
type CsvSource = StagedSource & { readonly format: CsvFormat };

/** How the columns are read from a file of CSV. @param header the names in its first line, where columns are found by name */
export const csvColumns = (source: CsvSource, header: readonly string[]): Read =>
  source.byName === true ? byNames(source, header) : byPlaces(source);

function byPlaces({ columns, format }: CsvSource): Read {
  return {
    values: columns.map((column) => valueOf(column, quoteIdentifier(column.name), format)),
    read: columns.map(({ name, type }) => ({ name, type: readType(type) })),
  };
}

/** The columns of a file whose first line has these names; what is not asked for is read as text. */
function byNames(source: CsvSource, header: readonly string[]): Read {
  const { columns, format } = source;
  const key = nameKey(source);
  const places = new Map(header.map((name, i) => [key(name), i] as const).toReversed());
  const wanted = new Map(columns.map((column) => [places.get(key(column.name)), column]));
  return {
    values: columns.map((column) => {
      const at = places.get(key(column.name));
      if (at === undefined) return { column, value: `CAST(NULL AS ${column.type})`, isTried: false };
      return valueOf(column, `c${at}`, format);
    }),
    // DuckDB's reader has a column at least, also for an empty file.
    read: (header.length === 0 ? [''] : header).map((_, i) => ({
      name: `c${i}`,
      type: readType(wanted.get(i)?.type ?? 'VARCHAR'),
    })),
  };
}

/**
 * The types that DuckDB's reader of CSV parses itself. Of any other it names the wrong column for a text that is none, and of a TIMESTAMP WITH
 * TIME ZONE it makes NULL of it: these are read as text, and converted.
 */
const PARSED =
  /^(?:BOOLEAN|TINYINT|SMALLINT|INTEGER|BIGINT|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|DATE|TIME|TIMESTAMP|VARCHAR)$/;

const readType = (type: string): string => (PARSED.test(type) ? type : 'VARCHAR');

function valueOf(column: Column, text: string, { timestampFormat }: CsvFormat): CsvValue {
  const { type } = column;
  if (PARSED.test(type)) return { column, value: text, isTried: false };
  const isFormatted = type === 'TIMESTAMP WITH TIME ZONE' && timestampFormat !== null;
  const parsed = isFormatted ? `strptime(${text}, ${quoteLiteral(timestampFormat)})` : text;
  return { column, value: `CAST(${parsed} AS ${type})`, isTried: true };
}
