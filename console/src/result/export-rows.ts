import { csvLine, jsonLine } from './copy-text.ts';
import type { ResultSet } from './result-set.ts';

export type ExportForm = 'CSV' | 'JSON' | 'Arrow';

const ENDINGS: Readonly<Record<ExportForm, string>> = { CSV: 'csv', JSON: 'json', Arrow: 'arrow' };
/** Rows of one part of a file: a text of all of them may be longer than a text can be. */
const ROWS_AT_ONCE = 5_000;

/** Hands the rows shown to the browser as a file. */
export function exportRows(result: ResultSet, form: ExportForm): void {
  const parts = form === 'Arrow' ? result.stream : new Blob(form === 'CSV' ? csv(result) : json(result));
  saveFile(parts, `result.${ENDINGS[form]}`);
}

export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const fieldsOf = (result: ResultSet, row: number): readonly (string | null)[] =>
  result.columns.map((_, column) => result.text(row, column));

function csv(result: ResultSet): string[] {
  return [csvLine(result.columns.map(({ name }) => name)), ...linesOf(result, (row) => csvLine(fieldsOf(result, row)))];
}

function json(result: ResultSet): string[] {
  const line = (row: number): string => `${row === 0 ? '' : ',\n'}${jsonLine(result.columns, fieldsOf(result, row))}`;
  return ['[', ...linesOf(result, line), ']\n'];
}

function linesOf(result: ResultSet, line: (row: number) => string): string[] {
  const parts: string[] = [];
  for (let start = 0; start < result.rowCount; start += ROWS_AT_ONCE) {
    let part = '';
    for (let row = start; row < Math.min(start + ROWS_AT_ONCE, result.rowCount); row += 1) part += line(row);
    parts.push(part);
  }
  return parts;
}
