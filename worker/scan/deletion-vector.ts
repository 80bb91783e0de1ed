import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { ScanDelete } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import { localPath } from '#shared/storage/location.ts';
import { baseName } from './plan-file.ts';

/** Positions of one vector that are held in memory. */
const POSITIONS_MAX = 100_000_000;
const MAGIC = 0x64_39_d3_d1;
/** A 32-bit Roaring bitmap without, and with run containers (RoaringFormatSpec). */
const COOKIE = 12_346;
const COOKIE_WITH_RUNS = 12_347;
/** From so many containers on, and always without runs, the bitmap has a table of offsets. */
const OFFSETS_FROM = 4;
const BITMAP_BYTES = 8_192;
const ARRAY_MAX = 4_096;

/**
 * The positions, in order, that a deletion vector of a Puffin file deletes (Iceberg Puffin spec, blob type `deletion-vector-v1`: length,
 * magic, a 64-bit Roaring bitmap, CRC-32).
 * @throws INVALID_TABLE_DATA when anything of it is wrong, STORAGE_ERROR when it cannot be read.
 */
export async function readDeletionVector(vector: Extract<ScanDelete, { kind: 'vector' }>): Promise<BigInt64Array> {
  const positions = decodeDeletionVector(await readBlob(vector), vector.cardinality);
  if (positions === undefined) {
    throw new SkeinError('INVALID_TABLE_DATA', `the deletion vector in ${baseName(vector.path)} is corrupt`);
  }
  return positions;
}

async function readBlob({ path, offset, lengthBytes }: Extract<ScanDelete, { kind: 'vector' }>): Promise<Buffer> {
  try {
    await using file = await open(localPath(path), 'r');
    const { size } = await file.stat();
    if (offset + lengthBytes > size) return Buffer.alloc(0);
    const blob = Buffer.alloc(lengthBytes);
    const { bytesRead } = await file.read(blob, 0, lengthBytes, offset);
    return blob.subarray(0, bytesRead);
  } catch (error) {
    throw new SkeinError('STORAGE_ERROR', `cannot read the delete file ${baseName(path)}`, { cause: error });
  }
}

/** Undefined when the blob is not whole, or does not hold `cardinality` positions. */
export function decodeDeletionVector(blob: Buffer, cardinality: number): BigInt64Array | undefined {
  if (cardinality > POSITIONS_MAX || blob.length < 20) return undefined;
  const length = blob.readUInt32BE(0);
  if (length + 8 !== blob.length || blob.readUInt32LE(4) !== MAGIC) return undefined;
  if (blob.readUInt32BE(4 + length) !== crc32(blob.subarray(4, 4 + length))) return undefined;
  const reader = new Reader(blob.subarray(8, 4 + length));
  const positions = new BigInt64Array(cardinality);
  try {
    const count = readBitmaps(reader, positions);
    return count === cardinality && reader.atEnd ? positions : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The 64-bit form: a count, then for each value of the upper 32 bits a 32-bit bitmap. Returns how many positions there are. */
function readBitmaps(reader: Reader, positions: BigInt64Array): number {
  let count = 0;
  const emit = (position: bigint): void => {
    if (count < positions.length) positions[count] = position;
    count++;
    if (count > positions.length) throw new RangeError('more positions than there should be');
  };
  const bitmaps = reader.uint32();
  if (reader.uint32() !== 0) throw new RangeError('too many bitmaps');
  for (let i = 0; i < bitmaps; i++) {
    const base = BigInt(reader.uint32()) << 32n;
    readBitmap(reader, (low) => emit(base + BigInt(low)));
  }
  return count;
}

function readBitmap(reader: Reader, emit: (value: number) => void): void {
  const cookie = reader.uint32();
  const hasRuns = (cookie & 0xffff) === COOKIE_WITH_RUNS;
  if (!hasRuns && cookie !== COOKIE) throw new RangeError('not a Roaring bitmap');
  const containers = hasRuns ? (cookie >>> 16) + 1 : reader.uint32();
  if (containers > 65_536) throw new RangeError('too many containers');
  const runFlags = hasRuns ? reader.bytes((containers + 7) >> 3) : undefined;
  const headers = Array.from({ length: containers }, () => ({
    key: reader.uint16(),
    cardinality: reader.uint16() + 1,
  }));
  if (!hasRuns || containers >= OFFSETS_FROM) reader.bytes(containers * 4);
  headers.forEach(({ key, cardinality }, i) => {
    const base = key * 65_536;
    const isRun = ((runFlags?.[i >> 3] ?? 0) >> (i & 7)) & 1;
    if (isRun === 1) readRuns(reader, base, emit);
    else if (cardinality <= ARRAY_MAX) for (let n = 0; n < cardinality; n++) emit(base + reader.uint16());
    else readBits(reader, base, emit);
  });
}

function readRuns(reader: Reader, base: number, emit: (value: number) => void): void {
  for (let runs = reader.uint16(); runs > 0; runs--) {
    const start = reader.uint16();
    const length = reader.uint16();
    for (let n = 0; n <= length; n++) emit(base + start + n);
  }
}

function readBits(reader: Reader, base: number, emit: (value: number) => void): void {
  const bits = reader.bytes(BITMAP_BYTES);
  for (let i = 0; i < BITMAP_BYTES; i++) {
    for (let byte = bits[i] ?? 0; byte !== 0; byte &= byte - 1) emit(base + i * 8 + (31 - Math.clz32(byte & -byte)));
  }
}

/** Little-endian numbers one after the other; past the end it throws a RangeError, as Buffer does. */
class Reader {
  readonly #bytes: Buffer;
  #position = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get atEnd(): boolean {
    return this.#position === this.#bytes.length;
  }

  uint16(): number {
    const value = this.#bytes.readUInt16LE(this.#position);
    this.#position += 2;
    return value;
  }

  uint32(): number {
    const value = this.#bytes.readUInt32LE(this.#position);
    this.#position += 4;
    return value;
  }

  bytes(count: number): Buffer {
    if (this.#position + count > this.#bytes.length) throw new RangeError('the bitmap is cut short');
    this.#position += count;
    return this.#bytes.subarray(this.#position - count, this.#position);
  }
}
