import { cutText } from '#shared/cut-text.ts';
import { SkeinError, type ErrorCode } from '#shared/error.ts';
import { raisedCode } from '#shared/sql/raised-message.ts';
import { UNKNOWN_SETTING } from '#shared/sql/statement-context.ts';
import { RAISED, REFUSAL } from '#shared/sql/bounded-functions.ts';

/** Maximum size of a DuckDB text that is passed on. It contains values, names and whole statements, which may all be a client's. */
export const DUCKDB_TEXT_BYTES_MAX = 4 * 1024;

/** The parts of a DuckDB error, read from its text or, with `errors_as_json`, from its JSON. */
type Report = {
  /** `binder`, `out of range`, ...: lower case, without "Error". */
  readonly type: string;
  readonly message: string;
  /** The message from the first quote to the last left out: a client's values stand between quotes. */
  readonly shape: string;
  /** Byte offset in the statement that DuckDB was given. */
  readonly position: number | undefined;
  readonly subtype: string;
  /** Kind of the object that is missing (`Table`, `Scalar Function`), with the subtype MISSING_ENTRY. */
  readonly object: string;
};

// No pattern here takes more than linear time: the texts hold what a client wrote (`test/tidy.test.ts`).
const PREFIX = /^([a-z]+(?: [a-z]+){0,5}) Error: /i;
/** The line of the statement that DuckDB quotes. Ours contains local paths, and the user knows the statement. */
const QUOTED_LINE = /\nLINE \d+: /;
/** The failed cast by which a bounded function refuses its arguments (`shared/sql/bounded-functions.ts`). */
const REFUSED_CALL = `Could not convert string '${REFUSAL}`;
const REFUSED_END = "' to INT32";
const ADVICE = /\n(?:Possible solutions|See also|Use "SET |This error signals)/;
/** A quoted local path: up to the next quote, or to the end of a text that was cut. */
const FILE_PATH = /(["'])(?:file:)?(?:[a-z]:)?[\\/]([^"'\n]*)(["']|$)/gi;

/**
 * Maps an error of DuckDB to one of the catalogue. The caller passes `type` and `position` when it has them (`json_serialize_plan`);
 * otherwise they are read from `text`, which may be DuckDB's text ("Binder Error: ...") or its JSON (`errors_as_json`), cut or whole.
 * `position` stays DuckDB's: a 0-based byte offset in the text that DuckDB parsed.
 */
export function duckDbError(text: string, type?: string, position?: number): SkeinError {
  const cut = cutText(text, DUCKDB_TEXT_BYTES_MAX);
  const report = readReport(cut, type, position);
  const code = codeOf(report);
  return new SkeinError(code, messageOf(code, report), {
    position: report.position,
    cause: new Error(cut),
  });
}

/** Whether the statement has raised the error itself, with `error(message)`: its message says nothing of DuckDB's. */
export const isRaised = ({ cause }: SkeinError): boolean => cause instanceof Error && cause.message.includes(RAISED);

function readReport(text: string, type: string | undefined, position: number | undefined): Report {
  const prefix = PREFIX.exec(text);
  const rest = prefix === null ? text : text.slice(prefix[0].length);
  const json = rest.startsWith('{"exception_type"') ? readJson(rest) : undefined;
  const offset = position ?? (json?.['position'] === undefined ? undefined : Number(json['position']));
  const message = before(before(json?.['exception_message'] ?? rest, QUOTED_LINE), ADVICE).trim();
  const own = ownMessage(message);
  // The position would be one in the text of the function that stands in for DuckDB's.
  if (own !== undefined)
    return { type: 'raised', message: own, shape: '', position: undefined, subtype: '', object: '' };
  return {
    type: (type ?? json?.['exception_type'] ?? prefix?.[1] ?? '').toLowerCase().replace(/ error$/, ''),
    message,
    shape: shapeOf(message),
    position: offset !== undefined && Number.isSafeInteger(offset) && offset >= 0 ? offset : undefined,
    subtype: json?.['error_subtype'] ?? '',
    object: json?.['type'] ?? '',
  };
}

/** The message of an error that a macro of ours, or the statement itself, has raised; undefined for any other. */
function ownMessage(message: string): string | undefined {
  if (message.startsWith(RAISED)) return message.slice(RAISED.length);
  const end = message.indexOf(REFUSED_END);
  return end >= 0 && message.startsWith(REFUSED_CALL) ? message.slice(REFUSED_CALL.length, end) : undefined;
}

/** Quotes of both kinds count as one, because a value may hold either. */
function shapeOf(message: string): string {
  const first = message.search(/["']/);
  const last = Math.max(message.lastIndexOf('"'), message.lastIndexOf("'"));
  return first < 0 ? message : message.slice(0, first) + message.slice(last + 1);
}

/** Returns the part of a text before the first match of a pattern. */
function before(text: string, pattern: RegExp): string {
  const at = text.search(pattern);
  return at < 0 ? text : text.slice(0, at);
}

function readJson(text: string): Record<string, string> {
  try {
    return JSON.parse(text) as Record<string, string>;
  } catch {
    return readMembers(text);
  }
}

const MEMBER = /"((?:[^"\\]|\\[^])*)":"((?:[^"\\]|\\[^])*)(?:"[,}]?|\\?$)/gy;
const ESCAPE = /\\(?:u([0-9a-f]{4})|([^]))/gi;
const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

/** Reads the string members of a JSON object as far as possible: a cut may have split an escape, or a name from its value. */
function readMembers(text: string): Record<string, string> {
  const plain = (json: string): string =>
    json.replaceAll(ESCAPE, (_all, code: string | undefined, character: string | undefined) =>
      code === undefined
        ? (ESCAPED[character ?? ''] ?? character ?? '')
        : String.fromCharCode(Number.parseInt(code, 16)),
    );
  const members = text.slice(1).matchAll(MEMBER);
  return Object.fromEntries(members.map(([, name = '', value = '']) => [plain(name), plain(value)]));
}

const OVERFLOW = /(?<!field value )out of range|overflow/i;
/** The words `can't be cast`; the type behind it may have fields of any name. */
const NOT_CAST = 't be cast ';
function isOverflow({ shape }: Report): boolean {
  if (shape.startsWith('Could not convert string')) return false;
  const at = shape.indexOf(NOT_CAST);
  if (at >= 0) return shape.startsWith('because the value is out of range', at + NOT_CAST.length);
  return OVERFLOW.test(shape) || (/^could not cast value /i.test(shape) && / to decimal/i.test(shape));
}
const NO_SUCH_CAST = /^(?:unimplemented type for cast|no implicit cast|cannot cast|cannot compare)/i;
/** Texts about a file, in the messages of a failure to read or write one: no expression fails so. */
const FILE_DATA = /\.parquet|magic bytes|parquet (?:file|reader|footer|schema)|thrift/i;
/**
 * Beginnings of DuckDB's messages about a Parquet page that does not match its header, or a footer that contradicts itself. They name
 * neither the file nor its format, and some are plain C++ exceptions ("Invalid Error"). Source: `extension/parquet` of DuckDB 1.5.5.
 */
const PAGE_DATA: readonly string[] = [
  'No magic bytes found',
  'Malformed Parquet schema',
  'Root element of Parquet',
  'Invalid JSON found in Parquet',
  'Unrecognized Parquet type',
  'Unimplemented type for Parquet',
  'Unsupported geometry',
  'Unsupported ParquetColumnSchemaType',
  'Parquet footer',
  'Parquet schema',
  'Parquet reader',
  'The parquet file',
  'Out of buffer',
  'Failed to decompress',
  'Failed to read',
  'Failed to decode LEB128',
  'Input is invalid/unsupported GZIP',
  'Input is not a GZIP',
  'Extra field in a GZIP',
  'Extra field resulting in GZIP',
  'Filename resulting in GZIP',
  'Unsupported GZIP',
  'TProtocolException',
  'TTransportException',
  'No more data to read',
  "don't know what type",
  'invalid TType',
  'Variable-length int',
  'Varint-decoding',
  'Payload value bigger',
  'Parquet file is',
  'Parquet file has',
  'Parquet data',
  'Mismatch in parquet read',
  'The width (',
  'This page does not have a dictionary',
  'DBP decode',
  'DELTA_',
  'Delta Length Byte Array',
  'RLE encoding',
  'BYTE_STREAM_SPLIT encoding',
  'Data buffer size for the BYTE_STREAM_SPLIT',
  'FIXED_LEN_BYTE_ARRAY',
  'Invalid decimal encoding',
  'Invalid string encoding',
  'Page size mismatch',
  'Decode bit width too large',
  'Data corruption detected',
  'Struct child row count mismatch',
  'FileOffset called on ColumnReader',
  'Prefetch registered',
  'Incorrect stats size',
  'Footer length error',
  'Invalid footer length',
  'MAP_KEY_VALUE ',
  'DECIMAL requires a length',
  'Unsupported converted type',
  'Corrupted VARIANT',
  'The Variant column',
  'The shredded Variant column',
  'Variant group can only',
  "Required column 'value' not found in Variant",
  "Can't decode Variant",
  'Unexpected value for VariantBasicType',
  'Geoparquet ',
];

/** Messages about a file that do not begin with a text of their own. */
const OTHER_PAGE_DATA = /^\w+ converted type can only be set|^File '[^]*' too small to be a Parquet file/;
/**
 * Whether a scan has failed. Only the message of `error()` may begin as a client wants, and that is marked.
 */
const isPageData = ({ message }: Report): boolean =>
  PAGE_DATA.some((start) => message.startsWith(start)) || OTHER_PAGE_DATA.test(message);
/** Messages of the operating system for a lack of space, as `strerror` prints ENOSPC, EDQUOT and EFBIG. */
const FULL = /\b(?:No space left on device|Disk quota exceeded|File too large)$/;
const isFull = ({ message }: Report): boolean => FULL.test(message);
const isFileData = (report: Report): boolean => FILE_DATA.test(report.message) || isPageData(report);

/** The error code by type of exception (`ExceptionType` of DuckDB 1.5); a type that is not listed is a fault of Skein. */
const CODE_OF_TYPE: Readonly<Record<string, (report: Report) => ErrorCode>> = {
  parser: () => 'SYNTAX_ERROR',
  syntax: () => 'SYNTAX_ERROR',
  binder: bindingCode,
  catalog: bindingCode,
  'parameter not resolved': () => 'INVALID_REQUEST',
  'parameter not allowed': () => 'INVALID_REQUEST',
  'mismatch type': () => 'TYPE_MISMATCH',
  'invalid type': () => 'TYPE_MISMATCH',
  'unknown type': () => 'TYPE_MISMATCH',
  decimal: () => 'NUMERIC_OVERFLOW',
  'out of range': () => 'NUMERIC_OVERFLOW',
  'divide by zero': () => 'DIVISION_BY_ZERO',
  conversion: (r) =>
    NO_SUCH_CAST.test(r.shape) ? 'TYPE_MISMATCH' : isOverflow(r) ? 'NUMERIC_OVERFLOW' : 'INVALID_CAST',
  raised: () => 'INVALID_ARGUMENT',
  'invalid input': invalidInputCode,
  'invalid argument': invalidInputCode,
  constraint: () => 'INVALID_ARGUMENT',
  sequence: () => 'INVALID_ARGUMENT',
  expression: () => 'INVALID_ARGUMENT',
  'object size': () => 'MEMORY_EXHAUSTED',
  'out of memory': memoryCode,
  interrupt: () => 'QUERY_CANCELLED',
  permission: () => 'NOT_SUPPORTED',
  'not implemented': () => 'NOT_SUPPORTED',
  settings: () => 'NOT_SUPPORTED',
  dependency: () => 'NOT_SUPPORTED',
  'missing extension': () => 'NOT_SUPPORTED',
  autoload: () => 'NOT_SUPPORTED',
  io: (r) =>
    isFull(r)
      ? 'STORAGE_FULL'
      : isFileData(r) && !/no such file|cannot open/i.test(r.message)
        ? 'INVALID_TABLE_DATA'
        : 'STORAGE_ERROR',
  // Thrown by C++ code that does not use DuckDB's errors.
  invalid: (r) => (isPageData(r) ? 'INVALID_TABLE_DATA' : 'ENGINE_FAULT'),
  internal: () => 'ENGINE_FAULT',
  fatal: () => 'ENGINE_FAULT',
  http: () => 'STORAGE_ERROR',
  network: () => 'STORAGE_ERROR',
  serialization: () => 'INVALID_TABLE_DATA',
};

/** The errors that DuckDB's parser and binder report before a statement runs. */
export const BINDING_CODES: ReadonlySet<ErrorCode> = new Set([
  'SYNTAX_ERROR',
  'TYPE_MISMATCH',
  'FUNCTION_NOT_FOUND',
  'COLUMN_NOT_FOUND',
  'AMBIGUOUS_COLUMN',
  'TABLE_NOT_FOUND',
  'SCHEMA_NOT_FOUND',
  'CATALOG_NOT_FOUND',
  'NOT_SUPPORTED',
  'INVALID_REQUEST',
  'STATEMENT_TOO_COMPLEX',
]);

function codeOf(report: Report): ErrorCode {
  if (report.type !== 'raised' && report.message.startsWith(UNKNOWN_SETTING)) return 'SETTING_NOT_FOUND';
  const raised = report.type === 'raised' ? raisedCode(report.message) : undefined;
  if (raised !== undefined) return raised;
  const code = Object.hasOwn(CODE_OF_TYPE, report.type) ? CODE_OF_TYPE[report.type] : undefined;
  return code?.(report) ?? 'INTERNAL_ERROR';
}

/**
 * Error codes of the binder's messages, by their shape; the first rule whose patterns all match applies. Rules match the beginning of a
 * message wherever possible, because a long name cuts off its end; those of names that DuckDB does not quote come first.
 */
const BINDING_RULES: readonly (readonly [ErrorCode, ...RegExp[]])[] = [
  ['FUNCTION_NOT_FOUND', /^no function matches/i],
  ['FUNCTION_NOT_FOUND', /^(?:\w+ ){0,2}function with name /i],
  ['SCHEMA_NOT_FOUND', /^schema with name/i],
  ['CATALOG_NOT_FOUND', /^catalog /i, / does not exist/i],
  ['TABLE_NOT_FOUND', /^(?:table|view) with name/i],
  ['TABLE_NOT_FOUND', /^referenced table /i],
  ['NOT_SUPPORTED', /^type with name /i],
  ['NOT_SUPPORTED', /^collation with name/i],
  ['AMBIGUOUS_COLUMN', /\bambiguous\b/i],
  ['COLUMN_NOT_FOUND', /^referenced column/i],
  ['COLUMN_NOT_FOUND', /^column /i, / does not exist| list not found/i],
  ['COLUMN_NOT_FOUND', /^could not find key/i],
  ['COLUMN_NOT_FOUND', /^column /i, / referenced that exists in the select clause/i],
  ['STATEMENT_TOO_COMPLEX', /\bnesting depth|max(?:imum)? expression depth|recursion\b/i],
  ['NOT_SUPPORTED', /configuration parameter|not (?:yet )?(?:supported|implemented)/i],
  ['TYPE_MISMATCH', /cannot (?:compare|mix|cast|combine|convert|deduce)/i],
  ['TYPE_MISMATCH', /type mismatch|can only be applied to|must be of type/i],
  ['TYPE_MISMATCH', /requires? an? /i, / (?:type|argument)/i],
  ['CARDINALITY_VIOLATION', /more than one row returned/i],
];

/** It names the table, and then the column. */
const NO_COLUMN_OF_TABLE = /^[a-z ]{1,40}"[^]*" does not have a column named "/i;

/** It names the table in its schema, and ends with a full stop. */
const NO_SCHEMA_OF_TABLE: readonly RegExp[] = [
  /^(?:table|view) with name "/i,
  / because schema "/i,
  /" does not exist\.$/i,
];

/**
 * Returns the code of a binder error. An error that no rule names (a nested aggregate, a column outside of GROUP BY) is an invalid
 * statement.
 */
function bindingCode(report: Report): ErrorCode {
  if (report.subtype === 'COLUMN_NOT_FOUND') return 'COLUMN_NOT_FOUND';
  if (report.subtype === 'NO_MATCHING_FUNCTION') return 'FUNCTION_NOT_FOUND';
  if (report.subtype === 'MISSING_ENTRY' && /function/i.test(report.object)) return 'FUNCTION_NOT_FOUND';
  if (NO_COLUMN_OF_TABLE.test(report.message)) return 'COLUMN_NOT_FOUND';
  if (NO_SCHEMA_OF_TABLE.every((pattern) => pattern.test(report.message))) return 'SCHEMA_NOT_FOUND';
  const rule = BINDING_RULES.find(([, ...patterns]) => patterns.every((pattern) => pattern.test(report.shape)));
  return rule?.[0] ?? 'SYNTAX_ERROR';
}

/** The code of an error in a value, by the beginning of DuckDB's message. */
function invalidInputCode(report: Report): ErrorCode {
  const { message } = report;
  if (/^more than one row returned by a subquery/i.test(message)) return 'CARDINALITY_VIOLATION';
  if (/^an INTERVAL of more than \d+ hours is out of range/.test(message)) return 'NUMERIC_OVERFLOW';
  if (/^(?:hugeint )?(?:division|divide) by zero/i.test(message)) return 'DIVISION_BY_ZERO';
  if (isPageData(report)) return 'INVALID_TABLE_DATA';
  if (
    /^(?:parameter count mismatch|parameter\/argument count|expected \d+ parameters|values were not provided)/i.test(
      message,
    )
  ) {
    return 'INVALID_REQUEST';
  }
  if (/^(?:max(?:imum)? expression depth|geometry (?:string )?exceeds maximum recursion depth)/i.test(message)) {
    return 'STATEMENT_TOO_COMPLEX';
  }
  return 'INVALID_ARGUMENT';
}

/** Tells DuckDB's memory limit, whose message says how much of it is used, from a failure of the system's allocator. */
function memoryCode({ message }: Report): ErrorCode {
  if (/max_temp_directory_size|temp(?:orary)? directory|failed to offload/i.test(message)) return 'SPILL_LIMIT';
  return / used\)/.test(message) ? 'OUT_OF_MEMORY' : 'MEMORY_EXHAUSTED';
}

/** Changes to messages by code. An internal error shows no details: its text is the cause, for the log. */
const MESSAGES: Partial<Record<ErrorCode, (message: string) => string>> = {
  INTERNAL_ERROR: () => 'internal error',
  ENGINE_FAULT: () =>
    'DuckDB cannot run the statement: it ends with an internal error of DuckDB, which is a fault of DuckDB',
  QUERY_CANCELLED: () => 'the query was cancelled',
  OUT_OF_MEMORY: (text) => `the query needs more memory than its limit: ${shortPaths(text)}`,
  MEMORY_EXHAUSTED: (text) => `the worker has no more memory for the query: ${shortPaths(text)}`,
  SPILL_LIMIT: (text) => `the query needs more disk than its spill limit: ${shortPaths(text)}`,
  STORAGE_ERROR: shortPaths,
  STORAGE_FULL: shortPaths,
  INVALID_TABLE_DATA: shortPaths,
  NOT_SUPPORTED: shortPaths,
  // A suggestion would come from DuckDB's own catalog.
  TABLE_NOT_FOUND: (text) => before(text, /\nDid you mean /),
};

const messageOf = (code: ErrorCode, { message }: Report): string => MESSAGES[code]?.(message) ?? message;

/** Shortens local paths to the file's name. */
function shortPaths(text: string): string {
  return text.replaceAll(FILE_PATH, (_all, open: string, path: string, close: string) => {
    const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
    return `${open}${name}${close}`;
  });
}
