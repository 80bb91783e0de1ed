import type { CsvFormat } from '#shared/stage/file-format.ts';
import { CsvWalk } from '../staged/csv-walk.ts';

const [NEWLINE, RETURN] = [0x0a, 0x0d];

/** Finds the records of CSV files by their bytes, for the numbers of lines. */

/**
 * The lines of the records at some places among those that DuckDB has read, by their places; none for a place that the text does not have.
 * One pass over the text, as far as the last of them.
 * @param places ascending
 * @param rejected where the records begin that it has not read, sorted: there, or at the end of the line before or at an empty line between
 * @param isOne the file has one column: an empty line is a record
 */
export async function linesOfCsvRecords(
  text: AsyncIterable<Uint8Array>,
  format: CsvFormat,
  { places, rejected, isOne }: CsvPlaces,
): Promise<ReadonlyMap<number, number>> {
  const lines = new Map<number, number>();
  const wanted = new Set(places);
  const last = places.at(-1);
  if (last === undefined) return lines;
  const headerLines = format.header.kind === 'names' ? 1 : format.header.count;
  let count = 0;
  let records = 0;
  let at = 0;
  const walk = new CsvWalk(format, ({ start, end, line }) => {
    records += 1;
    if (records <= headerLines || (end === start && !isOne)) return true;
    const next = rejected[at] ?? Infinity;
    if (next <= start) {
      while ((rejected[at] ?? Infinity) <= start) at += 1;
      return true;
    }
    count += 1;
    if (wanted.has(count)) lines.set(count, line);
    return count < last;
  });
  for await (const chunk of text) if (!walk.take(chunk)) return lines;
  walk.finish();
  return lines;
}

type CsvPlaces = { readonly places: readonly number[]; readonly rejected: readonly number[]; readonly isOne: boolean };

/**
 * The lines of the records that DuckDB has found at some offsets, by their offsets: each behind empty lines that it has passed over. One pass
 * over the text.
 * @param offsets ascending
 * @param isOne the file has one column: an empty line is a record
 */
export async function linesOfBytes(
  text: AsyncIterable<Uint8Array>,
  offsets: readonly number[],
  isOne: boolean,
): Promise<ReadonlyMap<number, number>> {
  const lines = new Map<number, number>();
  if (offsets.length === 0) return lines;
  const left = offsets.values();
  let offset = left.next();
  let line = 1;
  let base = 0;
  for await (const chunk of text) {
    let at = 0;
    while (offset.done !== true) {
      const to = Math.max(at, Math.min(offset.value - base, chunk.length));
      line += newlines(chunk.subarray(at, to));
      at = to;
      const begin = isOne ? at : behindLineEnds(chunk, at);
      line += newlines(chunk.subarray(at, begin));
      at = begin;
      if (at === chunk.length) break;
      lines.set(offset.value, line);
      offset = left.next();
    }
    if (offset.done === true) return lines;
    base += chunk.length;
  }
  for (; offset.done !== true; offset = left.next()) lines.set(offset.value, line);
  return lines;
}

function behindLineEnds(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === NEWLINE || bytes[at] === RETURN) at += 1;
  return at;
}

function newlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count += 1;
  return count;
}
