import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { objectPath, type ObjectPath } from '../inspect/statements.ts';
import type { MadeStatement, StatementAnswer } from '../statement/made-statement.ts';

export type FileType = 'CSV' | 'JSON' | 'PARQUET';

/** How a file is read. */
export type FileOptions = {
  readonly type: FileType;
  readonly delimiter: string;
  /** The first line has the names of the columns. */
  readonly hasHeader: boolean;
  /** The documents are the elements of one array. */
  readonly isArray: boolean;
};

/** A column of a file, and the column of the table that it goes to; null: it is left out. */
export type LoadedColumn = { readonly file: string; readonly to: string | null; readonly type: string };

/** Rows that types are proposed by. */
const SAMPLE_ROWS = 1_000;
const FIRST_ROWS = 20;

export const ON_ERROR = ['ABORT_STATEMENT', 'CONTINUE', 'SKIP_FILE'] as const;

/** The kind of a file by its name. */
export function optionsByName(name: string): FileOptions {
  const [, end = ''] = /\.(\w+)(?:\.(?:gz|zst|gzip|zstd))?$/i.exec(name) ?? [];
  const type = /^(json|ndjson|jsonl)$/i.test(end) ? 'JSON' : /^parquet$/i.test(end) ? 'PARQUET' : 'CSV';
  return { type, delimiter: /^tsv$/i.test(end) ? '\t' : ',', hasHeader: true, isArray: false };
}

const file = (path: string): string => quoteLiteral(`@~/${path}`);

/** @param isNamed a header gives names, in place of being skipped */
function format({ type, delimiter, hasHeader, isArray }: FileOptions, isNamed = true): string {
  const header = isNamed ? 'PARSE_HEADER = TRUE' : 'SKIP_HEADER = 1';
  const more = {
    CSV: [
      ...(hasHeader ? [header] : []),
      ...(delimiter === ',' ? [] : [`FIELD_DELIMITER = ${quoteLiteral(delimiter)}`]),
    ],
    JSON: isArray ? ['STRIP_OUTER_ARRAY = TRUE'] : [],
    PARQUET: [],
  };
  return `(${[`TYPE = ${type}`, ...more[type]].join(' ')})`;
}

const rowsOf = (path: string, options: FileOptions, count: number): string =>
  `SELECT * FROM ${file(path)} (FILE_FORMAT => ${format(options)}) LIMIT ${count}`;

export const firstRowsOf = (path: string, options: FileOptions): MadeStatement => ({
  sql: rowsOf(path, options, FIRST_ROWS),
});

/**
 * The types that a column of text may have, in the order in which they are proposed, and when a text is a value of one. A number with a zero or
 * a plus before it is a text: it is a code, or a telephone.
 */
const CANDIDATES: readonly (readonly [type: string, isOne: (name: string) => string])[] = [
  ['BIGINT', (c) => `TRY_CAST(TRY_CAST(${c} AS BIGINT) AS VARCHAR) = ${c}`],
  ['DOUBLE', (c) => `TRY_CAST(${c} AS DOUBLE) IS NOT NULL AND NOT regexp_matches(${c}, '^[+]|^-?0[0-9]')`],
  ['BOOLEAN', (c) => `lower(${c}) IN ('true', 'false')`],
  ['DATE', (c) => `TRY_CAST(${c} AS DATE) IS NOT NULL AND length(${c}) <= 10`],
  ['TIMESTAMP', (c) => `TRY_CAST(${c} AS TIMESTAMP) IS NOT NULL AND NOT ${hasZone(c)}`],
  ['TIMESTAMPTZ', (c) => `TRY_CAST(${c} AS TIMESTAMPTZ) IS NOT NULL AND ${hasZone(c)}`],
];

const hasZone = (c: string): string => `regexp_matches(${c}, ':[0-9.]+ ?([Zz]|[+-][0-9]{2}(:?[0-9]{2})?)$')`;

/** Counts for each column of text its values, and those that are of each type. */
export function sampleTypes(path: string, options: FileOptions, names: readonly string[]): MadeStatement {
  const counts = names
    .map(quoteIdentifier)
    .flatMap((name) => [`count(${name})`, ...CANDIDATES.map(([, isOne]) => `count(*) FILTER (WHERE ${isOne(name)})`)]);
  return { sql: `SELECT ${counts.join(', ')} FROM (${rowsOf(path, options, SAMPLE_ROWS)}) AS sample` };
}

/** The types that the answer to `sampleTypes` proposes. */
export function proposedTypes({ rows: [counts = []] }: Pick<StatementAnswer, 'rows'>): readonly string[] {
  const width = CANDIDATES.length + 1;
  return Array.from({ length: Math.floor(counts.length / width) }, (_, i) => {
    const [all, ...ofType] = counts.slice(i * width, (i + 1) * width).map(Number);
    const found = all === 0 ? -1 : ofType.indexOf(all ?? 0);
    return CANDIDATES[found]?.[0] ?? 'VARCHAR';
  });
}

const STORED: ReadonlyMap<string, string> = new Map([
  ['HUGEINT', 'DECIMAL(38,0)'],
  ['UHUGEINT', 'DECIMAL(38,0)'],
  ['UBIGINT', 'DECIMAL(20,0)'],
  ['UINTEGER', 'BIGINT'],
  ['USMALLINT', 'INTEGER'],
  ['UTINYINT', 'INTEGER'],
  ['SMALLINT', 'INTEGER'],
  ['TINYINT', 'INTEGER'],
  ['JSON', 'VARCHAR'],
  ['"NULL"', 'VARCHAR'],
]);

/** The type of a table's column for a type of a file. */
export const storedType = (type: string): string => STORED.get(type) ?? type;

export const createTable = (path: ObjectPath, columns: readonly LoadedColumn[]): MadeStatement => ({
  sql: `CREATE TABLE ${objectPath(path)} (${columns
    .filter(({ to }) => to !== null)
    .map(({ to, type }) => `${quoteIdentifier(to ?? '')} ${type}`)
    .join(', ')})`,
});

const fold = (name: string): string => name.toLowerCase();

/** Whether each column goes to one of its own name. */
const byName = ({ type, hasHeader }: FileOptions, columns: readonly LoadedColumn[]): boolean =>
  type !== 'CSV' || (hasHeader && columns.every(({ file: from, to }) => to === null || fold(to) === fold(from)));

/** Why COPY INTO cannot do it; undefined when it can. */
export function unfit(options: FileOptions, columns: readonly LoadedColumn[]): string | undefined {
  const taken = columns.filter(({ to }) => to !== null);
  if (taken.length === 0) return 'No column is loaded.';
  if (taken.some(({ to }) => to === '')) return 'A column has no name.';
  if (new Set(taken.map(({ to }) => fold(to ?? ''))).size < taken.length) return 'Two columns have one name.';
  if (options.type !== 'CSV' && taken.some(({ file: from, to }) => fold(from) !== fold(to ?? ''))) {
    return `The columns of ${options.type} go to those of their names.`;
  }
  if (!byName(options, columns) && taken.length < columns.length) {
    return 'A column of CSV is left out only where the others go to those of their names.';
  }
  return undefined;
}

type Copy = { readonly validates?: boolean; readonly onError?: string };

/** COPY INTO by names where they are the same, or else by place. */
export function copyInto(
  table: ObjectPath,
  path: string,
  { options, columns }: { readonly options: FileOptions; readonly columns: readonly LoadedColumn[] },
  { validates = false, onError = 'ABORT_STATEMENT' }: Copy,
): MadeStatement {
  const isByName = byName(options, columns);
  const names = columns.flatMap(({ to }) => (to === null ? [] : [quoteIdentifier(to)]));
  const clauses = [
    `COPY INTO ${objectPath(table)} (${names.join(', ')}) FROM ${file(path)} FILE_FORMAT = ${format(options, isByName)}`,
    ...(isByName ? ['MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE'] : []),
    ...(onError === 'ABORT_STATEMENT' || validates ? [] : [`ON_ERROR = ${onError}`]),
    ...(validates ? ['VALIDATION_MODE = RETURN_ERRORS'] : []),
  ];
  return { sql: clauses.join(' ') };
}

export const removeLoaded = (path: string): MadeStatement => ({ sql: `REMOVE ${file(path)}` });
