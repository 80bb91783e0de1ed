import { SkeinError } from '#shared/error.ts';
import { ArrowWriter, BATCH_BYTES, type ArrowForm, type ArrowMessage } from './arrow-out.ts';
import { duckdb, word, type Address, type ResultWords } from './library.ts';
import { readWords, writeBytes } from './memory.ts';
import { hasNull, VECTOR_ROWS } from './vector-memory.ts';

/** Memory of the open batches of all partitions; the more partitions, the smaller a batch. */
const OPEN_BATCHES_BYTES = 64 << 20;
const BATCH_BYTES_MIN = 64 << 10;

/** Bytes per value of the unsigned integers, by their `duckdb_type`. */
type NumberBytes = 1 | 2 | 4 | 8;
const UNSIGNED_BYTES: Readonly<Record<number, NumberBytes>> = { 6: 1, 7: 2, 8: 4, 9: 8 };

type Send = (partition: number, message: ArrowMessage) => void;

/**
 * Divides the rows of a result by its last column, an unsigned integer below `partitions`, and drops that column:
 *
 * ```
 * chunk --counting sort of the last column--> selection --copy--> a chunk per partition --full--> Arrow batch per partition
 * ```
 *
 * JavaScript touches only the partition numbers.
 */
export class PartitionWriter implements Disposable {
  /** Each is created with its first row. */
  readonly #partitions: (Partition | undefined)[];
  readonly #form: ArrowForm;
  readonly #types: BigUint64Array<ArrayBuffer>;
  readonly #numberColumn: number;
  readonly #numberBytes: NumberBytes;
  readonly #selection: Address;
  readonly #selectionData: Address;
  readonly #words = new BigUint64Array(VECTOR_ROWS);
  readonly #numbers = new Uint32Array(this.#words.buffer);
  readonly #order = new Uint32Array(VECTOR_ROWS);
  readonly #orderBytes = new Uint8Array(this.#order.buffer);
  /** After a sort: the end of each partition's rows in `#order`. */
  readonly #ends: Uint32Array<ArrayBuffer>;

  /** `form` belongs to `result` and must outlive the writer. @throws INTERNAL_ERROR when the last column is no unsigned integer. */
  constructor(result: ResultWords, form: ArrowForm, partitions: number) {
    this.#form = form;
    this.#numberColumn = form.fields.length - 1;
    this.#numberBytes = numberBytes(result, this.#numberColumn);
    this.#types = BigUint64Array.from({ length: this.#numberColumn }, (_, i) => duckdb.column_logical_type(result, i));
    this.#partitions = Array.from({ length: partitions }, () => undefined);
    this.#ends = new Uint32Array(partitions);
    this.#selection = duckdb.create_selection_vector(VECTOR_ROWS);
    this.#selectionData = duckdb.selection_vector_get_data_ptr(this.#selection);
  }

  /** Copies the rows of a chunk, which still belongs to the caller; full batches go to `send`. */
  append(chunk: Address, send: Send): void {
    const rows = Number(duckdb.data_chunk_get_size(chunk));
    this.#sort(duckdb.data_chunk_get_vector(chunk, this.#numberColumn), rows);
    writeBytes(this.#selectionData, this.#orderBytes.subarray(0, rows * 4));
    const sources = Array.from({ length: this.#numberColumn }, (_, i) => duckdb.data_chunk_get_vector(chunk, i));
    let start = 0;
    for (let number = 0; start < rows; number++) {
      const end = this.#ends[number] ?? rows;
      if (end === start) continue;
      const rowsOf = { sources, selection: this.#selection, start, end };
      this.#partition(number).append(rowsOf, (message) => send(number, message));
      start = end;
    }
  }

  /** Sends the incomplete batches. */
  flush(send: Send): void {
    this.#partitions.forEach((partition, number) => partition?.flush((message) => send(number, message)));
  }

  #partition(number: number): Partition {
    const found = this.#partitions[number];
    if (found !== undefined) return found;
    const batchBytes = Math.max(BATCH_BYTES_MIN, Math.min(BATCH_BYTES, OPEN_BATCHES_BYTES / this.#partitions.length));
    const fields = this.#form.fields.slice(0, -1);
    const made = new Partition(this.#types, new ArrowWriter(this.#form.options, fields, batchBytes));
    this.#partitions[number] = made;
    return made;
  }

  /** Sorts the row numbers into `#order`, partition by partition. */
  #sort(vector: Address, rows: number): void {
    if (hasNull(vector, rows)) throw new SkeinError('INTERNAL_ERROR', 'a row has no partition');
    const numbers = this.#readNumbers(duckdb.vector_get_data(vector), rows);
    const stride = this.#numberBytes === 8 ? 2 : 1;
    const ends = this.#ends.fill(0);
    const partitions = ends.length;
    let highWords = 0;
    for (let row = 0; row < rows; row++) {
      const number = numbers[row * stride] ?? 0;
      if (stride === 2) highWords |= numbers[row * 2 + 1] ?? 0;
      if (number >= partitions) highWords = 1;
      else ends[number] = (ends[number] ?? 0) + 1;
    }
    if (highWords !== 0) throw new SkeinError('INTERNAL_ERROR', 'a row has a partition that there is not');
    let start = 0;
    for (let number = 0; number < partitions; number++) {
      const count = ends[number] ?? 0;
      ends[number] = start;
      start += count;
    }
    const order = this.#order;
    for (let row = 0; row < rows; row++) {
      const number = numbers[row * stride] ?? 0;
      const place = ends[number] ?? 0;
      order[place] = row;
      ends[number] = place + 1;
    }
  }

  /** Reads the numbers as 32-bit words; 8-byte numbers become pairs, low word first. Valid until the next call. */
  #readNumbers(source: Address, rows: number): Uint32Array {
    // Reading past `rows` is safe, because a vector's memory always holds a whole chunk.
    readWords(this.#words, source, Math.ceil((rows * this.#numberBytes) / 8));
    const { buffer } = this.#words;
    if (this.#numberBytes === 1) return Uint32Array.from(new Uint8Array(buffer, 0, rows));
    if (this.#numberBytes === 2) return Uint32Array.from(new Uint16Array(buffer, 0, rows));
    return this.#numbers;
  }

  [Symbol.dispose](): void {
    for (const partition of this.#partitions) partition?.[Symbol.dispose]();
    for (const type of this.#types) duckdb.destroy_logical_type(word(type));
    duckdb.destroy_selection_vector(this.#selection);
  }
}

/** The rows `selection[start..end)` of a chunk whose vectors are `sources`. */
type SelectedRows = {
  readonly sources: readonly Address[];
  readonly selection: Address;
  readonly start: number;
  readonly end: number;
};

/** The rows of one partition: a chunk being filled, and the open batch that full chunks go to. */
class Partition implements Disposable {
  readonly #writer: ArrowWriter;
  readonly #columns: number;
  readonly #chunk: Address;
  #targets: Address[] = [];
  #fill = 0;

  constructor(types: BigUint64Array<ArrayBuffer>, writer: ArrowWriter) {
    this.#writer = writer;
    this.#columns = types.length;
    this.#chunk = duckdb.create_data_chunk(types, types.length);
    this.#takeVectors();
  }

  append({ sources, selection, start, end }: SelectedRows, send: (message: ArrowMessage) => void): void {
    let from = start;
    while (from < end) {
      const to = Math.min(end, from + VECTOR_ROWS - this.#fill);
      for (let i = 0; i < sources.length; i++) {
        duckdb.vector_copy_sel(sources[i] ?? 0n, this.#targets[i] ?? 0n, selection, to, from, this.#fill);
      }
      this.#fill += to - from;
      from = to;
      if (this.#fill === VECTOR_ROWS) this.#pass(send);
    }
  }

  flush(send: (message: ArrowMessage) => void): void {
    this.#pass(send);
    this.#writer.flush(send);
  }

  /** Appends the chunk to the batch. */
  #pass(send: (message: ArrowMessage) => void): void {
    if (this.#fill === 0) return;
    duckdb.data_chunk_set_size(this.#chunk, this.#fill);
    this.#writer.append(this.#chunk);
    duckdb.data_chunk_reset(this.#chunk);
    this.#takeVectors();
    this.#fill = 0;
    if (this.#writer.full) this.#writer.flush(send);
  }

  #takeVectors(): void {
    this.#targets = Array.from({ length: this.#columns }, (_, i) => duckdb.data_chunk_get_vector(this.#chunk, i));
  }

  [Symbol.dispose](): void {
    this.#writer[Symbol.dispose]();
    duckdb.destroy_data_chunk(word(this.#chunk));
  }
}

function numberBytes(result: ResultWords, column: number): NumberBytes {
  const type = word(duckdb.column_logical_type(result, column));
  const bytes = UNSIGNED_BYTES[duckdb.get_type_id(type[0] ?? 0n)];
  duckdb.destroy_logical_type(type);
  if (bytes === undefined || column < 1) {
    throw new SkeinError('INTERNAL_ERROR', 'a partitioned output needs columns, and an unsigned integer as the last');
  }
  return bytes;
}
