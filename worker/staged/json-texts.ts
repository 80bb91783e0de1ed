import { JSON_DOCUMENT, type JsonRead } from '#shared/task/json-document.ts';
import type { JsonFormat } from '#shared/stage/file-format.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { quotePath } from '#shared/sql/read-parquet.ts';
import { must } from '#shared/must.ts';
import { RECORD_BYTES_MAX } from './first-record.ts';
import { markNumbers } from './long-numbers.ts';
import { structOf, timeOptions, type Column } from './staged-column.ts';

/** The names of compressions for JSON; CSV has others. */
const JSON_COMPRESSIONS = { auto: 'auto_detect', none: 'uncompressed', gzip: 'gzip', zstd: 'zstd' } as const;
const JSON_FORMATS = { lines: 'newline_delimited', array: 'array', documents: 'unstructured' } as const;

/** Options of every function that reads JSON. */
const fileOptions = ({ layout, compression }: JsonFormat): readonly string[] => [
  `format = '${JSON_FORMATS[layout]}'`,
  `compression = '${JSON_COMPRESSIONS[compression]}'`,
  `maximum_object_size = ${RECORD_BYTES_MAX}`,
  'hive_partitioning = false',
];

const listOf = (paths: readonly string[]): string => `[${paths.map(quotePath).join(', ')}]`;

/** Prints the read of files as DuckDB finds their columns. */
export function readFoundJson(format: JsonFormat, paths: readonly string[]): string {
  const options = [
    "records = 'auto'",
    `sample_size = ${SAMPLED_DOCUMENTS}`,
    // A large object is a struct as a small one is: in a map all values would have one type, and integers be rounded to DOUBLE.
    'map_inference_threshold = -1',
    ...fileOptions(format),
    ...timeOptions(format),
    ...passesOver(format),
  ];
  return `read_json(${listOf(paths)}, ${options.join(', ')})`;
}

/**
 * Prints a query of the structure of the same documents, as `json_structure` gives it: objects with the names of their members, which
 * DuckDB's types have not for a member without a name, or one that differs from another in case only.
 */
export function readStructure(format: JsonFormat, paths: readonly string[]): string {
  const documents = `SELECT * FROM (${readDocuments(format, paths, passesOver(format))}) LIMIT ${SAMPLED_DOCUMENTS}`;
  return `SELECT coalesce(CAST(json_group_structure(${JSON_DOCUMENT}) AS VARCHAR), '"JSON"') FROM (${documents})`;
}

/** Documents whose columns are those of a file, as many as DuckDB looks at by itself. */
export const SAMPLED_DOCUMENTS = 20_480;

/** Only where each line is a document is it known where the next one begins. */
const passesOver = ({ layout }: JsonFormat): readonly string[] => (layout === 'lines' ? ['ignore_errors = true'] : []);

/** Prints a query of the columns in files. @param isLong they may have numbers of which DuckDB's reader of JSON keeps too few digits */
export const readJson = (
  format: JsonFormat,
  paths: readonly string[],
  { columns, isLong }: { readonly columns: readonly Column[]; readonly isLong: boolean },
): string =>
  isLong || columns.some(({ json }) => json?.isDocument === true)
    ? readDocumentValues(format, paths, { columns, isLong })
    : readMembers(format, paths, columns);

function readMembers(format: JsonFormat, paths: readonly string[], columns: readonly Column[]): string {
  const read = columns.map(({ name, json }) => ({ name, type: ofJson(json).read }));
  const list = columns.map(({ name, type }, i) => {
    const column = quoteIdentifier(name);
    return read[i]?.type === type ? column : `CAST(${column} AS ${type}) AS ${column}`;
  });
  const options = ['records = true', `columns = ${structOf(read)}`, ...fileOptions(format), ...timeOptions(format)];
  return `SELECT ${list.join(', ')} FROM read_json(${listOf(paths)}, ${options.join(', ')})`;
}

/** It takes some times as long as `readMembers`. */
function readDocumentValues(
  format: JsonFormat,
  paths: readonly string[],
  { columns, isLong }: { readonly columns: readonly Column[]; readonly isLong: boolean },
): string {
  const isDocument = isRead(columns);
  const documents = `SELECT CASE WHEN ${isDocument} THEN ${JSON_DOCUMENT} ELSE error('a record is no JSON object') END AS ${JSON_DOCUMENT}
    FROM (${readDocuments(format, paths)})`;
  return `SELECT ${jsonValues(columns, isLong)} FROM (${isLong ? markNumbers(documents) : documents})`;
}

/** Prints a query of the documents in files, as `JSON_DOCUMENT`. */
export const readDocuments = (format: JsonFormat, paths: readonly string[], more: readonly string[] = []): string =>
  `SELECT json AS ${JSON_DOCUMENT} FROM read_json_objects(${listOf(paths)}, ${[...fileOptions(format), ...more].join(', ')})`;

/** The condition that a document has the form of a record. */
export const isRead = (columns: readonly Column[]): string =>
  columns.some(({ json }) => json?.isDocument === true)
    ? `${JSON_DOCUMENT} IS NOT NULL`
    : `coalesce(json_type(${JSON_DOCUMENT}), '') IN ('OBJECT', 'NULL')`;

/** The columns as a list over documents. @param isMarked numbers are marked in them (`markNumbers`) */
export const jsonValues = (columns: readonly Column[], isMarked: boolean): string =>
  columns.map((column) => `${jsonValue(column, isMarked)} AS ${quoteIdentifier(column.name)}`).join(', ');

/** A column's value in a document, converted as `read_json` does it. */
export const jsonValue = ({ json }: Pick<Column, 'json'>, isMarked: boolean): string =>
  isMarked ? ofJson(json).marked : ofJson(json).value;

const ofJson = (json: JsonRead | undefined): JsonRead => must(json, 'a column of JSON says how it is read');
