/**
 * Converts byte offsets in a text's UTF-8 form, which DuckDB uses, to UTF-16 offsets. Offsets must be asked in rising order: each search
 * continues from the one before.
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

  /** Returns the UTF-16 offset of a byte offset; the text's length for one beyond its end. */
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
