import type { OnError } from '#shared/task/load-rules.ts';
import { SkeinError } from '#shared/error.ts';
import type { FileFormat } from '#shared/stage/file-format.ts';
import { stageFileNames } from '#shared/stage/stage-path.ts';
import type { CopyOptions, Validation } from '../../operation/copy-into.ts';
import { fileFormatOf } from '../../stage/file-format-options.ts';
import { OptionReader } from '../../stage/option-reader.ts';
import type { Option } from '../../stage/take-options.ts';

/** The options of COPY INTO a table, under Snowflake's names, as data. */

/** Files that FILES names, as in Snowflake. */
const FILES_MAX = 1_000;
/** Rows of VALIDATION_MODE = RETURN_n_ROWS. */
const ROWS_MAX = 100_000;

/** Options of Snowflake that are not served. */
const NOT_SERVED: ReadonlySet<string> = new Set([
  'CLUSTER_AT_INGEST_TIME',
  'CREDENTIALS',
  'ENCRYPTION',
  'ENFORCE_LENGTH',
  'FILE_PROCESSOR',
  'INCLUDE_METADATA',
  'LOAD_MODE',
  'LOAD_UNCERTAIN_FILES',
  'RETURN_FAILED_ONLY',
  'SIZE_LIMIT',
  'STORAGE_INTEGRATION',
  'TRUNCATECOLUMNS',
]);

/** @throws SYNTAX_ERROR, NOT_SUPPORTED, INVALID_REQUEST for a path; each with the position */
export function copyOptionsOf(options: readonly Option[], hasSelect: boolean): CopyOptions {
  for (const { name, position } of options) {
    if (NOT_SERVED.has(name))
      throw new SkeinError('NOT_SUPPORTED', `COPY INTO with ${name} is not served`, { position });
  }
  const reader = new OptionReader(options, 'COPY INTO');
  const format = fileFormatOf(reader.options('FILE_FORMAT') ?? []);
  const result: CopyOptions = {
    format,
    files: filesOf(reader),
    pattern: reader.pattern('PATTERN') ?? null,
    onError: onErrorOf(reader),
    match: matchOf(reader, format, hasSelect),
    force: reader.boolean('FORCE', false),
    purge: reader.boolean('PURGE', false),
    validation: validationOf(reader),
  };
  reader.end();
  if (result.validation === null || !hasSelect) return result;
  const position = reader.positionOf('VALIDATION_MODE');
  throw new SkeinError('NOT_SUPPORTED', 'VALIDATION_MODE with a SELECT is not served', { position });
}

function filesOf(reader: OptionReader): CopyOptions['files'] {
  const files = reader.texts('FILES', FILES_MAX);
  const position = reader.positionOf('FILES') ?? 0;
  return (
    files?.map((path) => {
      try {
        stageFileNames(path);
      } catch (thrown) {
        const { code, message } = SkeinError.of(thrown);
        throw new SkeinError(code, `FILES: ${message}`, { position, cause: thrown });
      }
      return { path, position };
    }) ?? null
  );
}

const SKIP = /^SKIP_FILE(?:_(\d{1,9})(%?))?$/;

function onErrorOf(reader: OptionReader): OnError {
  const word = reader.anyWord('ON_ERROR') ?? 'ABORT_STATEMENT';
  if (word === 'ABORT_STATEMENT') return { kind: 'abort' };
  if (word === 'CONTINUE') return { kind: 'continue' };
  const [all, number, percent = ''] = SKIP.exec(word) ?? [];
  if (all === undefined || (number === '0' && percent === '')) {
    throw refused(reader, 'ON_ERROR', "is one of ABORT_STATEMENT, CONTINUE, SKIP_FILE, SKIP_FILE_n, 'SKIP_FILE_n%'");
  }
  if (number === undefined) return { kind: 'skip', from: 1, unit: 'records' };
  if (percent !== '' && Number(number) > 100) throw refused(reader, 'ON_ERROR', 'names at most 100 percent');
  return { kind: 'skip', from: Number(number), unit: percent === '' ? 'records' : 'percent' };
}

/** Where Snowflake would load a file of JSON or Parquet as one VARIANT, values find their columns by name. */
function matchOf(reader: OptionReader, format: FileFormat, hasSelect: boolean): CopyOptions['match'] {
  const name = 'MATCH_BY_COLUMN_NAME';
  const otherwise = format.kind === 'csv' || hasSelect ? 'NONE' : 'CASE_INSENSITIVE';
  const word = reader.word(name, ['CASE_SENSITIVE', 'CASE_INSENSITIVE', 'NONE'], otherwise);
  if (word === 'NONE') {
    if (format.kind === 'csv' || hasSelect) return 'position';
    const position = reader.positionOf(name);
    const message = `${name} = NONE is not served for ${format.kind === 'json' ? 'JSON' : 'PARQUET'}: there is no column for a whole record`;
    throw new SkeinError('NOT_SUPPORTED', message, { position });
  }
  if (hasSelect) throw refused(reader, name, 'is not given with a SELECT');
  if (format.kind === 'csv' && format.header.kind !== 'names') {
    throw refused(reader, name, 'takes the names of a header: FILE_FORMAT = (TYPE = CSV PARSE_HEADER = TRUE)');
  }
  return word === 'CASE_SENSITIVE' ? 'exact name' : 'name';
}

const RETURN_ROWS = /^RETURN_(\d{1,9})_ROWS$/;

function validationOf(reader: OptionReader): Validation | null {
  const word = reader.anyWord('VALIDATION_MODE');
  if (word === undefined) return null;
  if (word === 'RETURN_ERRORS' || word === 'RETURN_ALL_ERRORS') return { kind: 'errors' };
  const count = Number(RETURN_ROWS.exec(word)?.[1] ?? 0);
  if (count >= 1 && count <= ROWS_MAX) return { kind: 'rows', count };
  throw refused(
    reader,
    'VALIDATION_MODE',
    `is one of RETURN_n_ROWS, n from 1 to ${ROWS_MAX}, RETURN_ERRORS, RETURN_ALL_ERRORS`,
  );
}

const refused = (reader: OptionReader, name: string, what: string): SkeinError =>
  new SkeinError('SYNTAX_ERROR', `${name} ${what}`, { position: reader.positionOf(name) });
