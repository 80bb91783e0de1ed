/**
 * How the bytes of a stage's file become rows, as `FILE_FORMAT = (...)` says it. Plain data: it travels with the tasks that read the files.
 * The options are Snowflake's; `docs/sql.md` says where a default differs.
 */
export type FileFormat = CsvFormat | JsonFormat | ParquetFormat;

export type CsvFormat = {
  readonly kind: 'csv';
  readonly compression: Compression;
  readonly delimiter: string;
  /** Null = no character encloses a field. */
  readonly quote: string | null;
  /** Null = none; by default the quote itself, doubled. */
  readonly escape: string | null;
  /** `names`: the first line names the columns. */
  readonly header: { readonly kind: 'lines'; readonly count: number } | { readonly kind: 'names' };
  /** Texts that mean NULL where they stand without quotes. */
  readonly nulls: readonly string[];
  /** A record of fewer or more fields than there are columns is an error; else what is missing is NULL, and what is too much is left out. */
  readonly countsFields: boolean;
  /** `strptime` patterns; null = what a cast takes. */
  readonly dateFormat: string | null;
  readonly timestampFormat: string | null;
};

export type JsonFormat = {
  readonly kind: 'json';
  readonly compression: Compression;
  /** `lines`: one document a line. `array`: the documents are the elements of one array. `documents`: one behind the other. */
  readonly layout: 'lines' | 'array' | 'documents';
  readonly dateFormat: string | null;
  readonly timestampFormat: string | null;
};

type ParquetFormat = { readonly kind: 'parquet' };

/** How rows become the bytes of a stage's file: the same options, as far as they are of use. */
export type UnloadFormat = CsvUnload | JsonUnload | ParquetUnload;

export type CsvUnload = {
  readonly kind: 'csv';
  readonly compression: TextCompression;
  readonly delimiter: string;
  /** Null = no character encloses a field. */
  readonly quote: string | null;
  readonly escape: string | null;
  /** The first line names the columns. */
  readonly header: boolean;
  /** The text of NULL. */
  readonly nullText: string;
  /** An empty text that nothing encloses is read as NULL. */
  readonly emptyIsNull: boolean;
  readonly dateFormat: string | null;
  readonly timestampFormat: string | null;
};

/** One document a line. */
export type JsonUnload = {
  readonly kind: 'json';
  readonly compression: TextCompression;
  readonly dateFormat: string | null;
  readonly timestampFormat: string | null;
};

export type ParquetUnload = {
  readonly kind: 'parquet';
  readonly compression: 'none' | 'snappy' | 'gzip' | 'zstd';
};

export type TextCompression = Exclude<Compression, 'auto'>;

/** `auto`: by the ending of the file's name. */
export type Compression = 'auto' | 'none' | 'gzip' | 'zstd';
