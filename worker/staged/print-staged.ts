import { scannedBytes } from '#proto/scanned-bytes.ts';
import type { ScanFile, ScanSpec, StagedSource } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import { UPLOADS_FOLDER } from '#shared/stage/stage-folders.ts';
import type { CsvFormat, JsonFormat } from '#shared/stage/file-format.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { quotePath, readParquet } from '#shared/sql/read-parquet.ts';
import { must, unreachable } from '#shared/must.ts';
import { isWithin } from '#shared/storage/location.ts';
import type { NewLine } from './csv-walk.ts';
import { textOf } from './file-text.ts';
import { newLineOption, readFirstRecord, RECORD_BYTES_MAX } from './first-record.ts';
import type { Footer, RowGroup } from '../scan/footer.ts';
import { inBatches } from '../scan/in-batches.ts';
import { misleadingColumns } from '../scan/misleading-columns.ts';
import { requireDecimals } from '../scan/print-column.ts';
import { baseName, rowBounds, VIRTUAL_COLUMNS, withoutStatistics } from '../scan/plan-file.ts';
import type { PrintedScan, ScanTools } from '../scan/print-scan.ts';
import type { RangeFiles } from './range-files.ts';
import { printRecordStarts } from './record-starts.ts';
import { INVALID_FILE } from './staged-error.ts';
import { readablePath, type OpenScanned } from '../scan/readable-path.ts';

export type StagedScan = ScanSpec & { readonly staged: StagedSource };

/** `ranges`: where parts of text files are copied to. */
type StagedTools = Pick<ScanTools, 'open' | 'readFooter'> & { readonly ranges: RangeFiles };

/**
 * Prints the read of a stage's files. CSV and JSON files are read by one function for all; of Parquet, those whose columns are the same.
 * @throws STAGE_FILE_NOT_FOUND for a file that is gone or was replaced, INVALID_TABLE_DATA
 */
export async function printStaged(
  signal: AbortSignal,
  scan: StagedScan,
  { index, ranges, ...tools }: StagedTools & { readonly index: number },
): Promise<PrintedScan> {
  const { open } = tools;
  const { files } = scan;
  await inBatches(signal, files, (file) => checkFile(scan, file, open));
  const sql = await print(signal, scan, { ranges, ...tools });
  const bytes = files.reduce((sum, file) => sum + scannedBytes(file), 0);
  return {
    sql: `(${sql})`,
    report: { scan: index, files: files.length, rowGroups: 0, rowGroupsPruned: 0, bytes },
    rows: 0,
    files: files.map(({ path }) => path),
  };
}

function print(signal: AbortSignal, scan: StagedScan, tools: StagedTools): Promise<string> {
  const { staged } = scan;
  switch (staged.what) {
    case 'rows':
      return read(signal, scan, tools);
    case 'columns':
      return describe(signal, scan, tools);
    case 'record starts':
      return printRecordStarts(signal, scan, staged, tools);
    default:
      return unreachable(staged.what);
  }
}

/** A file of the stage, and of nothing else, which is still the one that the statement found. */
export async function checkFile(
  { allowedRoots }: ScanSpec,
  { path, etag }: ScanFile,
  open: ScanTools['open'],
): Promise<void> {
  const isOwn = allowedRoots.some((root) => isWithin(path, root) && !isWithin(path, `${root}/${UPLOADS_FOLDER}`));
  if (!isOwn) throw new SkeinError('INVALID_TABLE_DATA', 'a file of a stage lies outside of it');
  const found = await open(path).fileAt(path);
  if (found?.etag === etag) return;
  const what = found === undefined ? 'is gone' : 'was replaced';
  throw new SkeinError('STAGE_FILE_NOT_FOUND', `the file ${baseName(path)} ${what} while the statement ran`);
}

async function read(signal: AbortSignal, scan: StagedScan, tools: StagedTools): Promise<string> {
  const { format, columns } = scan.staged;
  const texts =
    format.kind === 'parquet' ? await readParquets(scan, tools) : await readTexts(signal, { ...scan, format }, tools);
  return texts.length === 0 ? `SELECT ${columns.map(nullOf).join(', ')} WHERE false` : texts.join(' UNION ALL ');
}

/** One text for all files that are read in the same way. Only the first part of a file has its header. */
async function readTexts(
  signal: AbortSignal,
  scan: StagedScan & { readonly format: CsvFormat | JsonFormat },
  { open, ranges }: StagedTools,
): Promise<readonly string[]> {
  const { format, files } = scan;
  const { columns } = scan.staged;
  const found = await inBatches(signal, files, async (file) => {
    const whole = { path: readablePath(open, file.path), isBegin: true };
    const part =
      file.bytes === undefined
        ? undefined
        : await ranges.add(signal, file, file.bytes, { open, lineBytesMax: RECORD_BYTES_MAX });
    if (part === null) return [];
    const read = part === undefined ? whole : { path: part.path, isBegin: part.bytes.start === 0 };
    return [{ ...read, newLine: format.kind === 'csv' ? await lineEnd(signal, file, format, open) : null }];
  });
  const alike = Map.groupBy(found.flat(), ({ isBegin, newLine }) => JSON.stringify([isBegin, newLine]));
  return [...alike.values()].map((group) => {
    const paths = group.map(({ path }) => path);
    if (format.kind === 'json') return `SELECT * FROM ${readJson(format, paths, columns)}`;
    const [{ isBegin, newLine } = { isBegin: true, newLine: null }] = group;
    const own = { ...format, header: isBegin ? format.header : NO_HEADER };
    return `SELECT * FROM ${readCsv(own, paths, columns, newLine === null ? [] : [newLineOption(newLine)])}`;
  });
}

/** How the lines of a file end; null when only DuckDB can say what is wrong with it. */
async function lineEnd(
  signal: AbortSignal,
  { path: location }: ScanFile,
  format: CsvFormat,
  open: OpenScanned,
): Promise<NewLine | null> {
  try {
    const text = textOf(signal, open, { location, compression: format.compression });
    return (await readFirstRecord(text, format)).newLine;
  } catch (error) {
    if (signal.aborted || error instanceof SkeinError) throw error;
    return null;
  }
}

export const NO_HEADER: CsvFormat['header'] = { kind: 'lines', count: 0 };

export const nullOf = ({ name, type }: Column): string => `CAST(NULL AS ${type}) AS ${quoteIdentifier(name)}`;

export type Column = StagedSource['columns'][number];

/** The names and types of the columns of the first file. */
async function describe(
  signal: AbortSignal,
  { staged: { format }, files }: StagedScan,
  { open, readFooter }: Omit<StagedTools, 'ranges'>,
): Promise<string> {
  const file = must(files[0], 'a stage is read where it has a file');
  const path = readablePath(open, file.path);
  // A footer that is too large, or no footer, is refused before DuckDB opens the file.
  if (format.kind === 'parquet') await readFooter(file);
  const lines = format.kind === 'csv' ? await lineEnd(signal, file, format, open) : null;
  const source =
    format.kind === 'csv'
      ? readCsv(format, [path], null, lines === null ? [] : [newLineOption(lines)])
      : format.kind === 'json'
        ? readJson(format, [path], null, format.layout === 'lines' ? ['ignore_errors = true'] : [])
        : readParquet([path]);
  return `SELECT column_name AS "name", column_type AS "type" FROM (DESCRIBE SELECT * FROM ${source})`;
}

/** @param columns null = as the file has them @param more further options */
export function readCsv(
  format: CsvFormat,
  paths: readonly string[],
  columns: readonly Column[] | null,
  more: readonly string[] = [],
): string {
  const { delimiter, quote, escape, header, nulls, countsFields, compression, dateFormat, timestampFormat } = format;
  const isNamed = header.kind === 'names';
  const options = [
    `auto_detect = ${columns === null}`,
    ...(columns === null ? ['all_varchar = true', 'ignore_errors = true'] : [`columns = ${structOf(columns)}`]),
    `delim = ${quoteLiteral(delimiter)}`,
    `quote = ${quoteLiteral(quote ?? '')}`,
    `escape = ${quoteLiteral(escape ?? '')}`,
    `header = ${isNamed}`,
    ...(isNamed || header.count === 0 ? [] : [`skip = ${header.count}`]),
    `nullstr = [${nulls.map(quoteLiteral).join(', ')}]`,
    'allow_quoted_nulls = false',
    `null_padding = ${!countsFields}`,
    `compression = '${compression}'`,
    `max_line_size = ${RECORD_BYTES_MAX}`,
    `buffer_size = ${2 * RECORD_BYTES_MAX}`,
    ...times(dateFormat, timestampFormat),
    'hive_partitioning = false',
    ...more,
  ];
  return `read_csv([${paths.map(quotePath).join(', ')}], ${options.join(', ')})`;
}

export function readJson(
  format: JsonFormat,
  paths: readonly string[],
  columns: readonly Column[] | null,
  more: readonly string[] = [],
): string {
  const { layout, compression, dateFormat, timestampFormat } = format;
  const options = [
    `format = '${JSON_FORMATS[layout]}'`,
    `records = ${columns === null ? "'auto'" : 'true'}`,
    ...(columns === null ? [] : [`columns = ${structOf(columns)}`]),
    ...jsonFile(compression),
    ...times(dateFormat, timestampFormat),
    'hive_partitioning = false',
    ...more,
  ];
  return `read_json([${paths.map(quotePath).join(', ')}], ${options.join(', ')})`;
}

/** The names of compressions for JSON; CSV has others. */
const JSON_COMPRESSIONS = { auto: 'auto_detect', none: 'uncompressed', gzip: 'gzip', zstd: 'zstd' } as const;

/** Options of every function that reads JSON. */
export const jsonFile = (compression: JsonFormat['compression']): readonly string[] => [
  `compression = '${JSON_COMPRESSIONS[compression]}'`,
  `maximum_object_size = ${RECORD_BYTES_MAX}`,
];

export const JSON_FORMATS = { lines: 'newline_delimited', array: 'array', documents: 'unstructured' } as const;

const structOf = (columns: readonly Column[]): string =>
  `{${columns.map(({ name, type }) => `${quoteLiteral(name)}: ${quoteLiteral(type)}`).join(', ')}}`;

const times = (dateFormat: string | null, timestampFormat: string | null): readonly string[] => [
  ...(dateFormat === null ? [] : [`dateformat = ${quoteLiteral(dateFormat)}`]),
  ...(timestampFormat === null ? [] : [`timestampformat = ${quoteLiteral(timestampFormat)}`]),
];

/** Files with the same columns stand in one `read_parquet`; a column that a file has not is NULL in its rows. */
async function readParquets(
  scan: StagedScan,
  { open, readFooter }: Omit<StagedTools, 'ranges'>,
): Promise<readonly string[]> {
  const branches = new Map<string, ParquetBranch>();
  for (const file of scan.files) {
    const footer = await readFooter(file);
    const groups = partGroups(file, footer);
    if (groups === null) continue;
    const bounds = rowBounds(groups, footer);
    const source = parquetColumns(footer);
    const list = scan.staged.columns.map((column) => {
      const own = orError(() => source(foldIdentifier(column.name)));
      if (own === undefined) return nullOf(column);
      return `CAST(${own} AS ${column.type}) AS ${quoteIdentifier(column.name)}`;
    });
    const key = JSON.stringify([footer.signature, list, bounds.length === 0 ? null : [file.path, bounds]]);
    const branch = branches.get(key) ?? {
      list,
      paths: [],
      where: bounds.length === 0 ? '' : ` WHERE ${bounds.join(' AND ')}`,
    };
    branches.set(key, branch);
    branch.paths.push(readablePath(open, file.path));
  }
  return [...branches.values()].map(
    ({ list, paths, where }) => `SELECT ${list.join(', ')} FROM ${readParquet(paths)} AS f${where}`,
  );
}

/** A column that cannot be read fails the statement when it reads the column: nobody says here which ones it reads. */
function orError(print: () => string | undefined): string | undefined {
  try {
    return print();
  } catch (error) {
    return `error(${quoteLiteral(`${INVALID_FILE}${SkeinError.of(error).message}`)})`;
  }
}

type ParquetBranch = { readonly list: readonly string[]; readonly paths: string[]; readonly where: string };

/**
 * Finds the columns of a file of a stage as SQL over it as `f`, by the names that `key` makes of theirs; the last one of equal names counts.
 * Columns whose statistics mislead DuckDB come without.
 * @throws INVALID_TABLE_DATA from the function, for a column that DuckDB would read wrongly
 */
export function parquetColumns(footer: Footer, key = foldIdentifier): (name: string) => string | undefined {
  const isMisleading = misleadingColumns(footer);
  const fields = new Map(footer.fields.map((field) => [key(field.name), field]));
  return (name) => {
    const field = fields.get(name);
    if (field === undefined) return undefined;
    requireDecimals(field);
    const own = `f.${quoteIdentifier(field.name)}`;
    return isMisleading(field) ? withoutStatistics(own) : own;
  };
}

/**
 * The groups of rows that begin, by their share of all rows, in the file's range; null when there is none. Where a column has the name of
 * DuckDB's number of the row, whoever has the file's begin reads all of it.
 */
export function partGroups({ bytes, sizeBytes }: ScanFile, { rowGroups, fields }: Footer): readonly RowGroup[] | null {
  if (bytes === undefined) return rowGroups;
  if (fields.some(({ name }) => VIRTUAL_COLUMNS.has(foldIdentifier(name)))) return bytes.start === 0 ? rowGroups : null;
  const last = rowGroups.at(-1);
  const rows = last === undefined ? 0 : last.startRow + last.rows;
  const groups = rowGroups.filter(({ startRow }) => {
    const at = (startRow / rows) * sizeBytes;
    return at >= bytes.start && at < bytes.end;
  });
  return groups.length === 0 ? null : groups;
}
