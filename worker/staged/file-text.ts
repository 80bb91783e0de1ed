import { pipeline } from 'node:stream/promises';
import { PassThrough, Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { ByteRange } from '#shared/iceberg/scan-file.ts';
import { SkeinError } from '#shared/error.ts';
import type { Compression } from '#shared/stage/file-format.ts';
import type { OpenScanned } from '../scan/readable-path.ts';

/** Bytes of a file that are read at once. */
const CHUNK_BYTES = 1024 * 1024;

/** A text file, or bytes of one that is not compressed. */
export type FileText = {
  readonly location: string;
  readonly compression: Compression;
  readonly bytes?: ByteRange | undefined;
};

/** The bytes of a text, without its compression. @throws the reason of `signal` between two chunks */
export async function* textOf(signal: AbortSignal, open: OpenScanned, text: FileText): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunksOf(open, text)) {
    signal.throwIfAborted();
    yield chunk;
  }
}

function chunksOf(open: OpenScanned, { location, compression, bytes }: FileText): AsyncIterable<Uint8Array> {
  const inflate = inflater(location, compression);
  if (inflate === null) return bytesOf(open, location, bytes);
  const out = new PassThrough();
  const ended = pipeline(Readable.from(bytesOf(open, location)), inflate, out);
  // Its error is that of `out`, too.
  ended.catch(() => undefined);
  return out;
}

async function* bytesOf(open: OpenScanned, location: string, bytes?: ByteRange): AsyncGenerator<Uint8Array> {
  await using file = await open(location).openFile(location, 0);
  const { start, end } = bytes ?? { start: 0, end: file.sizeBytes };
  for (let at = start; at < end; at += CHUNK_BYTES) yield await file.read(at, Math.min(CHUNK_BYTES, end - at));
}

function inflater(location: string, compression: Compression) {
  const name = location.toLowerCase();
  const kind =
    compression !== 'auto' ? compression : name.endsWith('.gz') ? 'gzip' : name.endsWith('.zst') ? 'zstd' : 'none';
  if (kind === 'gzip') return createGunzip();
  return kind === 'zstd' ? createZstdDecompress() : null;
}

/** Null for what is wrong with a file in another way than `read` looks for. */
export async function unlessBroken<T>(signal: AbortSignal, read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (signal.aborted || error instanceof SkeinError) throw error;
    return null;
  }
}
