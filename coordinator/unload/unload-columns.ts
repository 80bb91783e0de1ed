import { unreachable } from '#shared/must.ts';
import type { SqlText } from '#shared/task/sql-text.ts';
import { SkeinError } from '#shared/error.ts';
import type { CsvUnload, JsonUnload, UnloadFormat } from '#shared/stage/file-format.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { innerTypes, mapLeaves, printSqlType, type LeafType, type SqlField, type SqlType } from '../plan/sql-type.ts';

/** How the rows of a query become those of files. */
type UnloadedColumns = {
  /** Wraps the query's text so that its columns are those of the files. */
  readonly sql: (text: SqlText) => SqlText;
  /** The columns whose values are all enclosed, in CSV. */
  readonly enclosed: readonly string[];
};

/**
 * The columns of files: their names, and their values as the format holds them.
 * @param mark begins the error of a value that the format cannot hold; it is unique, so that no other error is taken for it
 * @throws NOT_SUPPORTED for a type that the format cannot hold, SYNTAX_ERROR for a name that two columns have; with the position
 */
export function unloadColumns(
  columns: readonly SqlField[],
  format: UnloadFormat,
  { mark, position }: { readonly mark: string; readonly position: number },
): UnloadedColumns {
  const isNamed = format.kind !== 'csv' || format.header;
  if (isNamed) requireNames(columns, format, position);
  for (const { name, type } of columns) {
    const refused = refusedType(type, REFUSED[format.kind]) ?? refusedWithin(type, format);
    if (refused === undefined) continue;
    const message = `${format.kind.toUpperCase()} does not hold the type ${refused} of the column ${name}: convert it, to VARCHAR for example`;
    throw new SkeinError('NOT_SUPPORTED', message, { position });
  }
  const list = columns.map(({ name, type }, i) => {
    const value = valueOf(format, type, { column: `c${i}`, mark: `${mark} ${i}` });
    return `${value} AS ${quoteIdentifier(isNamed ? name : `c${i}`)}`;
  });
  const names = columns.map((_, i) => `c${i}`).join(', ');
  const isEnclosed = format.kind === 'csv' && format.quote !== null;
  return {
    sql: (text) => [`SELECT ${list.join(', ')} FROM (`, ...text, `\n) AS t(${names})`],
    enclosed: isEnclosed
      ? columns.flatMap(({ name, type }, i) => (isText(type) ? [isNamed ? name : `c${i}`] : []))
      : [],
  };
}

/** Turns the error of a value that the format cannot hold into the client's; any other error stays. */
export function unloadError(thrown: unknown, columns: readonly SqlField[], mark: string): unknown {
  const { message } = SkeinError.of(thrown);
  if (!message.startsWith(`${mark} `)) return thrown;
  const [column = '', ...reason] = message.slice(mark.length + 1).split(' ');
  return new SkeinError(
    'NOT_SUPPORTED',
    `a value of the column ${columns[Number(column)]?.name ?? ''} ${reason.join(' ')}`,
  );
}

/** Readers find columns by name, without regard to case. */
function requireNames(columns: readonly SqlField[], format: UnloadFormat, position: number): void {
  const found = new Set<string>();
  for (const { name } of columns) {
    if (
      format.kind === 'csv' &&
      format.quote === null &&
      ['\n', '\r', format.delimiter].some((sign) => name.includes(sign))
    ) {
      const message = `the name of the column ${name} ${ENDS_FIELD}`;
      throw new SkeinError('SYNTAX_ERROR', message, { position });
    }
    const folded = foldIdentifier(name);
    if (found.has(folded)) {
      throw new SkeinError('SYNTAX_ERROR', `two columns of the files would be called ${name}: name one AS another`, {
        position,
      });
    }
    found.add(folded);
  }
}

// Types of which a file would hold another value, or none that reads back. DuckDB writes a UHUGEINT to Parquet as a DOUBLE, an INTERVAL in
// milliseconds, and the time of a TIME WITH TIME ZONE in UTC; a UNION as text or as an object has lost which of its members it is.
const NO_TEXT = ['UNION', 'VARIANT', 'GEOMETRY'] as const;
const REFUSED: Readonly<Record<UnloadFormat['kind'], ReadonlySet<string>>> = {
  csv: new Set(NO_TEXT),
  json: new Set(NO_TEXT),
  parquet: new Set([...NO_TEXT, 'UHUGEINT', 'BIGNUM', 'TIME WITH TIME ZONE', 'TIME_NS', 'INTERVAL', 'BIT']),
};

function refusedType(type: SqlType, refused: ReadonlySet<string>): string | undefined {
  if (type.kind === 'union') return refused.has('UNION') ? 'UNION' : undefined;
  if (type.kind === 'scalar' && refused.has(type.name)) return type.name;
  return innerTypes(type)
    .map((inner) => refusedType(inner, refused))
    .find((one) => one !== undefined);
}

/**
 * DuckDB's writer of JSON gives the statement's formats to columns alone, and its reader expects them within other types, too, but of no time
 * with a zone.
 */
function refusedWithin(type: SqlType, format: UnloadFormat): string | undefined {
  if (format.kind !== 'json') return undefined;
  const formatted = new Set([
    ...(format.dateFormat === null ? [] : ['DATE']),
    ...(format.timestampFormat === null ? [] : ['TIMESTAMP', ZONED]),
  ]);
  if (isLeaf(type))
    return isZoned(type) && format.timestampFormat !== null ? `${ZONED} beside TIMESTAMP_FORMAT` : undefined;
  const found = refusedType(type, formatted);
  return found === undefined ? undefined : `${found} beside a format for it, within another type`;
}

const ZONED = 'TIMESTAMP WITH TIME ZONE';

type Value = { readonly column: string; readonly mark: string };

function valueOf(format: UnloadFormat, type: SqlType, value: Value): string {
  if (isNull(type)) return `CAST(NULL AS ${format.kind === 'parquet' ? 'INTEGER' : 'VARCHAR'})`;
  switch (format.kind) {
    case 'csv':
      return format.quote === null ? plainText(format, value) : readable(type, format, value);
    case 'json':
      return converted(finite(type, readable(type, format, value), value), type, jsonLeaf);
    case 'parquet':
      return converted(value.column, type, parquetLeaf);
    default:
      return unreachable(format);
  }
}

const isNull = (type: SqlType): boolean => type.kind === 'scalar' && type.name === '"NULL"';

function converted(value: string, type: SqlType, change: (leaf: LeafType) => SqlType): string {
  const to = printSqlType(mapLeaves(type, change));
  return to === printSqlType(type) ? value : `CAST(${value} AS ${to})`;
}

const VARCHAR: SqlType = { kind: 'scalar', name: 'VARCHAR' };

/** Digits that every number of a JSON reader holds. */
const EXACT_DIGITS = 15;
const LARGE_NUMBERS: ReadonlySet<string> = new Set(['HUGEINT', 'UHUGEINT', 'BIGNUM']);

/** Readers take a number of more digits for a floating-point number, which loses some: it is written as text. */
function jsonLeaf(type: LeafType): SqlType {
  if (isNull(type)) return VARCHAR;
  const isLarge =
    type.kind === 'decimal' ? type.width > EXACT_DIGITS : type.kind === 'scalar' && LARGE_NUMBERS.has(type.name);
  return isLarge ? VARCHAR : type;
}

/** DuckDB 1.5 writes TIMESTAMP_MS with the unit of microseconds. */
const COARSE_TIMES: ReadonlySet<string> = new Set(['TIMESTAMP_S', 'TIMESTAMP_MS']);

/** DuckDB writes a HUGEINT, which `sum` over integers gives, to Parquet as a DOUBLE. What has more digits is a NUMERIC_OVERFLOW. */
const WHOLE: SqlType = { kind: 'decimal', width: 38, scale: 0 };

function parquetLeaf(type: LeafType): SqlType {
  if (isNull(type)) return { kind: 'scalar', name: 'INTEGER' };
  if (type.kind === 'enum') return VARCHAR;
  if (type.kind === 'scalar' && type.name === 'HUGEINT') return WHOLE;
  return type.kind === 'scalar' && COARSE_TIMES.has(type.name) ? { kind: 'scalar', name: 'TIMESTAMP' } : type;
}

const MAY_BE_INFINITE: ReadonlySet<string> = new Set([
  'FLOAT',
  'DOUBLE',
  'DATE',
  'TIMESTAMP',
  'TIMESTAMP WITH TIME ZONE',
]);

/** JSON has neither NaN nor infinity. */
function finite(type: SqlType, value: string, { column, mark }: Value): string {
  const refusal = `${mark} is infinite or no number, which JSON does not hold`;
  if (isLeaf(type)) {
    const isOdd = type.kind === 'scalar' && MAY_BE_INFINITE.has(type.name);
    return isOdd ? unless(`${column} IS NULL OR isfinite(${column})`, value, { type, refusal }) : value;
  }
  if (!hasLeaf(type, (leaf) => leaf.kind === 'scalar' && FLOATS.has(leaf.name))) return value;
  // Outside of texts, no word but those of numbers has these letters.
  const isFinite = `regexp_full_match(CAST(to_json(${column}) AS VARCHAR), ${quoteLiteral(FINITE)})`;
  return unless(`${column} IS NULL OR ${isFinite}`, value, { type, refusal });
}

const FLOATS: ReadonlySet<string> = new Set(['FLOAT', 'DOUBLE']);
const FINITE = String.raw`(?s:[^"NI]|"(?:[^"\\]|\\.)*")*`;

/**
 * A value whose text is read as the value again. DuckDB prints the offset of a time zone without its seconds, which zones had in the 19th
 * century; and the text of a list, a struct or a map may be that of another one.
 */
function readable(type: SqlType, format: CsvUnload | JsonUnload, { column, mark }: Value): string {
  const isDoubtful = (format.kind === 'csv' && !isLeaf(type)) || hasLeaf(type, isZoned);
  const isFormatted = isLeaf(type) && isZoned(type) && format.timestampFormat !== null;
  if (!isDoubtful || isFormatted || !hasReader(type)) return column;
  const again = `TRY(CAST(CAST(${column} AS VARCHAR) AS ${printSqlType(type)}))`;
  const refusal = `${mark} has a text that is not read as the same value, in the time zone of the session`;
  return unless(`${again} IS NOT DISTINCT FROM ${column}`, column, { type, refusal });
}

const isZoned = (leaf: LeafType): boolean => leaf.kind === 'scalar' && leaf.name === ZONED;
/** Types of which no text is read again. */
const hasReader = (type: SqlType): boolean => refusedType(type, new Set(['"NULL"', 'JSON'])) === undefined;

const isLeaf = (type: SqlType): type is LeafType =>
  type.kind === 'scalar' || type.kind === 'decimal' || type.kind === 'enum';

const hasLeaf = (type: SqlType, is: (leaf: LeafType) => boolean): boolean =>
  isLeaf(type) ? is(type) : innerTypes(type).some((inner) => hasLeaf(inner, is));

const unless = (
  condition: string,
  value: string,
  { type, refusal }: { readonly type: SqlType; readonly refusal: string },
): string =>
  `CASE WHEN ${condition} THEN ${value} ELSE CAST(error(${quoteLiteral(refusal)}) AS ${printSqlType(type)}) END`;

/** Without a character that encloses fields, a field has nothing in it that would end it, and is never taken for NULL. */
function plainText({ delimiter, nullText, emptyIsNull }: CsvUnload, { column, mark }: Value): string {
  const text = `CAST(${column} AS VARCHAR)`;
  const ends = [quoteLiteral(delimiter), 'chr(10)', 'chr(13)'].map((sign) => `contains(${text}, ${sign})`);
  const nulls = [...new Set([nullText, ...(emptyIsNull ? [''] : [])])].map((one) => `${text} = ${quoteLiteral(one)}`);
  const refusal = (reason: string): string => `error(${quoteLiteral(`${mark} ${reason}`)})`;
  return `CASE WHEN ${ends.join(' OR ')} THEN ${refusal(ENDS_FIELD)} WHEN ${nulls.join(' OR ')} THEN ${refusal(MEANS_NULL)} ELSE ${column} END`;
}

const ENDS_FIELD = 'has the delimiter or a line end in it: FIELD_OPTIONALLY_ENCLOSED_BY encloses such values';
const MEANS_NULL =
  'would be read as NULL: FIELD_OPTIONALLY_ENCLOSED_BY encloses such values, or NULL_IF has another text';

const isText = (type: SqlType): boolean =>
  type.kind === 'enum' || (type.kind === 'scalar' && ['VARCHAR', 'JSON', 'BLOB'].includes(type.name));
