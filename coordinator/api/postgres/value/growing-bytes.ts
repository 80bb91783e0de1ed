const FIRST_BYTES = 4_096;

/** Bytes that are written one behind the other, in memory that grows. */
export class GrowingBytes {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get written(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  byte(value: number): void {
    const at = this.#take(1);
    this.#bytes[at] = value;
  }

  int16(value: number): void {
    const at = this.#take(2);
    this.#bytes.writeInt16BE(value, at);
  }

  int32(value: number): void {
    const at = this.#take(4);
    this.#bytes.writeInt32BE(value, at);
  }

  int64(value: bigint): void {
    const at = this.#take(8);
    this.#bytes.writeBigInt64BE(value, at);
  }

  /** A text of ASCII. */
  ascii(text: string): void {
    const at = this.#take(text.length);
    this.#bytes.write(text, at, 'latin1');
  }

  copy(from: Buffer, begin: number, end: number): void {
    const at = this.#take(end - begin);
    from.copy(this.#bytes, at, begin, end);
  }

  #take(count: number): number {
    const at = this.#length;
    const needed = at + count;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
      this.#bytes.copy(larger, 0, 0, at);
      this.#bytes = larger;
    }
    this.#length = needed;
    return at;
  }
}
