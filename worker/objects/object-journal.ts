import { crc32 } from 'node:zlib';
import type { Checksums } from '#shared/storage/storage.ts';

/** An object as the store has told it. */
export type ObjectFacts = {
  readonly sizeBytes: number;
  /** Empty when the store gives none. */
  readonly etag: string;
  readonly checksums: Checksums | null;
};

/** Bytes of an object that are here, and their CRC-32. */
export type Piece = { readonly at: number; readonly length: number; readonly crc: number };

/**
 * The journal tells what is here of an object, as a file beside its bytes: the facts, then a record for each piece, in the order in which they came. A record is
 * written behind its bytes, and has a checksum of its own: what a crash has torn is not there.
 *
 * ```
 * length 4 | checksum 4 | facts as JSON | at 8, length 4, CRC of the bytes 4, checksum 4 | ...
 * ```
 */
const HEAD_BYTES = 8;
const RECORD_BYTES = 20;
const SUM_AT = 16;

export function encodeFacts(facts: ObjectFacts): Buffer {
  const text = Buffer.from(JSON.stringify(facts));
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(crc32(text), 4);
  return Buffer.concat([head, text]);
}

export function encodePieces(pieces: readonly Piece[]): Buffer {
  const bytes = Buffer.alloc(pieces.length * RECORD_BYTES);
  for (const [i, { at, length, crc }] of pieces.entries()) {
    const from = i * RECORD_BYTES;
    bytes.writeBigUInt64LE(BigInt(at), from);
    bytes.writeUInt32LE(length, from + 8);
    bytes.writeUInt32LE(crc, from + 12);
    bytes.writeUInt32LE(crc32(bytes.subarray(from, from + SUM_AT)), from + SUM_AT);
  }
  return bytes;
}

/** The facts, and the length of their record; undefined when they are not whole. */
export function decodeFacts(bytes: Buffer): { readonly facts: ObjectFacts; readonly length: number } | undefined {
  if (bytes.length < HEAD_BYTES) return undefined;
  const text = bytes.subarray(HEAD_BYTES, HEAD_BYTES + bytes.readUInt32LE(0));
  if (crc32(text) !== bytes.readUInt32LE(4)) return undefined;
  return { facts: JSON.parse(text.toString()) as ObjectFacts, length: HEAD_BYTES + text.length };
}

/** The pieces of the records that are whole, and the bytes of all of them up to the first that is not. */
export function decodePieces(bytes: Buffer): { readonly pieces: readonly Piece[]; readonly length: number } {
  const pieces: Piece[] = [];
  let from = 0;
  for (; from + RECORD_BYTES <= bytes.length; from += RECORD_BYTES) {
    if (crc32(bytes.subarray(from, from + SUM_AT)) !== bytes.readUInt32LE(from + SUM_AT)) break;
    const at = Number(bytes.readBigUInt64LE(from));
    pieces.push({ at, length: bytes.readUInt32LE(from + 8), crc: bytes.readUInt32LE(from + 12) });
  }
  return { pieces, length: from };
}
