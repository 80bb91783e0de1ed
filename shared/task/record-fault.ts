import { SkeinError } from '#shared/error.ts';
import type { FileFormat } from '#shared/stage/file-format.ts';
import type { RecordFault } from './load-rules.ts';

/** The error of a statement that stops at a record. @param file its path in the stage */
export function faultError(
  { code, message, line, column }: RecordFault,
  file: string,
  { kind }: Pick<FileFormat, 'kind'>,
): SkeinError {
  const unit = kind === 'parquet' ? 'row' : 'line';
  const place = [
    `the file ${file} of the stage`,
    ...(line === null ? [] : [`${unit} ${line}`]),
    ...(column === null ? [] : [`column ${column}`]),
  ];
  return new SkeinError(code, `${place.join(', ')}: ${message}`);
}
