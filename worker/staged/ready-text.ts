import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import type { StagedSource } from '#shared/task/task.ts';
import type { CsvFormat, JsonFormat } from '#shared/stage/file-format.ts';
import { SkeinError } from '#shared/error.ts';
import { readablePath, type OpenScanned } from '../scan/readable-path.ts';
import { CsvWalk } from './csv-walk.ts';
import { escapedNulls, signNulls } from './escaped-nulls.ts';
import { evenLines, hasMarkedHeader, lineEnds } from './even-lines.ts';
import { textOf, unlessBroken } from './file-text.ts';
import { RECORD_BYTES_MAX } from './first-record.ts';
import { requireFewLevels } from './json-levels.ts';
import { hasLongNumbers } from './long-numbers.ts';
import type { RangeFiles, ReadyText } from './range-files.ts';

type Tools = { readonly open: OpenScanned; readonly ranges: RangeFiles };
type Source = Pick<StagedSource, 'columns'> & { readonly format: CsvFormat | JsonFormat };

/** Makes a file, or its part, ready for DuckDB; null when no record begins in the part. @throws SPILL_LIMIT, INVALID_INPUT_FILE */
export const readyText = (
  signal: AbortSignal,
  file: ScanFile,
  source: Source,
  tools: Tools,
): Promise<ReadyText | null> => tools.ranges.once(file, () => makeReady(signal, file, source, tools));

async function makeReady(
  signal: AbortSignal,
  file: ScanFile,
  { format, columns }: Source,
  { open, ranges }: Tools,
): Promise<ReadyText | null> {
  const part =
    file.bytes === undefined
      ? undefined
      : await ranges.add(signal, file, file.bytes, { open, lineBytesMax: RECORD_BYTES_MAX });
  if (part === null) return null;
  const text = { location: file.path, compression: format.compression, bytes: part?.bytes };
  const ready = { path: part?.path ?? readablePath(open, file.path), text, copy: part };
  if (format.kind === 'json') {
    await requireFewLevels(signal, open, text, format);
    const isLong = columns.some(mayLoseDigits) && (await hasLongNumbers(signal, open, text));
    return { ...ready, newLine: null, fields: 0, isLong };
  }
  const read = (): AsyncGenerator<Uint8Array> => textOf(signal, open, text);
  const nulls = escapedNulls(format);
  const found = await unlessBroken(signal, async () => ({
    newLine: await lineEnds(read, format),
    isMisread: (nulls.length > 0 && (await includesOne(read(), nulls))) || (await hasMarkedHeader(read, format)),
    fields: format.countsFields ? 0 : await mostFields(read(), format),
  }));
  if (found === null) return { ...ready, newLine: null, fields: 0, isLong: false };
  const { newLine, isMisread, fields } = found;
  if (newLine !== 'uneven' && !isMisread) return { ...ready, newLine, fields, isLong: false };
  const bytes = part?.bytes ?? { start: 0, end: file.sizeBytes };
  const even = evenLines(read(), format, (record) => signNulls(record, format, nulls));
  const copy = await ranges.write(signal, { file, bytes }, even);
  const copied = { location: copy.path, compression: 'none' } as const;
  return { path: copy.path, text: copied, copy, newLine: '\n', fields, isLong: false };
}

/** The number of fields that the longest record has, at most one more than `FIELDS_MAX`. */
async function mostFields(text: AsyncIterable<Uint8Array>, format: CsvFormat): Promise<number> {
  let most = 0;
  const walk = new CsvWalk(
    format,
    ({ fields }) => {
      most = Math.max(most, fields);
      return most <= FIELDS_MAX;
    },
    { fields: true },
  );
  for await (const chunk of text) if (!walk.take(chunk)) break;
  if (most <= FIELDS_MAX) walk.finish();
  if (most <= FIELDS_MAX) return most;
  throw new SkeinError('INVALID_INPUT_FILE', `a record of a file has more than ${FIELDS_MAX} fields`);
}

/** Fields of a record, at most, of which some are left out: DuckDB is told of each. */
const FIELDS_MAX = 10_000;

async function includesOne(text: AsyncIterable<Uint8Array>, wanted: readonly string[]): Promise<boolean> {
  const longest = Math.max(...wanted.map((one) => Buffer.byteLength(one)));
  let before: Uint8Array = Buffer.alloc(0);
  for await (const chunk of text) {
    const bytes = Buffer.concat([before, chunk]);
    if (wanted.some((one) => bytes.includes(one))) return true;
    before = bytes.subarray(-longest);
  }
  return false;
}

/** The types whose values may have more digits than a DOUBLE. */
const mayLoseDigits = ({ json, type }: StagedSource['columns'][number]): boolean =>
  /DECIMAL|VARCHAR|JSON|BIGNUM/.test(json?.read ?? type);
