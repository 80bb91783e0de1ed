import { unreachable } from '#shared/must.ts';
import type { CsvUnload, JsonUnload, ParquetUnload, TextCompression, UnloadFormat } from '#shared/stage/file-format.ts';
import {
  characterOf,
  formatType,
  NULLS,
  NULLS_MAX,
  QUOTE,
  refused,
  requireEncoding,
  timesOf,
} from '../stage/file-format-options.ts';
import { OptionReader } from '../stage/option-reader.ts';
import type { Option } from '../stage/take-options.ts';

type Around = {
  /** HEADER, where the statement has it. */
  readonly header: boolean | undefined;
  /** The name of the file, if it has one; COMPRESSION = AUTO goes by its end. */
  readonly fileName: string | null;
};

/** `FILE_FORMAT = (TYPE = ...)` of an unload. @throws SYNTAX_ERROR, NOT_SUPPORTED; both with the position */
export function unloadFormatOf(options: readonly Option[], around: Around): UnloadFormat {
  const type = formatType(options);
  const reader = new OptionReader(options, `TYPE = ${type} of an unload`);
  reader.word('TYPE', [type], type);
  const format = formatOf(type, reader, around);
  reader.end();
  return format;
}

function formatOf(type: ReturnType<typeof formatType>, reader: OptionReader, around: Around): UnloadFormat {
  switch (type) {
    case 'CSV':
      return csvOf(reader, around);
    case 'JSON':
      return jsonOf(reader, around);
    case 'PARQUET':
      return parquetOf(reader);
    default:
      return unreachable(type);
  }
}

function csvOf(reader: OptionReader, { header = false, fileName }: Around): CsvUnload {
  // DuckDB writes the first character of a longer one.
  const delimiter = characterOf('FIELD_DELIMITER', ',', reader, TABULATOR);
  if (delimiter === null) throw refused('FIELD_DELIMITER', 'is one character', reader);
  const record = reader.text('RECORD_DELIMITER') ?? '\n';
  if (!RECORD_ENDS.has(record)) throw refused('RECORD_DELIMITER', 'is \\n for an unload', reader);
  const quote = characterOf('FIELD_OPTIONALLY_ENCLOSED_BY', QUOTE, reader);
  const escape = characterOf('ESCAPE', quote, reader);
  const emptyIsNull = reader.boolean('EMPTY_FIELD_AS_NULL', true);
  // A text that is not given has no sign of ESCAPE in it, if an empty field can stand for NULL.
  const nulls = emptyIsNull
    ? NULLS.filter((text) => escape === null || escape === quote || !text.includes(escape))
    : NULLS;
  const [nullText = ''] = reader.texts('NULL_IF', NULLS_MAX) ?? nulls;
  requireEncoding(reader);
  if (delimiter === quote) throw refused('FIELD_DELIMITER', 'is not the character that encloses fields', reader);
  if (delimiter === escape) throw refused('ESCAPE', 'is not the character between fields', reader);
  const special = [delimiter, quote, escape, '\n', '\r'].find((sign) => sign !== null && nullText.includes(sign));
  if (special !== undefined) {
    throw refused('NULL_IF', 'begins with a text that has no delimiter, no line end and no sign of ESCAPE', reader);
  }
  const times = timesOf(reader);
  for (const [name, pattern] of Object.entries({
    DATE_FORMAT: times.dateFormat,
    TIMESTAMP_FORMAT: times.timestampFormat,
  })) {
    if (quote !== null || !(pattern ?? '').includes(delimiter)) continue;
    throw refused(name, 'has the delimiter in it, and nothing encloses the fields', reader);
  }
  return {
    kind: 'csv',
    compression: compressionOf(reader, fileName),
    delimiter,
    quote,
    escape: quote === null ? null : (escape ?? quote),
    header,
    nullText,
    emptyIsNull,
    ...times,
  };
}

const TABULATOR = '\t';
const RECORD_ENDS: ReadonlySet<string> = new Set(['\n', '\\n']);

function jsonOf(reader: OptionReader, { fileName }: Around): JsonUnload {
  requireEncoding(reader);
  return { kind: 'json', compression: compressionOf(reader, fileName), ...timesOf(reader) };
}

function parquetOf(reader: OptionReader): ParquetUnload {
  const found = reader.word('COMPRESSION', ['AUTO', 'NONE', 'SNAPPY', 'ZSTD', 'GZIP'], 'AUTO');
  const codecs = { AUTO: 'snappy', NONE: 'none', SNAPPY: 'snappy', ZSTD: 'zstd', GZIP: 'gzip' } as const;
  return { kind: 'parquet', compression: codecs[found] };
}

function compressionOf(reader: OptionReader, fileName: string | null): TextCompression {
  const found = reader.word('COMPRESSION', ['AUTO', 'NONE', 'GZIP', 'ZSTD'], 'AUTO');
  if (found !== 'AUTO') return ({ NONE: 'none', GZIP: 'gzip', ZSTD: 'zstd' } as const)[found];
  if (fileName === null || fileName.endsWith('.gz')) return 'gzip';
  return fileName.endsWith('.zst') ? 'zstd' : 'none';
}
