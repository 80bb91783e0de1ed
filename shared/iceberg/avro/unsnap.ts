import { corrupt } from './avro-cursor.ts';

/**
 * Decompresses a block of Snappy's raw format (google/snappy, format_description.txt): the length, then literals and copies of earlier
 * output. Every length is checked against the bytes that exist; each element consumes at least one byte.
 * @param checkLength called with the length that the block claims, before that much memory is allocated
 * @throws INVALID_TABLE_DATA, and the errors of `checkLength`
 */
export function unsnap(packed: Uint8Array, checkLength: (length: number) => void): Buffer {
  const source = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const head = readHead(source);
  // An element of three bytes produces 64 at most.
  if (head.length > source.length * EXPANSION_MAX) throw corrupt('a block does not decompress');
  checkLength(head.length);
  const output = Buffer.alloc(head.length);
  let made = 0;
  for (let at = head.end; at < source.length;) {
    const tag = source[at] ?? 0;
    const isLiteral = (tag & 3) === 0;
    const element = isLiteral ? readLiteral(source, at) : readCopy(source, at, made);
    const { from, length, end } = element;
    if (end > source.length || length > output.length - made) throw corrupt('a block does not decompress');
    if (isLiteral) source.copy(output, made, from, from + length);
    else copyWithin(output, from, made, length);
    made += length;
    at = end;
  }
  if (made !== output.length) throw corrupt('a block does not decompress');
  return output;
}

const EXPANSION_MAX = 22;

/**
 * An element: where its bytes begin (in the input for a literal, in the output for a copy), how many there are, and where the next element
 * begins.
 */
type Element = { readonly from: number; readonly length: number; readonly end: number };

/** Reads the decompressed length, at most 32 bits, and the position behind it. */
function readHead(source: Buffer): { readonly length: number; readonly end: number } {
  let length = 0;
  for (let i = 0; i < 5; i++) {
    const byte = source[i];
    if (byte === undefined) break;
    length += (byte & 0x7f) * 128 ** i;
    if (byte < 0x80 && length < 2 ** 32) return { length, end: i + 1 };
  }
  throw corrupt('a block does not decompress');
}

function readLiteral(source: Buffer, at: number): Element {
  const short = (source[at] ?? 0) >> 2;
  if (short < 60) return { from: at + 1, length: short + 1, end: at + 2 + short };
  const lengthBytes = short - 59;
  const from = at + 1 + lengthBytes;
  if (from > source.length) throw corrupt('a block does not decompress');
  const length = source.readUIntLE(at + 1, lengthBytes) + 1;
  return { from, length, end: from + length };
}

function readCopy(source: Buffer, at: number, made: number): Element {
  const tag = source[at] ?? 0;
  const offsetBytes = (tag & 3) === 3 ? 4 : tag & 3;
  const end = at + 1 + offsetBytes;
  if (end > source.length) throw corrupt('a block does not decompress');
  const low = source.readUIntLE(at + 1, offsetBytes);
  const [offset, length] = offsetBytes === 1 ? [low + ((tag >> 5) << 8), ((tag >> 2) & 7) + 4] : [low, (tag >> 2) + 1];
  if (offset === 0 || offset > made) throw corrupt('a block does not decompress');
  return { from: made - offset, length, end };
}

/** Copies byte by byte where source and target overlap: the bytes just written are copied again. */
function copyWithin(output: Buffer, from: number, to: number, length: number): void {
  if (from + length <= to) output.copyWithin(to, from, from + length);
  else for (let i = 0; i < length; i++) output[to + i] = output[from + i] ?? 0;
}
