import { SkeinError, type ErrorCode } from '#shared/error.ts';

/** What DuckDB says of an error, taken from its text or, with `errors_as_json`, from its JSON. */
type Report = {
  /** `binder`, `out of range`, ...: lower case, without "Error". */
  readonly type: string;
  readonly message: string;
  /** Byte offset in the statement that DuckDB was given. */
  readonly position: number | undefined;
  readonly subtype: string;
  /** Kind of the object that is missing (`Table`, `Scalar Function`), with the subtype MISSING_ENTRY. */
  readonly object: string;
};

const PREFIX = /^([A-Z][A-Za-z]*(?: (?:[A-Z][a-z]+|of|to|in))*) Error: /i;
/** DuckDB quotes the line of the statement; ours holds local paths, the user's is known to the user. */
const QUOTED_LINE = /\n+LINE \d+: [^]*$/;
const ADVICE = /\n+(?:Possible solutions|See also|Use "SET |This error signals)[^]*$/;
const FILE_PATH = /(["'])(?:file:)?(?:[A-Za-z]:)?[\\/](?:[^"'\n]*[\\/])?([^"'\n]*)\1/g;

/**
 * An error of DuckDB as one of the catalogue. `type` and `position` are given when the caller has them (`json_serialize_plan`);
 * otherwise they are read from `message`, which may be DuckDB's text ("Binder Error: ...") or its JSON (`errors_as_json`).
 * `position` stays DuckDB's: a 0-based byte offset in the text that DuckDB parsed.
 */
export function duckDbError(message: string, type?: string, position?: number): SkeinError {
  const report = readReport(message, type, position);
  const code = codeOf(report);
  return new SkeinError(code, messageOf(code, report), {
    position: report.position,
    cause: new Error(message),
  });
}

function readReport(text: string, type: string | undefined, position: number | undefined): Report {
  const prefix = PREFIX.exec(text);
  const rest = prefix === null ? text : text.slice(prefix[0].length);
  const json = rest.startsWith('{"exception_type"') ? readJson(rest) : undefined;
  const offset = position ?? (json?.['position'] === undefined ? undefined : Number(json['position']));
  return {
    type: (type ?? json?.['exception_type'] ?? prefix?.[1] ?? '').toLowerCase().replace(/ error$/, ''),
    message: (json?.['exception_message'] ?? rest).replace(QUOTED_LINE, '').replace(ADVICE, '').trim(),
    position: offset !== undefined && Number.isSafeInteger(offset) && offset >= 0 ? offset : undefined,
    subtype: json?.['error_subtype'] ?? '',
    object: json?.['type'] ?? '',
  };
}

function readJson(text: string): Record<string, string> | undefined {
  try {
    return JSON.parse(text) as Record<string, string>;
  } catch {
    return undefined;
  }
}

const OVERFLOW = /(?<!field value )out of range|overflow|could not cast value .* to decimal/i;
const NO_SUCH_CAST = /unimplemented type for cast|no implicit cast|cannot cast|cannot compare/i;
const FILE_DATA = /\.parquet|magic bytes|parquet (?:file|reader|footer)|thrift/i;

/** One line per type of exception (`ExceptionType` of DuckDB 1.5); what is not here is a fault of ours. */
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
    NO_SUCH_CAST.test(r.message) ? 'TYPE_MISMATCH' : OVERFLOW.test(r.message) ? 'NUMERIC_OVERFLOW' : 'INVALID_CAST',
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
    FILE_DATA.test(r.message) && !/no such file|cannot open/i.test(r.message) ? 'INVALID_TABLE_DATA' : 'STORAGE_ERROR',
  http: () => 'STORAGE_ERROR',
  network: () => 'STORAGE_ERROR',
  serialization: () => 'INVALID_TABLE_DATA',
};

function codeOf(report: Report): ErrorCode {
  return CODE_OF_TYPE[report.type]?.(report) ?? 'INTERNAL_ERROR';
}

const BINDING_RULES: readonly (readonly [RegExp, ErrorCode])[] = [
  [/^ambiguous reference/i, 'AMBIGUOUS_COLUMN'],
  [/\bambiguous\b/i, 'AMBIGUOUS_COLUMN'],
  [/^no function matches/i, 'FUNCTION_NOT_FOUND'],
  [/function with name .* (?:does not exist|is not in the catalog)/i, 'FUNCTION_NOT_FOUND'],
  [/does not exist because schema/i, 'SCHEMA_NOT_FOUND'],
  [/^schema with name/i, 'SCHEMA_NOT_FOUND'],
  [/^catalog ".*" does not exist/i, 'CATALOG_NOT_FOUND'],
  [/^(?:table|view) with name/i, 'TABLE_NOT_FOUND'],
  [/^referenced table .* not found/i, 'TABLE_NOT_FOUND'],
  [
    /^referenced column|does not have a column named|^column ".*" (?:does not exist|in .* list not found)/i,
    'COLUMN_NOT_FOUND',
  ],
  [/^could not find key|^column .* referenced that exists in the select clause/i, 'COLUMN_NOT_FOUND'],
  [/\bnesting depth|max(?:imum)? expression depth|recursion\b/i, 'STATEMENT_TOO_COMPLEX'],
  [
    /type with name .* does not exist|collation with name|configuration parameter|not (?:yet )?(?:supported|implemented)/i,
    'NOT_SUPPORTED',
  ],
  [
    /cannot (?:compare|mix|cast|combine|convert)|type mismatch|can only be applied to|must be of type|requires? an? .* (?:type|argument)|cannot deduce/i,
    'TYPE_MISMATCH',
  ],
  [/more than one row returned/i, 'CARDINALITY_VIOLATION'],
];

/** What the binder refuses and no rule names (a nested aggregate, a column outside of GROUP BY) is a statement that makes no sense. */
function bindingCode(report: Report): ErrorCode {
  if (report.subtype === 'COLUMN_NOT_FOUND') return 'COLUMN_NOT_FOUND';
  if (report.subtype === 'NO_MATCHING_FUNCTION') return 'FUNCTION_NOT_FOUND';
  if (report.subtype === 'MISSING_ENTRY' && /function/i.test(report.object)) return 'FUNCTION_NOT_FOUND';
  return BINDING_RULES.find(([pattern]) => pattern.test(report.message))?.[1] ?? 'SYNTAX_ERROR';
}

function invalidInputCode({ message }: Report): ErrorCode {
  if (/more than one row returned by a subquery/i.test(message)) return 'CARDINALITY_VIOLATION';
  if (/division by zero|divide by zero/i.test(message)) return 'DIVISION_BY_ZERO';
  if (FILE_DATA.test(message)) return 'INVALID_TABLE_DATA';
  if (/expected \d+ parameters|values were not provided/i.test(message)) return 'INVALID_REQUEST';
  if (/max(?:imum)? expression depth|recursion depth/i.test(message)) return 'STATEMENT_TOO_COMPLEX';
  return 'INVALID_ARGUMENT';
}

/** An error of DuckDB's own limit says how much of it is used; any other is of the system's allocator. */
function memoryCode({ message }: Report): ErrorCode {
  if (/max_temp_directory_size|temp(?:orary)? directory|failed to offload/i.test(message)) return 'SPILL_LIMIT';
  return / used\)/.test(message) ? 'OUT_OF_MEMORY' : 'MEMORY_EXHAUSTED';
}

/** Texts that need a word more or less; an internal error says nothing (its text is the cause, for the log). */
const MESSAGES: Partial<Record<ErrorCode, (message: string) => string>> = {
  INTERNAL_ERROR: () => 'internal error',
  QUERY_CANCELLED: () => 'the query was cancelled',
  OUT_OF_MEMORY: (text) => `the query needs more memory than its limit: ${shortPaths(text)}`,
  MEMORY_EXHAUSTED: (text) => `the worker has no more memory for the query: ${shortPaths(text)}`,
  SPILL_LIMIT: (text) => `the query needs more disk than its spill limit: ${shortPaths(text)}`,
  STORAGE_ERROR: shortPaths,
  INVALID_TABLE_DATA: shortPaths,
  NOT_SUPPORTED: shortPaths,
  // A suggestion would come from DuckDB's own catalog.
  TABLE_NOT_FOUND: (text) => text.replace(/\nDid you mean [^]*$/, ''),
};

const messageOf = (code: ErrorCode, { message }: Report): string => MESSAGES[code]?.(message) ?? message;

/** Local paths are shortened to the file's name. */
function shortPaths(text: string): string {
  return text.replace(FILE_PATH, '$1$2$1');
}
