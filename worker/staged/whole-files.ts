import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { FileFormat } from '#shared/stage/file-format.ts';

/** The files that DuckDB opens themselves: it reads a part of a text file from a copy of the part. */
export const wholeFiles = (files: readonly ScanFile[], format: FileFormat | undefined): readonly ScanFile[] =>
  files.filter(({ bytes }) => bytes === undefined || format?.kind === 'parquet');
