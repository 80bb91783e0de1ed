import { foldIdentifier, foldKeyword } from '#shared/sql/fold-identifier.ts';
import { unreachable } from '#shared/must.ts';
import { SkeinError } from '#shared/error.ts';
import type { Compression, CsvFormat, FileFormat, JsonFormat } from '#shared/stage/file-format.ts';
import { OptionReader } from './option-reader.ts';
import type { Option } from './take-options.ts';
import { timePattern } from './time-pattern.ts';

/** `FILE_FORMAT = (TYPE = ...)` with the option names of Snowflake, as data. */

/** Texts that mean NULL, at most: each value is compared with all of them. */
export const NULLS_MAX = 32;
const SKIPPED_LINES_MAX = 1_000_000;
const SEPARATOR_LENGTH_MAX = 4;
/** In Snowflake fields are not enclosed by default, so that `"a, b"` would be two. */
export const QUOTE = '"';
export const NULLS: readonly string[] = ['\\N'];

/** @throws SYNTAX_ERROR, NOT_SUPPORTED for an option of Snowflake that is not served; both with the position */
export function fileFormatOf(options: readonly Option[]): FileFormat {
  const type = formatType(options);
  const reader = new OptionReader(options, `TYPE = ${type}`);
  reader.word('TYPE', ['CSV', 'JSON', 'PARQUET'], 'CSV');
  const format = formatOf(type, reader);
  reader.end();
  return format;
}

/** @throws SYNTAX_ERROR, NOT_SUPPORTED; both with the position */
export function formatType(options: readonly Option[]): 'CSV' | 'JSON' | 'PARQUET' {
  const type = options.find(({ name }) => name === 'TYPE');
  const text = type !== undefined && 'text' in type.value ? foldKeyword(type.value.text) : 'CSV';
  if (text === 'CSV' || text === 'JSON' || text === 'PARQUET') return text;
  const position = type?.position;
  if (OTHER_TYPES.has(text)) throw new SkeinError('NOT_SUPPORTED', `TYPE = ${text} is not served`, { position });
  throw new SkeinError('SYNTAX_ERROR', 'TYPE is one of CSV, JSON, PARQUET', { position });
}

const OTHER_TYPES: ReadonlySet<string> = new Set(['AVRO', 'ORC', 'XML']);

function formatOf(type: 'CSV' | 'JSON' | 'PARQUET', reader: OptionReader): FileFormat {
  switch (type) {
    case 'CSV':
      return csvOf(reader);
    case 'JSON':
      return jsonOf(reader);
    case 'PARQUET':
      // Parquet files say themselves how they are compressed.
      reader.word('COMPRESSION', ['AUTO', 'NONE', 'SNAPPY', 'ZSTD', 'GZIP'], 'AUTO');
      return { kind: 'parquet' };
    default:
      return unreachable(type);
  }
}

function csvOf(reader: OptionReader): CsvFormat {
  const delimiter = reader.text('FIELD_DELIMITER') ?? ',';
  requireOneLine('FIELD_DELIMITER', delimiter, reader);
  const record = reader.text('RECORD_DELIMITER') ?? '\n';
  if (!RECORD_ENDS.has(record)) throw refused('RECORD_DELIMITER', 'is one of \\n, \\r\\n', reader);
  const quote = characterOf('FIELD_OPTIONALLY_ENCLOSED_BY', QUOTE, reader);
  const escape = characterOf('ESCAPE', quote, reader);
  const skipped = reader.integer('SKIP_HEADER', { least: 0, most: SKIPPED_LINES_MAX });
  const isNamed = reader.boolean('PARSE_HEADER', false);
  if (isNamed && skipped !== undefined && skipped > 0) {
    throw refused('SKIP_HEADER', 'is not given with PARSE_HEADER = TRUE, which takes one line', reader);
  }
  const nulls = reader.texts('NULL_IF', NULLS_MAX) ?? NULLS;
  const emptyIsNull = reader.boolean('EMPTY_FIELD_AS_NULL', true);
  requireEncoding(reader);
  if (delimiter === quote) throw refused('FIELD_DELIMITER', 'is not the character that encloses fields', reader);
  return {
    kind: 'csv',
    compression: compressionOf(reader),
    delimiter,
    quote,
    escape,
    header: isNamed ? { kind: 'names' } : { kind: 'lines', count: skipped ?? 0 },
    nulls: emptyIsNull && !nulls.includes('') ? [...nulls, ''] : nulls,
    countsFields: reader.boolean('ERROR_ON_COLUMN_COUNT_MISMATCH', true),
    ...timesOf(reader),
  };
}

const RECORD_ENDS: ReadonlySet<string> = new Set(['\n', '\r\n', '\\n', '\\r\\n']);

function jsonOf(reader: OptionReader): JsonFormat {
  const isArray = reader.boolean('STRIP_OUTER_ARRAY', false);
  const spansLines = reader.boolean('MULTI_LINE', false);
  requireEncoding(reader);
  return {
    kind: 'json',
    compression: compressionOf(reader),
    layout: isArray ? 'array' : spansLines ? 'documents' : 'lines',
    ...timesOf(reader),
  };
}

export const timesOf = (reader: OptionReader): Pick<CsvFormat, 'dateFormat' | 'timestampFormat'> => ({
  dateFormat: patternOf('DATE_FORMAT', reader),
  timestampFormat: patternOf('TIMESTAMP_FORMAT', reader),
});

function patternOf(name: string, reader: OptionReader): string | null {
  const text = reader.textOr(name, 'AUTO') ?? null;
  if (text === null) return null;
  const pattern = timePattern(text);
  if (pattern === null) throw refused(name, 'has elements that are not known', reader);
  return pattern;
}

const COMPRESSIONS = ['AUTO', 'NONE', 'GZIP', 'ZSTD'] as const;

const compressionOf = (reader: OptionReader): Compression => {
  const found = reader.word('COMPRESSION', COMPRESSIONS, 'AUTO');
  return ({ AUTO: 'auto', NONE: 'none', GZIP: 'gzip', ZSTD: 'zstd' } as const)[found];
};

export function requireEncoding(reader: OptionReader): void {
  const encoding = reader.text('ENCODING') ?? 'UTF8';
  if (!/^utf-?8$/.test(foldIdentifier(encoding)))
    throw refused('ENCODING', 'is UTF8: other encodings are not served', reader);
}

/** One character of ASCII, so that no other character holds its byte, or `other`; null for NONE. */
export function characterOf(
  name: string,
  otherwise: string | null,
  reader: OptionReader,
  other?: string,
): string | null {
  const given = reader.textOr(name, 'NONE');
  if (given === undefined) return otherwise;
  if (given === null || given === other || /^[\x21-\x7e]$/.test(given)) return given;
  throw refused(name, 'is one character, or NONE', reader);
}

function requireOneLine(name: string, text: string, reader: OptionReader): void {
  const isAscii = Buffer.byteLength(text) === text.length;
  const isRight = text.length > 0 && text.length <= SEPARATOR_LENGTH_MAX && isAscii && !/[\r\n]/.test(text);
  if (!isRight)
    throw refused(name, `has one to ${SEPARATOR_LENGTH_MAX} characters, of ASCII and without line ends`, reader);
}

export const refused = (name: string, what: string, reader: OptionReader): SkeinError =>
  new SkeinError('SYNTAX_ERROR', `${name} ${what}`, { position: reader.positionOf(name) });
