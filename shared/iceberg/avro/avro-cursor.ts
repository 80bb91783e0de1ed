import { SkeinError } from '#shared/error.ts';
import { Steps } from '../decode-limits.ts';

export const corrupt = (message: string): SkeinError => new SkeinError('INVALID_TABLE_DATA', `Avro: ${message}`);

const UNCOUNTED = new Steps(Infinity);

/** Reads Avro's binary encoding. Every read checks the end of the input, because the bytes are untrusted. @throws INVALID_TABLE_DATA */
export class AvroCursor {
  readonly bytes: Buffer;
  readonly end: number;
  /** A caller that reads several values in a loop must spend their steps here beforehand. */
  readonly steps: Steps;
  offset = 0;

  constructor(bytes: Uint8Array, steps = UNCOUNTED) {
    this.bytes = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.end = bytes.length;
    this.steps = steps;
  }

  readByte(): number {
    if (this.offset >= this.end) throw corrupt('the data ends too early');
    return this.bytes[this.offset++] ?? 0;
  }

  /** Reads an `int` or `long`: a number, or a bigint when a number cannot hold it exactly (as in `parseJson`). */
  readLong(): number | bigint {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.readByte();
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1);
    }
    let factor = 2 ** 28;
    for (let i = 4; i < 7; i++, factor *= 128) {
      const byte = this.readByte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
    return this.#readBigLong(BigInt(value));
  }

  #readBigLong(low: bigint): number | bigint {
    let value = low;
    for (let shift = 49n; shift <= 63n; shift += 7n) {
      const byte = this.readByte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) {
        const signed = BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
        const small = Number(signed);
        return Number.isSafeInteger(small) ? small : signed;
      }
    }
    throw corrupt('an integer is too long');
  }

  skipLong(): void {
    const { bytes, end } = this;
    let at = this.offset;
    while (at < end && (bytes[at] ?? 0) >= 0x80) at++;
    if (at >= end) throw corrupt('the data ends too early');
    this.offset = at + 1;
  }

  /** Reads a length or count: never negative, never more than the remaining bytes. */
  readLength(): number {
    const length = this.readLong();
    if (typeof length === 'bigint' || length < 0 || length > this.end - this.offset) throw corrupt('a length is wrong');
    return length;
  }

  readBytes(length: number): Buffer {
    const start = this.offset;
    this.skip(length);
    return this.bytes.subarray(start, this.offset);
  }

  readString(length: number): string {
    const start = this.offset;
    this.skip(length);
    return this.bytes.toString('utf8', start, this.offset);
  }

  readFloat(): number {
    this.skip(4);
    return this.bytes.readFloatLE(this.offset - 4);
  }

  readDouble(): number {
    this.skip(8);
    return this.bytes.readDoubleLE(this.offset - 8);
  }

  skip(length: number): void {
    if (length > this.end - this.offset) throw corrupt('the data ends too early');
    this.offset += length;
  }

  /** Reads the item count of the next block of an array or map, 0 at its end; skips the byte size that may follow. */
  readBlockCount(): number {
    const count = this.readLong();
    if (typeof count === 'bigint') throw corrupt('a count is wrong');
    if (count < 0) this.readLong();
    if (Math.abs(count) > this.end - this.offset) throw corrupt('a count is wrong');
    return Math.abs(count);
  }
}
