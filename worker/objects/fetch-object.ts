import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { Storage } from '#shared/storage/storage.ts';

/** Bytes of one request, and requests for one object that run at once. */
const PIECE_BYTES = 4 * 2 ** 20;
const PIECES_AT_ONCE = 4;

/** Size and checksum of an object's copy. */
export type CopyFacts = { readonly sizeBytes: number; readonly crc: number };

/** Copies an object into a new local file. The pieces are all of the object that was opened. @throws FileNotFound, STORAGE_ERROR */
export async function fetchObject(
  signal: AbortSignal,
  { storage, location, path }: { readonly storage: Storage; readonly location: string; readonly path: string },
): Promise<CopyFacts> {
  await using object = await storage.openFile(location, PIECE_BYTES);
  await using file = await open(path, 'wx', 0o600);
  const { sizeBytes, tail } = object;
  await file.write(tail, 0, tail.length, sizeBytes - tail.length);
  const pieces: { readonly at: number; readonly length: number }[] = [];
  for (let at = 0; at < sizeBytes - tail.length; at += PIECE_BYTES) {
    pieces.push({ at, length: Math.min(PIECE_BYTES, sizeBytes - tail.length - at) });
  }
  const sums: number[] = [];
  const next = async (): Promise<void> => {
    for (let i = sums.length; i < pieces.length; i = sums.length) {
      signal.throwIfAborted();
      sums.push(0);
      const { at, length } = pieces[i] ?? { at: 0, length: 0 };
      const bytes = await object.read(at, length);
      if (bytes.length !== length) throw new Error(`the store gave ${bytes.length} of ${length} bytes`);
      sums[i] = crc32(bytes);
      await file.write(bytes, 0, length, at);
    }
  };
  await Promise.all(Array.from({ length: PIECES_AT_ONCE }, next));
  return { sizeBytes, crc: crc32(Buffer.from(new Uint32Array([...sums, crc32(tail)]).buffer)) };
}

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
