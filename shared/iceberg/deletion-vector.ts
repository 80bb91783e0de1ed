import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';

const MAGIC = 0x64_39_d3_d1;
/** A 32-bit Roaring bitmap without, and with run containers (RoaringFormatSpec). */
const COOKIE = 12_346;
const COOKIE_WITH_RUNS = 12_347;
/** Number of containers from which a bitmap with runs has a table of offsets; one without runs always has it. */
const OFFSETS_FROM = 4;
const CONTAINERS_MAX = 65_536;
const CONTAINER_SIZE = 65_536;
const BITMAP_BYTES = 8_192;
const ARRAY_MAX = 4_096;
/** Units of work between two turns of the event loop: a position counts 1, a container `CONTAINER_WORK`. */
const WORK_PER_TURN = 1_000_000;
const CONTAINER_WORK = 50;

/**
 * Decodes the positions, in order, of a deletion vector of a Puffin file (Iceberg Puffin spec, blob type `deletion-vector-v1`: length, magic,
 * a 64-bit Roaring bitmap, CRC-32). Undefined when the blob is not whole, or does not hold `cardinality` positions.
 */
export async function decodeDeletionVector(blob: Buffer, cardinality: number): Promise<BigInt64Array | undefined> {
  if (blob.length < 20) return undefined;
  const length = blob.readUInt32BE(0);
  if (length + 8 !== blob.length || blob.readUInt32LE(4) !== MAGIC) return undefined;
  if (blob.readUInt32BE(4 + length) !== crc32(blob.subarray(4, 4 + length))) return undefined;
  const reader = new Reader(blob.subarray(8, 4 + length));
  const writer = new PositionWriter(cardinality);
  try {
    let work = 0;
    for (const done of readBitmaps(reader, writer)) {
      work += done;
      if (work < WORK_PER_TURN) continue;
      work = 0;
      await setImmediate();
    }
    return reader.atEnd ? writer.finish() : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Fills an array of positions by writing 32-bit halves: a `bigint` per position would cost ten times as much. */
class PositionWriter {
  readonly #positions: BigInt64Array;
  readonly #halves: Uint32Array;
  #count = 0;
  /** The upper 32 bits of the positions that follow. */
  high = 0;

  constructor(cardinality: number) {
    this.#positions = new BigInt64Array(cardinality);
    this.#halves = new Uint32Array(this.#positions.buffer);
  }

  get count(): number {
    return this.#count;
  }

  /** Checks that `count` more positions fit; called before they are written. */
  expect(count: number): void {
    if (this.#count + count > this.#positions.length) throw new RangeError('more positions than there should be');
  }

  write(low: number): void {
    const at = 2 * this.#count++;
    this.#halves[at] = low;
    this.#halves[at + 1] = this.high;
  }

  finish(): BigInt64Array | undefined {
    return this.#count === this.#positions.length ? this.#positions : undefined;
  }
}

/** Reads the 64-bit form: a count, then a 32-bit bitmap for each value of the upper 32 bits. Yields the work of each step. */
function* readBitmaps(reader: Reader, writer: PositionWriter): Generator<number, void> {
  const bitmaps = reader.uint32();
  if (reader.uint32() !== 0) throw new RangeError('too many bitmaps');
  for (let i = 0; i < bitmaps; i++) {
    writer.high = reader.uint32();
    yield CONTAINER_WORK;
    yield* readBitmap(reader, writer);
  }
}

function* readBitmap(reader: Reader, writer: PositionWriter): Generator<number, void> {
  const cookie = reader.uint32();
  const hasRuns = (cookie & 0xffff) === COOKIE_WITH_RUNS;
  if (!hasRuns && cookie !== COOKIE) throw new RangeError('not a Roaring bitmap');
  const containers = hasRuns ? (cookie >>> 16) + 1 : reader.uint32();
  if (containers > CONTAINERS_MAX) throw new RangeError('too many containers');
  const runFlags = hasRuns ? reader.bytes((containers + 7) >> 3) : undefined;
  const headers = reader.bytes(containers * 4);
  if (!hasRuns || containers >= OFFSETS_FROM) reader.bytes(containers * 4);
  for (let i = 0; i < containers; i++) {
    const before = writer.count;
    const base = headers.readUInt16LE(i * 4) * CONTAINER_SIZE;
    const cardinality = headers.readUInt16LE(i * 4 + 2) + 1;
    const isRun = ((runFlags?.[i >> 3] ?? 0) >> (i & 7)) & 1;
    if (isRun === 1) readRuns(reader, base, writer);
    else if (cardinality <= ARRAY_MAX) readArray(reader, base, cardinality, writer);
    else readBits(reader, base, writer);
    yield CONTAINER_WORK + writer.count - before;
  }
}

function readArray(reader: Reader, base: number, cardinality: number, writer: PositionWriter): void {
  writer.expect(cardinality);
  for (let n = 0; n < cardinality; n++) writer.write(base + reader.uint16());
}

function readRuns(reader: Reader, base: number, writer: PositionWriter): void {
  let next = 0;
  for (let runs = reader.uint16(); runs > 0; runs--) {
    const start = reader.uint16();
    const length = reader.uint16();
    if (start < next) throw new RangeError('runs overlap');
    if (start + length >= CONTAINER_SIZE) throw new RangeError('a run leaves its container');
    next = start + length + 1;
    writer.expect(length + 1);
    for (let n = 0; n <= length; n++) writer.write(base + start + n);
  }
}

function readBits(reader: Reader, base: number, writer: PositionWriter): void {
  const bits = reader.bytes(BITMAP_BYTES);
  for (let i = 0; i < BITMAP_BYTES; i++) {
    for (let rest = bits[i] ?? 0; rest !== 0; rest &= rest - 1) {
      writer.expect(1);
      writer.write(base + i * 8 + (31 - Math.clz32(rest & -rest)));
    }
  }
}

/** Reads little-endian numbers in sequence; past the end it throws a RangeError, as Buffer does. */
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
