import { OF_DOCUMENT } from '#shared/task/json-document.ts';
import { scannedBytes } from '#shared/task/scanned-bytes.ts';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { ScanSpec, StagedSource } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import { UPLOADS_FOLDER } from '#shared/stage/stage-folders.ts';
import type { CsvFormat, JsonFormat } from '#shared/stage/file-format.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { quotePath, readParquet } from '#shared/sql/read-parquet.ts';
import { must, unreachable } from '#shared/must.ts';
import { isWithin } from '#shared/storage/location.ts';
import { csvColumns } from './csv-columns.ts';
import { readNulls } from './escaped-nulls.ts';
import { newLineOption } from './even-lines.ts';
import { RECORD_BYTES_MAX } from './first-record.ts';
import type { Footer, RowGroup } from '../scan/footer.ts';
import { inBatches } from '../scan/in-batches.ts';
import { misleadingColumns } from '../scan/misleading-columns.ts';
import { requireDecimals } from '../scan/print-column.ts';
import { baseName, VIRTUAL_COLUMNS, withoutStatistics } from '../scan/plan-file.ts';
import { rowBounds } from '../scan/row-bounds.ts';
import type { PrintedScan, ScanTools } from '../scan/print-scan.ts';
import { requireFewLevels } from './json-levels.ts';
import { readFoundJson, readJson, readStructure, SAMPLED_DOCUMENTS } from './json-texts.ts';
import type { RangeFiles, ReadyText } from './range-files.ts';
import { readyText } from './ready-text.ts';
import { printRecordStarts } from './record-starts.ts';
import { nameKey, requireSomeColumn } from './require-some-column.ts';
import { nullOf, structOf, timeOptions, type Column } from './staged-column.ts';
import { INVALID_FILE } from './staged-error.ts';
import { wholeFiles } from './whole-files.ts';
import { readablePath } from '../scan/readable-path.ts';

export type StagedScan = ScanSpec & { readonly staged: StagedSource };

/** `ranges`: where parts of text files are copied to. */
type StagedTools = Pick<ScanTools, 'open' | 'fetch' | 'readFooter'> & { readonly ranges: RangeFiles };

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
  await tools.fetch?.(wholeFiles(scan.staged.what === 'columns' ? files.slice(0, 1) : files, scan.staged.format));
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
    format.kind === 'parquet'
      ? await readParquets(signal, scan, tools)
      : await readTexts(signal, { ...scan, format }, tools);
  return texts.length === 0 ? `SELECT ${columns.map(nullOf).join(', ')} WHERE false` : texts.join(' UNION ALL ');
}

/** One text for all files that are read in the same way. Only the first part of a file has its header. */
async function readTexts(
  signal: AbortSignal,
  scan: StagedScan & { readonly format: CsvFormat | JsonFormat },
  { open, readFooter, ranges }: StagedTools,
): Promise<readonly string[]> {
  const { format, files, staged } = scan;
  const { columns } = staged;
  const found = await inBatches(signal, files, async (file) => {
    const names = await requireSomeColumn(staged, file, { open, readFooter, signal });
    const ready = await readyText(signal, file, { format, columns }, { open, ranges });
    if (ready === null) return [];
    const isBegin = format.kind === 'json' || isBeginOf(ready);
    const header = format.kind === 'csv' ? names : [];
    const { path, newLine, fields, isLong } = ready;
    const { compression } = ready.copy === undefined ? format : UNPACKED;
    return [{ path, way: { isBegin, newLine, fields, isLong, compression, header } }];
  });
  const alike = Map.groupBy(found.flat(), ({ way }) => JSON.stringify(way));
  return [...alike.values()].map((group) => {
    const paths = group.map(({ path }) => path);
    const { isBegin, newLine, fields, isLong, compression, header } = must(group[0], 'a group has a file').way;
    if (format.kind === 'json') return readJson({ ...format, compression }, paths, { columns, isLong });
    const own = { ...format, compression, header: isBegin ? format.header : NO_HEADER };
    const { values, read } = csvColumns({ ...staged, format: own }, header);
    const list = values.map(({ column, value }) => `${value} AS ${quoteIdentifier(column.name)}`).join(', ');
    const options = newLine === null ? [] : [newLineOption(newLine)];
    return `SELECT ${list} FROM ${readCsv(own, paths, withExtraFields(read, fields), options)}`;
  });
}

/** The columns, and one for each field that records have beyond them: DuckDB pads what is missing, and refuses what is too much. */
export const withExtraFields = (columns: readonly Column[], fields: number): readonly Column[] => [
  ...columns,
  ...Array.from({ length: Math.max(0, fields - columns.length) }, (_, i) => ({
    name: `_skein_extra_field_${i}`,
    type: 'VARCHAR',
  })),
];

/** Copies are never compressed. */
export const UNPACKED = { compression: 'none' } as const;

/** Whether a text has the begin of its file, where the header is. */
export const isBeginOf = ({ copy }: ReadyText): boolean => copy === undefined || copy.bytes.start === 0;

export const NO_HEADER: CsvFormat['header'] = { kind: 'lines', count: 0 };

/** The names and types of the columns of the first file; of JSON also the structure of its documents, as `OF_DOCUMENT`. */
async function describe(
  signal: AbortSignal,
  { staged: { format }, files }: StagedScan,
  { open, readFooter, ranges }: StagedTools,
): Promise<string> {
  const file = must(files[0], 'a stage is read where it has a file');
  // A footer that is too large, or no footer, is refused before DuckDB opens the file.
  if (format.kind === 'parquet') await readFooter(file);
  const source =
    format.kind === 'csv'
      ? await foundCsv(signal, file, format, { open, ranges })
      : format.kind === 'json'
        ? await foundJson(signal, file, format, open)
        : readParquet([readablePath(open, file.path)]);
  const columns = `SELECT column_name AS "name", column_type AS "type" FROM (DESCRIBE SELECT * FROM ${source})`;
  if (format.kind !== 'json') return columns;
  return `${columns} UNION ALL SELECT '${OF_DOCUMENT}', (${readStructure(format, [readablePath(open, file.path)])})`;
}

async function foundJson(
  signal: AbortSignal,
  file: ScanFile,
  format: JsonFormat,
  open: StagedTools['open'],
): Promise<string> {
  const text = { location: file.path, compression: format.compression };
  await requireFewLevels(signal, open, text, { layout: format.layout, documentsMax: 2 * SAMPLED_DOCUMENTS });
  return readFoundJson(format, [readablePath(open, file.path)]);
}

async function foundCsv(
  signal: AbortSignal,
  file: ScanFile,
  format: CsvFormat,
  tools: Pick<StagedTools, 'open' | 'ranges'>,
): Promise<string> {
  const ready = must(await readyText(signal, file, { format, columns: [] }, tools), 'a whole file');
  const own = ready.copy === undefined ? format : { ...format, ...UNPACKED };
  return readCsv(own, [ready.path], null, ready.newLine === null ? [] : [newLineOption(ready.newLine)]);
}

/** @param columns null = as the file has them @param more further options */
export function readCsv(
  format: CsvFormat,
  paths: readonly string[],
  columns: readonly Column[] | null,
  more: readonly string[] = [],
): string {
  const { delimiter, quote, escape, header, countsFields, compression, dateFormat, timestampFormat } = format;
  const isNamed = header.kind === 'names';
  const options = [
    `auto_detect = ${columns === null}`,
    ...(columns === null ? ['all_varchar = true', 'ignore_errors = true'] : [`columns = ${structOf(columns)}`]),
    `delim = ${quoteLiteral(delimiter)}`,
    `quote = ${quoteLiteral(quote ?? '')}`,
    `escape = ${quoteLiteral(escape ?? '')}`,
    `header = ${isNamed}`,
    ...(isNamed || header.count === 0 ? [] : [`skip = ${header.count}`]),
    `nullstr = [${readNulls(format).map(quoteLiteral).join(', ')}]`,
    'allow_quoted_nulls = false',
    // DuckDB pads records with line ends in quotes in one thread only.
    ...(countsFields ? [] : ['null_padding = true', 'parallel = false']),
    `compression = '${compression}'`,
    `max_line_size = ${RECORD_BYTES_MAX}`,
    `buffer_size = ${2 * RECORD_BYTES_MAX}`,
    ...timeOptions({ dateFormat, timestampFormat }),
    'hive_partitioning = false',
    ...more,
  ];
  return `read_csv([${paths.map(quotePath).join(', ')}], ${options.join(', ')})`;
}

/** Files with the same columns stand in one `read_parquet`; a column that a file has not is NULL in its rows. */
async function readParquets(
  signal: AbortSignal,
  scan: StagedScan,
  { open, readFooter }: Omit<StagedTools, 'ranges'>,
): Promise<readonly string[]> {
  const branches = new Map<string, ParquetBranch>();
  for (const file of scan.files) {
    await requireSomeColumn(scan.staged, file, { open, readFooter, signal });
    const footer = await readFooter(file);
    const groups = partGroups(file, footer);
    if (groups === null) continue;
    const bounds = rowBounds(groups, footer);
    const key = nameKey(scan.staged);
    const source = parquetColumns(footer, key);
    const list = scan.staged.columns.map((column) => {
      const own = orError(() => source(key(column.name)));
      if (own === undefined) return nullOf(column);
      return `CAST(${own} AS ${column.type}) AS ${quoteIdentifier(column.name)}`;
    });
    const way = JSON.stringify([footer.signature, list, bounds.length === 0 ? null : [file.path, bounds]]);
    const branch = branches.get(way) ?? {
      list,
      paths: [],
      where: bounds.length === 0 ? '' : ` WHERE ${bounds.join(' AND ')}`,
    };
    branches.set(way, branch);
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
