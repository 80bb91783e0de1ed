import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { ScanSpec, StagedSource } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { CsvWalk } from './csv-walk.ts';
import { textOf } from './file-text.ts';
import type { OpenScanned } from '../scan/readable-path.ts';

/** Most starts of records of one file. */
const STARTS_MAX = 100_000;

/**
 * Prints a list of the files with the offsets of some of their records: in each file the first that begins at least `stepBytes` behind the one
 * before. Only a walk over the quotes from the file's begin proves where a record of CSV begins, and none does behind a quote of which
 * readers think differently.
 * @throws INVALID_INPUT_FILE for more starts than `STARTS_MAX`
 */
export async function printRecordStarts(
  signal: AbortSignal,
  { files }: Pick<ScanSpec, 'files'>,
  source: StagedSource,
  { open }: { readonly open: OpenScanned },
): Promise<string> {
  const rows: string[] = [];
  for (const file of files) {
    for (const start of await recordStarts(signal, file, source, open))
      rows.push(`(${quoteLiteral(file.path)}, '${start}')`);
  }
  const names = source.columns.map(({ name }) => quoteIdentifier(name));
  // A row that is left out, so that the list is never empty.
  return `SELECT * FROM (VALUES ${["('', NULL)", ...rows].join(', ')}) AS t(${names.join(', ')}) WHERE ${names[1]} IS NOT NULL`;
}

async function recordStarts(
  signal: AbortSignal,
  { path: location }: ScanFile,
  { format, stepBytes = 1 }: StagedSource,
  open: OpenScanned,
): Promise<readonly number[]> {
  if (format.kind !== 'csv') return [];
  const starts: number[] = [];
  let next = stepBytes;
  // A part begins behind a line feed (`RangeFiles`).
  let isBehindFeed = false;
  const walk = new CsvWalk(format, ({ start, newLine }) => {
    const isStart = isBehindFeed && start >= next && walk.isSure;
    isBehindFeed = newLine !== '\r';
    if (!isStart) return true;
    starts.push(start);
    next = start + stepBytes;
    if (starts.length > STARTS_MAX) throw new SkeinError('INVALID_INPUT_FILE', 'a file is divided into too many parts');
    return true;
  });
  for await (const chunk of textOf(signal, open, { location, compression: format.compression })) walk.take(chunk);
  walk.finish();
  return starts;
}
