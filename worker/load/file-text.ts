import { pipeline } from 'node:stream/promises';
import { PassThrough, Readable } from 'node:stream';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { Compression } from '#shared/stage/file-format.ts';
import type { OpenScanned } from '../scan/readable-path.ts';

/** Bytes of a file that are read at once. */
const CHUNK_BYTES = 1024 * 1024;

/** The bytes of a text file, without its compression. @throws the reason of `signal` between two chunks */
export async function* textOf(
  signal: AbortSignal,
  open: OpenScanned,
  location: string,
  compression: Compression,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunksOf(open, location, compression)) {
    signal.throwIfAborted();
    yield chunk;
  }
}

function chunksOf(open: OpenScanned, location: string, compression: Compression): AsyncIterable<Uint8Array> {
  const inflate = inflater(location, compression);
  if (inflate === null) return bytesOf(open, location);
  const out = new PassThrough();
  const ended = pipeline(Readable.from(bytesOf(open, location)), inflate, out);
  // Its error is that of `out`, too.
  ended.catch(() => undefined);
  return out;
}

async function* bytesOf(open: OpenScanned, location: string): AsyncGenerator<Uint8Array> {
  await using file = await open(location).openFile(location, 0);
  for (let at = 0; at < file.sizeBytes; at += CHUNK_BYTES) yield await file.read(at, CHUNK_BYTES);
}

function inflater(location: string, compression: Compression) {
  const name = location.toLowerCase();
  const kind =
    compression !== 'auto' ? compression : name.endsWith('.gz') ? 'gzip' : name.endsWith('.zst') ? 'zstd' : 'none';
  if (kind === 'gzip') return createGunzip();
  return kind === 'zstd' ? createZstdDecompress() : null;
}
