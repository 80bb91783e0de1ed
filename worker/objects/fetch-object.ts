import { open, rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { SkeinError } from '#shared/error.ts';
import { crc32Combine } from '#shared/storage/crc32-combine.ts';
import type { Storage } from '#shared/storage/storage.ts';

/** Bytes of one request, and requests for one object that run at once. */
const PIECE_BYTES = 4 * 2 ** 20;
const PIECES_AT_ONCE = 4;

/** Size and checksum of an object's copy. */
export type CopyFacts = { readonly sizeBytes: number; readonly crc: number };

/** How often an object is fetched whose bytes are not those that its writer has written. */
const FETCHES_MAX = 4;

/**
 * Copies an object into a new local file. The pieces are all of the object that was opened, and together they have the checksum that its
 * writer has given it, if it did. @throws FileNotFound, STORAGE_ERROR
 */
export async function fetchObject(signal: AbortSignal, wanted: Wanted): Promise<CopyFacts> {
  for (let fetches = 1; ; fetches++) {
    const { crc, pieces, sizeBytes } = await fetchOnce(signal, wanted);
    if (crc === null || crc === wholeOf(pieces)) return { sizeBytes, crc: sumOfSums(pieces) };
    await rm(wanted.path, { force: true });
    if (fetches >= FETCHES_MAX) {
      throw new SkeinError('STORAGE_ERROR', `the store gives other bytes of ${wanted.location} than were written`);
    }
  }
}

type Wanted = { readonly storage: Storage; readonly location: string; readonly path: string };
type Piece = { readonly at: number; readonly length: number; crc: number };

async function fetchOnce(
  signal: AbortSignal,
  { storage, location, path }: Wanted,
): Promise<{ readonly crc: number | null; readonly pieces: readonly Piece[]; readonly sizeBytes: number }> {
  await using object = await storage.openFile(location, PIECE_BYTES);
  await using file = await open(path, 'wx', 0o600);
  const { sizeBytes, tail, crc } = object;
  const tailAt = sizeBytes - tail.length;
  await file.write(tail, 0, tail.length, tailAt);
  const pieces: Piece[] = [];
  for (let at = 0; at < tailAt; at += PIECE_BYTES) {
    pieces.push({ at, length: Math.min(PIECE_BYTES, tailAt - at), crc: 0 });
  }
  let next = 0;
  const work = async (): Promise<void> => {
    for (let piece = pieces[next++]; piece !== undefined; piece = pieces[next++]) {
      signal.throwIfAborted();
      const bytes = await object.read(piece.at, piece.length);
      if (bytes.length !== piece.length) {
        throw new SkeinError('STORAGE_ERROR', `the store gave ${bytes.length} of ${piece.length} bytes of ${location}`);
      }
      piece.crc = crc32(bytes);
      await file.write(bytes, 0, bytes.length, piece.at);
    }
  };
  // The file stays open until the last of them has ended.
  const results = await Promise.allSettled(Array.from({ length: PIECES_AT_ONCE }, work));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return { crc, sizeBytes, pieces: [...pieces, { at: tailAt, length: tail.length, crc: crc32(tail) }] };
}

const wholeOf = (pieces: readonly Piece[]): number =>
  pieces.reduce((whole, { crc, length }) => crc32Combine(whole, crc, length), 0);

const sumOfSums = (pieces: readonly Piece[]): number =>
  crc32(Buffer.from(new Uint32Array(pieces.map(({ crc }) => crc)).buffer));

/** The facts of a copy as it lies on the disk. */
export async function factsOfCopy(path: string): Promise<CopyFacts> {
  await using file = await open(path, 'r');
  const { size: sizeBytes } = await file.stat();
  const tailAt = Math.max(0, sizeBytes - PIECE_BYTES);
  const sums: number[] = [];
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  for (let at = 0; at < tailAt; at += PIECE_BYTES) {
    sums.push(await sumOf(at, Math.min(PIECE_BYTES, tailAt - at)));
  }
  sums.push(await sumOf(tailAt, sizeBytes - tailAt));
  return { sizeBytes, crc: crc32(Buffer.from(new Uint32Array(sums).buffer)) };

  async function sumOf(at: number, length: number): Promise<number> {
    let done = 0;
    while (done < length) {
      const { bytesRead } = await file.read(buffer, done, length - done, at + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return crc32(buffer.subarray(0, done));
  }
}
