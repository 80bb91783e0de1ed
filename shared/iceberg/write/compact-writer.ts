/** Types of Thrift's compact protocol. */
const INT32 = 5;
const INT64 = 6;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;
/** A list of more elements than this says its length behind its header. */
const SHORT_LIST_MAX = 14;

type Fields = (writer: CompactWriter) => CompactWriter;

/** Writes a struct in Thrift's compact protocol, as Parquet files have them. Fields come in the order of their ids. */
export class CompactWriter {
  readonly #bytes: number[] = [];
  /** Id of the last field of each open struct. */
  readonly #last: number[] = [];

  /** Writes a struct that no field holds. */
  struct(fields: Fields): this {
    this.#last.push(0);
    fields(this);
    this.#last.pop();
    this.#bytes.push(0);
    return this;
  }

  int32(id: number, value: number): this {
    this.#field(id, INT32);
    this.#integer(value);
    return this;
  }

  /** @param value a safe integer */
  int64(id: number, value: number): this {
    this.#field(id, INT64);
    this.#integer(value);
    return this;
  }

  bytes(id: number, value: Uint8Array): this {
    this.#field(id, BINARY);
    this.#binary(value);
    return this;
  }

  text(id: number, value: string): this {
    return this.bytes(id, Buffer.from(value));
  }

  inner(id: number, fields: Fields): this {
    this.#field(id, STRUCT);
    return this.struct(fields);
  }

  int32s(id: number, values: readonly number[]): this {
    this.#list(id, INT32, values.length);
    for (const value of values) this.#integer(value);
    return this;
  }

  texts(id: number, values: readonly string[]): this {
    this.#list(id, BINARY, values.length);
    for (const value of values) this.#binary(Buffer.from(value));
    return this;
  }

  structs(id: number, structs: readonly Fields[]): this {
    this.#list(id, STRUCT, structs.length);
    for (const fields of structs) this.struct(fields);
    return this;
  }

  end(): Buffer {
    return Buffer.from(this.#bytes);
  }

  #field(id: number, type: number): void {
    const before = this.#last.pop() ?? 0;
    this.#last.push(id);
    this.#bytes.push(((id - before) << 4) | type);
  }

  #list(id: number, type: number, length: number): void {
    this.#field(id, LIST);
    if (length <= SHORT_LIST_MAX) this.#bytes.push((length << 4) | type);
    else {
      this.#bytes.push(0xf0 | type);
      this.#unsigned(length);
    }
  }

  #binary(value: Uint8Array): void {
    this.#unsigned(value.length);
    for (const byte of value) this.#bytes.push(byte);
  }

  /** Zigzag. */
  #integer(value: number): void {
    this.#unsigned(value < 0 ? -2 * value - 1 : 2 * value);
  }

  #unsigned(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#bytes.push((rest % 128) | 128);
    this.#bytes.push(rest);
  }
}
