import { isUtf8 } from 'node:buffer';
import { binaryElements, binaryText } from '../postgres/binary-text.ts';
import { readArray, readBoolean, readBytes, readInteger, readMoment } from '../postgres/read-text.ts';
import { BadValue, type ScalarKind } from '../postgres/value-kind.ts';
import { RowError, type ColumnValues, type CopiedColumn } from './row-format.ts';

const FIRST_BYTES = 4_096;
const FIRST_VALUES = 256;

/** Texts or bytes one behind the other, and where each begins. */
class Values {
  #data = Buffer.allocUnsafe(FIRST_BYTES);
  #offsets = new Int32Array(FIRST_VALUES);
  #validity = new Uint8Array(FIRST_VALUES / 8);
  #bytes = 0;
  count = 0;
  nullCount = 0;

  add(value: Buffer | null): void {
    if (value === null) {
      this.#next(false);
      return;
    }
    const needed = this.#bytes + value.length;
    if (needed > this.#data.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#data.length * 2));
      this.#data.copy(larger, 0, 0, this.#bytes);
      this.#data = larger;
    }
    value.copy(this.#data, this.#bytes);
    this.#bytes = needed;
    this.#next(true);
  }

  value(i: number): Buffer {
    return this.#data.subarray(this.#offsets[i], this.#offsets[i + 1]);
  }

  /** Whether a value begins with a byte that goes on with a character: behind the value before it, it would look whole. */
  get splitsCharacters(): boolean {
    for (let i = 0; i < this.count; i += 1) {
      const at = this.#offsets[i] ?? 0;
      if (at < (this.#offsets[i + 1] ?? 0) && ((this.#data[at] ?? 0) & 0xc0) === 0x80) return true;
    }
    return false;
  }

  get data(): Buffer {
    return this.#data.subarray(0, this.#bytes);
  }

  /** Copies, each in memory of its own, so that they can be moved to another thread. */
  get made(): Pick<ColumnValues, 'validity' | 'nullCount' | 'offsets' | 'data'> {
    return {
      validity: this.#validity.slice(0, (this.count + 7) >> 3),
      nullCount: this.nullCount,
      offsets: this.#offsets.slice(0, this.count + 1),
      data: new Uint8Array(this.data),
    };
  }

  #next(isPresent: boolean): void {
    const { count } = this;
    if (count + 1 >= this.#offsets.length) {
      const offsets = new Int32Array(this.#offsets.length * 2);
      offsets.set(this.#offsets);
      const validity = new Uint8Array(this.#validity.length * 2);
      validity.set(this.#validity);
      [this.#offsets, this.#validity] = [offsets, validity];
    }
    if (isPresent) this.#validity[count >> 3] = (this.#validity[count >> 3] ?? 0) | (1 << (count & 7));
    else this.nullCount += 1;
    this.count = count + 1;
    this.#offsets[this.count] = this.#bytes;
  }
}

/** The values of a column that is copied in. Numbers, times and the like stay texts, which the engine casts. */
export class ColumnBuilder {
  readonly #column: CopiedColumn;
  readonly #type: 'text' | 'bytes';
  readonly #values = new Values();
  /** Where each list begins; its bytes stay empty. */
  readonly #listEnds: number[] = [0];
  readonly #listNulls: number[] = [];

  constructor(column: CopiedColumn) {
    this.#column = column;
    this.#type = (column.element ?? column.kind) === 'bytea' ? 'bytes' : 'text';
  }

  /** @throws RowError for a value that is none of the column's type */
  add(value: Buffer | null, isBinary: boolean): void {
    const { kind, element, name } = this.#column;
    try {
      if (element === null) {
        this.#values.add(value === null || kind === 'array' ? value : formed(value, kind, isBinary));
        return;
      }
      if (value !== null && !isBinary && !isUtf8(value))
        throw new BadValue('invalid byte sequence for encoding "UTF8"', '22021');
      const elements = value === null ? [] : isBinary ? binaryElements(value) : readArray(value.toString());
      for (const one of elements) this.#values.add(one === null ? null : formed(Buffer.from(one), element, isBinary));
      if (value === null) this.#listNulls.push(this.#listEnds.length - 1);
      this.#listEnds.push(this.#values.count);
    } catch (error) {
      if (!(error instanceof BadValue)) throw error;
      const { sqlState, message } = error;
      throw new RowError(message, {
        sqlState,
        column: name,
        text: isBinary || value === null ? null : value.toString(),
      });
    }
  }

  /** The first row whose text is not UTF-8, or has a NUL; undefined = none. */
  firstUnreadable(): number | undefined {
    const { data, count } = this.#values;
    const isReadable = isUtf8(data) && !data.includes(0) && !this.#values.splitsCharacters;
    if (this.#type === 'bytes' || isReadable) return undefined;
    for (let i = 0; i < count; i += 1) {
      const value = this.#values.value(i);
      if (isUtf8(value) && !value.includes(0)) continue;
      return this.#column.element === null ? i : this.#listEnds.findLastIndex((end) => end <= i);
    }
    return undefined;
  }

  get made(): ColumnValues {
    const values = { type: this.#type, ...this.#values.made };
    if (this.#column.element === null) return { ...values, lists: null };
    const rows = this.#listEnds.length - 1;
    const validity = new Uint8Array((rows + 7) >> 3).fill(0xff);
    for (const row of this.#listNulls) validity[row >> 3] = (validity[row >> 3] ?? 0) & ~(1 << (row & 7));
    return {
      ...values,
      lists: { validity, nullCount: this.#listNulls.length, offsets: Int32Array.from(this.#listEnds) },
    };
  }
}

const INTEGERS: Partial<Readonly<Record<ScalarKind, string>>> = { int2: 'smallint', int4: 'integer', int8: 'bigint' };
const DIGITS = /^\d+$/;

/** A value as the engine casts it to its type. @throws BadValue */
function formed(value: Buffer, kind: ScalarKind, isBinary: boolean): Buffer {
  if (kind === 'text' || (isBinary && kind === 'bytea')) return value;
  if (isBinary) return Buffer.from(binaryText(kind, value));
  const integer = INTEGERS[kind];
  if (integer !== undefined) {
    const text = value.toString('latin1');
    return DIGITS.test(text) ? value : Buffer.from(readInteger(text, integer));
  }
  if (kind === 'bool') return Buffer.from(String(readBoolean(value.toString())));
  if (kind === 'bytea') return readBytes(value.toString());
  if (kind === 'date' || kind === 'timestamp' || kind === 'timestamptz') {
    return endsWithC(value) ? Buffer.from(readMoment(value.toString())) : value;
  }
  return value;
}

const [SMALL_C, LARGE_C, SPACE] = [0x63, 0x43, 0x20];
/** Whether the era before Christ may stand at the end. */
function endsWithC(value: Buffer): boolean {
  const last = value.at(-1);
  return last === SMALL_C || last === LARGE_C || last === SPACE;
}
