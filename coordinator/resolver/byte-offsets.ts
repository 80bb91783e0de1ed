/**
 * Byte offsets of the UTF-8 form of a text, which is what DuckDB counts, as UTF-16 offsets. Ask in rising order: each answer goes on
 * from the one before.
 */
export class ByteOffsets {
  readonly #length: number;
  /** Null for ASCII, where both are the same. */
  readonly #bytes: Buffer | null;
  #byte = 0;
  #character = 0;

  constructor(text: string) {
    this.#length = text.length;
    this.#bytes = Buffer.byteLength(text) === text.length ? null : Buffer.from(text);
  }

  /** The text's length beyond its end. */
  toCharacter(byte: number): number {
    if (this.#bytes === null) return Math.min(byte, this.#length);
    if (byte < this.#byte) {
      this.#byte = 0;
      this.#character = 0;
    }
    this.#character += this.#bytes.toString('utf8', this.#byte, byte).length;
    this.#byte = byte;
    return this.#character;
  }
}
