import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { SkeinError } from '#shared/error.ts';
import { crc32Combine } from '#shared/storage/crc32-combine.ts';
import type { Storage } from '#shared/storage/storage.ts';
import type { ObjectFacts, Piece } from './object-journal.ts';

/** Bytes of one request, and requests for one object that run at once. */
export const REQUEST_BYTES = 4 * 2 ** 20;
const REQUESTS_AT_ONCE = 6;
/** Bytes that nobody has asked for are fetched, too, where they are no more than these and save a request. */
const GAP_BYTES_MAX = 16 * 1024;
/** How often a segment is fetched whose bytes are not those that its writer has written. */
const FETCHES_MAX = 4;

/** Some segments of an object, and what is known of it. */
export type WantedSegments = {
  readonly borders: Float64Array;
  /** Their numbers, ascending. */
  readonly segments: readonly number[];
  /** Checksums of all segments of the object; null = its writer has told none. */
  readonly sums: readonly number[] | null;
};

/** The object, and its last bytes if they have been read before. */
export type FetchSource = {
  readonly storage: Storage;
  readonly location: string;
  readonly facts: ObjectFacts;
  readonly tail: Buffer | undefined;
};

/**
 * Fetches segments into their places in a local file. All are of the object that was opened, and have the checksums that its writer has
 * given. @throws FileNotFound, FileReplaced, STORAGE_ERROR
 */
export async function fetchSegments(
  signal: AbortSignal,
  file: FileHandle,
  source: FetchSource,
  { borders, segments, sums }: WantedSegments,
): Promise<readonly Piece[]> {
  const done: Piece[] = [];
  let wanted = withGaps(borders, segments);
  for (let fetches = 1; ; fetches++) {
    // The bytes that came as it was opened may be the wrong ones.
    const tail = fetches === 1 ? source.tail : undefined;
    const pieces = await fetchPieces(signal, file, { ...source, tail }, { borders, segments: wanted, sums });
    const wrong = sums === null ? [] : wanted.filter((i) => sums[i] !== sumOf(pieces, borders, i));
    const isWrong = (at: number): boolean => wrong.some((i) => at >= (borders[i] ?? 0) && at < (borders[i + 1] ?? 0));
    done.push(...(wrong.length === 0 ? pieces : pieces.filter(({ at }) => !isWrong(at))));
    if (wrong.length === 0) return done;
    if (fetches >= FETCHES_MAX) {
      throw new SkeinError('STORAGE_ERROR', `the store gives other bytes of ${source.location} than were written`);
    }
    wanted = wrong;
  }
}

/** The segments with the small ones between them. */
function withGaps(borders: Float64Array, segments: readonly number[]): readonly number[] {
  const all: number[] = [];
  for (const segment of segments) {
    const next = (all.at(-1) ?? segment - 1) + 1;
    const gap = (borders[segment] ?? 0) - (borders[next] ?? 0);
    if (gap > 0 && gap <= GAP_BYTES_MAX) for (let i = next; i < segment; i++) all.push(i);
    all.push(segment);
  }
  return all;
}

type Request = { readonly at: number; length: number };

/** Neighbours come together, large segments in parts. */
function requestsFor({ borders, segments }: Pick<WantedSegments, 'borders' | 'segments'>): readonly Request[] {
  const requests: Request[] = [];
  for (const segment of segments) {
    const [start, end] = [borders[segment] ?? 0, borders[segment + 1] ?? 0];
    const last = requests.at(-1);
    if (last !== undefined && last.at + last.length === start && end - last.at <= REQUEST_BYTES) {
      last.length += end - start;
      continue;
    }
    for (let at = start; at < end; at += REQUEST_BYTES) {
      requests.push({ at, length: Math.min(REQUEST_BYTES, end - at) });
    }
  }
  return requests;
}

const NO_CUTS = new Float64Array();

async function fetchPieces(
  signal: AbortSignal,
  file: FileHandle,
  source: FetchSource,
  wanted: WantedSegments,
): Promise<readonly Piece[]> {
  const requests = requestsFor(wanted);
  const cuts = wanted.sums === null ? NO_CUTS : wanted.borders;
  const pieces: Piece[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
      signal.throwIfAborted();
      const bytes = await bytesOf(source, request);
      await file.write(bytes, 0, bytes.length, request.at);
      pieces.push(...piecesOf(bytes, request.at, cuts));
    }
  };
  // The file stays open until the last of them has ended.
  const results = await Promise.allSettled(Array.from({ length: REQUESTS_AT_ONCE }, work));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return pieces.sort((a, b) => a.at - b.at);
}

async function bytesOf({ storage, location, facts, tail }: FetchSource, { at, length }: Request): Promise<Buffer> {
  const tailAt = facts.sizeBytes - (tail?.length ?? 0);
  if (tail !== undefined && at >= tailAt) return tail.subarray(at - tailAt, at - tailAt + length);
  // Only what stands before the last bytes is fetched.
  const rest = tail !== undefined && at + length > tailAt ? tail.subarray(0, at + length - tailAt) : undefined;
  const wanted = length - (rest?.length ?? 0);
  const bytes = await storage.readRange(location, at, wanted, facts.etag);
  if (bytes.length !== wanted) {
    throw new SkeinError('STORAGE_ERROR', `the store gave ${bytes.length} of ${wanted} bytes of ${location}`);
  }
  return rest === undefined ? bytes : Buffer.concat([bytes, rest]);
}

/** Bytes at a place, divided where segments end. */
function piecesOf(bytes: Buffer, at: number, borders: Float64Array): readonly Piece[] {
  const end = at + bytes.length;
  const cuts = [...borders.filter((border) => border > at && border < end), end];
  let from = at;
  return cuts.map((to) => {
    const piece = { at: from, length: to - from, crc: crc32(bytes.subarray(from - at, to - at)) };
    from = to;
    return piece;
  });
}

/** The checksum of a segment, all pieces of which are there. */
function sumOf(pieces: readonly Piece[], borders: Float64Array, segment: number): number {
  const [start, end] = [borders[segment] ?? 0, borders[segment + 1] ?? 0];
  return pieces
    .filter(({ at }) => at >= start && at < end)
    .reduce((sum, { crc, length }) => crc32Combine(sum, crc, length), 0);
}
