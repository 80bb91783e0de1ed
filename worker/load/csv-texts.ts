import { GUARDED_COLUMNS } from '#shared/task/load-rules.ts';
import type { StagedSource } from '#shared/task/task.ts';
import type { CsvFormat } from '#shared/stage/file-format.ts';
import { requireSomeColumn } from '#shared/task/require-some-column.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { newLineOption } from '../staged/even-lines.ts';
import { readCsv, withExtraFields } from '../staged/print-staged.ts';
import type { ReadyText } from '../staged/range-files.ts';
import type { Column } from '../staged/staged-column.ts';
import { namesOf } from './csv-records.ts';
import type { RecordTexts } from './record-texts.ts';

/** Tables into which DuckDB puts the records of CSV files that it cannot read (`dropRejects`). */
export const REJECTS = { records: 'skein_rejects', scans: 'skein_reject_scans' } as const;

const PLACE = quoteIdentifier(GUARDED_COLUMNS.place);
const FAULT = quoteIdentifier(GUARDED_COLUMNS.fault);

/** A column and the expression of its value over the file's fields; `isTried`: it may fail. */
type Value = { readonly column: Column; readonly value: string; readonly isTried: boolean };

/**
 * @param header the first record of the file, where it has the names of the columns; `file` is what the file is called
 * @throws INVALID_ARGUMENT when it has no column that is asked for
 */
export function csvTexts(
  source: StagedSource & { readonly format: CsvFormat },
  { path, newLine, fields }: ReadyText,
  { header, file }: { readonly header: string; readonly file: string },
): RecordTexts {
  const { format } = source;
  const { values, read } =
    source.byHeader === true ? byNames(source, { file, names: namesOf(header, format) }) : byPlaces(source);
  const line = newLine === null ? [] : [newLineOption(newLine)];
  const from = (more: readonly string[] = []): string =>
    readCsv(format, [path], withExtraFields(read, fields), [...line, ...more]);
  const rejects = [
    'store_rejects = true',
    `rejects_table = ${quoteLiteral(REJECTS.records)}`,
    `rejects_scan = ${quoteLiteral(REJECTS.scans)}`,
  ];
  const list = values.map(({ column, value }) => `${value} AS ${quoteIdentifier(column.name)}`).join(', ');
  const places = `SELECT row_number() OVER () AS ${PLACE}, * FROM ${from(rejects)}`;
  return {
    strict: `SELECT ${list} FROM ${from()}`,
    guarded: guardedValues(values, places),
    record: (place) => `SELECT ${list} FROM (${places}) WHERE ${PLACE} = ${place}`,
  };
}

function guardedValues(values: readonly Value[], places: string): string {
  const tried = values.map(({ value, isTried }, i) => `${isTried ? `TRY({'v': ${value}})` : value} AS t${i}`);
  const cases = values.flatMap(({ column, isTried }, i) =>
    isTried ? [`WHEN t${i} IS NULL THEN ${quoteLiteral(column.name)}`] : [],
  );
  const fault = cases.length === 0 ? 'CAST(NULL AS VARCHAR)' : `CASE ${cases.join(' ')} END`;
  const list = values.map(({ column, isTried }, i) => `t${i}${isTried ? '.v' : ''} AS ${quoteIdentifier(column.name)}`);
  return `SELECT ${PLACE}, ${fault} AS ${FAULT}, ${list.join(', ')} FROM (SELECT ${[PLACE, ...tried].join(', ')} FROM (${places}))`;
}

type Read = { readonly values: readonly Value[]; readonly read: readonly Column[] };

function byPlaces({ columns, format }: StagedSource & { readonly format: CsvFormat }): Read {
  return {
    values: columns.map((column) => valueOf(column, quoteIdentifier(column.name), format)),
    read: columns.map(({ name, type }) => ({ name, type: readType(type) })),
  };
}

/** The columns of a file whose first line has these names; what is not asked for is read as text. */
function byNames(
  { columns, matchesCase, format }: StagedSource & { readonly format: CsvFormat },
  { file, names: header }: { readonly file: string; readonly names: readonly string[] },
): Read {
  const key = matchesCase === true ? (name: string): string => name : foldIdentifier;
  const asked = columns.map(({ name }) => name);
  requireSomeColumn(file, header, asked, key);
  const places = new Map(header.map((name, i) => [key(name), i] as const).toReversed());
  const wanted = new Map(columns.map((column) => [places.get(key(column.name)), column]));
  return {
    values: columns.map((column) => {
      const at = places.get(key(column.name));
      if (at === undefined) return { column, value: `CAST(NULL AS ${column.type})`, isTried: false };
      return valueOf(column, `c${at}`, format);
    }),
    read: header.map((_, i) => ({ name: `c${i}`, type: readType(wanted.get(i)?.type ?? 'VARCHAR') })),
  };
}

/**
 * The types that DuckDB's reader of CSV parses itself. Of any other it names the wrong column for a text that is none, and of a TIMESTAMP WITH
 * TIME ZONE it makes NULL of it: these are read as text, and converted.
 */
const PARSED =
  /^(?:BOOLEAN|TINYINT|SMALLINT|INTEGER|BIGINT|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|DATE|TIME|TIMESTAMP|VARCHAR)$/;

const readType = (type: string): string => (PARSED.test(type) ? type : 'VARCHAR');

function valueOf(column: Column, text: string, { timestampFormat }: CsvFormat): Value {
  const { type } = column;
  if (PARSED.test(type)) return { column, value: text, isTried: false };
  const isFormatted = type === 'TIMESTAMP WITH TIME ZONE' && timestampFormat !== null;
  const parsed = isFormatted ? `strptime(${text}, ${quoteLiteral(timestampFormat)})` : text;
  return { column, value: `CAST(${parsed} AS ${type})`, isTried: true };
}
