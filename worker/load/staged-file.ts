import { JSON_DOCUMENT } from '#shared/task/json-document.ts';
import { GUARDED_COLUMNS } from '#shared/task/load-rules.ts';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { type StagedSource } from '#shared/task/task.ts';
import type { FileFormat, JsonFormat } from '#shared/stage/file-format.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { readParquet } from '#shared/sql/read-parquet.ts';
import type { Footer, ReadFooter } from '../scan/footer.ts';
import type { FileText } from '../staged/file-text.ts';
import { rowBounds } from '../scan/row-bounds.ts';
import { isRead, jsonValue, jsonValues, readDocuments, readJson } from '../staged/json-texts.ts';
import { markNumbers } from '../staged/long-numbers.ts';
import { isBeginOf, NO_HEADER, parquetColumns, partGroups, UNPACKED } from '../staged/print-staged.ts';
import { nameKey, requireSomeColumn } from '../staged/require-some-column.ts';
import { linesBefore, type RangeFiles, type ReadyText } from '../staged/range-files.ts';
import { readyText } from '../staged/ready-text.ts';
import type { Column } from '../staged/staged-column.ts';
import { readablePath, type OpenScanned } from '../scan/readable-path.ts';
import { csvTexts } from './csv-texts.ts';
import type { RecordTexts } from './record-texts.ts';

/** One file of a stage, and the texts that read it. */
export type StagedFile = RecordTexts & {
  readonly file: ScanFile;
  /** The format by which a part of a text file is read: only the first has the header. */
  readonly format: FileFormat;
  /** The text of CSV and JSON; null for Parquet. */
  readonly text: FileText | null;
  /** Counts the lines of the file before the text. */
  readonly linesBefore: () => Promise<number>;
  /** Rows that `strict` reads, for a part of a Parquet file; null = its scan counts them. */
  readonly rows: number | null;
};

const PLACE = quoteIdentifier(GUARDED_COLUMNS.place);
const FAULT = quoteIdentifier(GUARDED_COLUMNS.fault);

type FileTools = {
  readonly open: OpenScanned;
  readonly readFooter: ReadFooter;
  readonly signal: AbortSignal;
  /** Copies of the parts of text files. */
  readonly ranges: RangeFiles;
};

/** Prints the texts of a file, or of its part; null when no record begins in it. @throws INVALID_TABLE_DATA for what is no Parquet file, INVALID_INPUT_FILE for a header that is too long or has too many names, as `requireSomeColumn` */
export async function stagedFile(
  source: StagedSource,
  file: ScanFile,
  { open, readFooter, signal, ranges }: FileTools,
): Promise<StagedFile | null> {
  const { format } = source;
  const names = await requireSomeColumn(source, file, { open, readFooter, signal });
  if (format.kind === 'parquet') {
    const path = readablePath(open, file.path);
    const footer = await readFooter(file);
    const groups = partGroups(file, footer);
    if (groups === null) return null;
    const rows = file.bytes === undefined ? null : groups.reduce((sum, group) => sum + group.rows, 0);
    const texts = parquetTexts(source, path, { footer, bounds: rowBounds(groups, footer) });
    return { file, format, text: null, linesBefore: () => Promise.resolve(0), rows, ...texts };
  }
  const ready = await readyText(signal, file, { ...source, format }, { open, ranges });
  if (ready === null) return null;
  const { copy } = ready;
  const rest = {
    file,
    text: ready.text,
    linesBefore: () => (copy === undefined ? Promise.resolve(0) : linesBefore(copy, open)),
    rows: null,
  };
  const packed = copy === undefined ? format : { ...format, ...UNPACKED };
  if (packed.kind === 'json') return { ...rest, format: packed, ...jsonTexts({ ...source, format: packed }, ready) };
  const own = { ...packed, header: isBeginOf(ready) ? packed.header : NO_HEADER };
  return { ...rest, format: own, ...csvTexts({ ...source, format: own }, ready, names) };
}

function jsonTexts(
  { format, columns }: StagedSource & { readonly format: JsonFormat },
  { path, isLong }: ReadyText,
): RecordTexts {
  // Where each line is a document, one that is none gives NULL; in other files nobody knows where the next one begins.
  const read = readDocuments(format, [path], format.layout === 'lines' ? ['ignore_errors = true'] : []);
  const placed = `SELECT row_number() OVER () AS place, * FROM (${read})`;
  const documents = isLong ? markNumbers(placed) : placed;
  const value = (column: Column): string => jsonValue(column, isLong);
  const tries = `SELECT place, ${JSON_DOCUMENT}, ${tried(columns, value)} FROM (${documents})`;
  return {
    strict: readJson(format, [path], { columns, isLong }),
    guarded: guardedTexts(columns, faultOf(columns, `NOT (${isRead(columns)})`), tries),
    record: (place) =>
      `SELECT ${jsonValues(columns, isLong)} FROM (SELECT * FROM (${documents}) WHERE place = ${place})`,
  };
}

function parquetTexts(
  source: StagedSource,
  path: string,
  { footer, bounds }: { readonly footer: Footer; readonly bounds: readonly string[] },
): RecordTexts {
  const { columns } = source;
  const key = nameKey(source);
  const found = parquetColumns(footer, key);
  const value = ({ name, type }: Column): string => `CAST(${found(key(name)) ?? 'NULL'} AS ${type})`;
  const list = columns.map((column) => `${value(column)} AS ${quoteIdentifier(column.name)}`).join(', ');
  const hasNumber = footer.fields.some(({ name }) => foldIdentifier(name) === 'file_row_number');
  const place = hasNumber ? 'row_number() OVER ()' : 'f.file_row_number + 1';
  const where = bounds.length === 0 ? '' : ` WHERE ${bounds.join(' AND ')}`;
  const from = `${readParquet([path], hasNumber ? '' : ', file_row_number = true')} AS f`;
  return {
    strict: `SELECT ${list} FROM ${readParquet([path])} AS f${where}`,
    guarded: guardedTexts(
      columns,
      faultOf(columns),
      `SELECT ${place} AS place, ${tried(columns, value)} FROM ${from}${where}`,
    ),
    record: (at) =>
      hasNumber
        ? `SELECT ${list} FROM (SELECT *, ${place} AS ${PLACE} FROM ${from}) AS f WHERE ${PLACE} = ${at}`
        : `SELECT ${list} FROM ${from} WHERE f.file_row_number = ${at - 1}`,
  };
}

const tried = (columns: readonly Column[], value: (column: Column) => string): string =>
  columns.map((column, i) => `TRY({'v': ${value(column)}}) AS t${i}`).join(', ');

function guardedTexts(columns: readonly Column[], fault: string, tries: string): string {
  const values = columns.map(({ name }, i) => `t${i}.v AS ${quoteIdentifier(name)}`);
  return `SELECT place AS ${PLACE}, ${fault} AS ${FAULT}, ${values.join(', ')} FROM (${tries})`;
}

/** Null for a record whose values could all be had; the name of the first column whose value could not, or nothing for a whole record. */
const faultOf = (columns: readonly Column[], isNone?: string): string => {
  const first = isNone === undefined ? [] : [`WHEN ${isNone} THEN ''`];
  const others = columns.map(({ name }, i) => `WHEN t${i} IS NULL THEN ${quoteLiteral(name)}`);
  const cases = [...first, ...others];
  return cases.length === 0 ? 'CAST(NULL AS VARCHAR)' : `CASE ${cases.join(' ')} END`;
};
