import { GUARDED_COLUMNS } from '#shared/task/load-rules.ts';
import type { StagedSource } from '#shared/task/task.ts';
import type { CsvFormat } from '#shared/stage/file-format.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { csvColumns, type CsvValue } from '../staged/csv-columns.ts';
import { newLineOption } from '../staged/even-lines.ts';
import { readCsv, withExtraFields } from '../staged/print-staged.ts';
import type { ReadyText } from '../staged/range-files.ts';
import type { RecordTexts } from './record-texts.ts';

/** Tables into which DuckDB puts the records of CSV files that it cannot read (`dropRejects`). */
export const REJECTS = { records: 'skein_rejects', scans: 'skein_reject_scans' } as const;

const PLACE = quoteIdentifier(GUARDED_COLUMNS.place);
const FAULT = quoteIdentifier(GUARDED_COLUMNS.fault);

/** @param header the names in the file's first line, where columns are found by name */
export function csvTexts(
  source: StagedSource & { readonly format: CsvFormat },
  { path, newLine, fields }: ReadyText,
  header: readonly string[],
): RecordTexts {
  const { format } = source;
  const { values, read } = csvColumns(source, header);
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

function guardedValues(values: readonly CsvValue[], places: string): string {
  const tried = values.map(({ value, isTried }, i) => `${isTried ? `TRY({'v': ${value}})` : value} AS t${i}`);
  const cases = values.flatMap(({ column, isTried }, i) =>
    isTried ? [`WHEN t${i} IS NULL THEN ${quoteLiteral(column.name)}`] : [],
  );
  const fault = cases.length === 0 ? 'CAST(NULL AS VARCHAR)' : `CASE ${cases.join(' ')} END`;
  const list = values.map(({ column, isTried }, i) => `t${i}${isTried ? '.v' : ''} AS ${quoteIdentifier(column.name)}`);
  return `SELECT ${PLACE}, ${fault} AS ${FAULT}, ${list.join(', ')} FROM (SELECT ${[PLACE, ...tried].join(', ')} FROM (${places}))`;
}
