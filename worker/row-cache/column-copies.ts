import { SkeinError } from '#shared/error.ts';
import { duckdb, word, type Address, type ResultWords } from '../duckdb/library.ts';
import { writeBytes } from '../duckdb/memory.ts';
import { vectorBytes, VECTOR_ROWS } from '../duckdb/vector-memory.ts';
import { CachedColumn, type ColumnSlice } from './cached-column.ts';

/** The capacity of a vector is a multiple of this, as the masks of NULLs are made of words. */
const CAPACITY_STEP = 64;

/** Copies the columns of row groups, one after the other, out of the chunks of a result. */
export class ColumnCopies implements Disposable {
  readonly #types: BigUint64Array<ArrayBuffer>;
  readonly #selection: Address;
  #columns: ColumnCopy[] = [];
  /** Rows of the present row group that are still to come. */
  #left = 0;

  constructor(result: ResultWords, columns: number) {
    this.#types = BigUint64Array.from({ length: columns }, (_, i) => duckdb.column_logical_type(result, i));
    this.#selection = duckdb.create_selection_vector(VECTOR_ROWS);
    const everyRow = Uint32Array.from({ length: VECTOR_ROWS }, (_, row) => row);
    writeBytes(duckdb.selection_vector_get_data_ptr(this.#selection), new Uint8Array(everyRow.buffer));
  }

  /** Begins with a row group. */
  begin(rows: number): void {
    this.#drop();
    this.#left = rows;
    this.#columns = Array.from(this.#types, (type) => new ColumnCopy(type, rows));
  }

  get left(): number {
    return this.#left;
  }

  /** Memory of the largest column. */
  get bytesMax(): number {
    return this.#columns.reduce((most, { bytes }) => Math.max(most, bytes), 0);
  }

  /** Copies a chunk of rows of the present row group. @throws MEMORY_EXHAUSTED */
  append(chunk: Address, rows: number): void {
    this.#columns.forEach((column, i) => {
      column.append(duckdb.data_chunk_get_vector(chunk, i), this.#selection, rows);
    });
    this.#left -= rows;
  }

  /** The columns of the row group, which belong to the caller. */
  take(): readonly CachedColumn[] {
    const columns = this.#columns.map((column) => column.take());
    this.#columns = [];
    return columns;
  }

  #drop(): void {
    for (const column of this.#columns) column.take().release();
    this.#columns = [];
  }

  [Symbol.dispose](): void {
    this.#drop();
    for (const type of this.#types) duckdb.destroy_logical_type(word(type));
    duckdb.destroy_selection_vector(this.#selection);
  }
}

/** One column of one row group. */
class ColumnCopy {
  readonly #type: Address;
  /** Rows for which there is no vector yet. */
  #left: number;
  #slices: { readonly vector: Address; readonly capacity: number; rows: number }[] = [];
  /** Of the vectors that are full. */
  #fullBytes = 0;

  constructor(type: Address, rows: number) {
    this.#type = type;
    this.#left = rows;
  }

  get bytes(): number {
    const last = this.#slices.at(-1);
    const isFull = last === undefined || last.rows === last.capacity;
    return this.#fullBytes + (isFull ? 0 : vectorBytes(last.vector, last.rows, last.capacity));
  }

  append(source: Address, selection: Address, rows: number): void {
    for (let from = 0; from < rows;) {
      const slice = this.#slice();
      const to = Math.min(rows, from + slice.capacity - slice.rows);
      duckdb.vector_copy_sel(source, slice.vector, selection, to, from, slice.rows);
      slice.rows += to - from;
      from = to;
      if (slice.rows === slice.capacity) this.#fullBytes += vectorBytes(slice.vector, slice.rows, slice.capacity);
    }
  }

  /** The vector that has room. */
  #slice(): { readonly vector: Address; readonly capacity: number; rows: number } {
    const last = this.#slices.at(-1);
    if (last !== undefined && last.rows < last.capacity) return last;
    const rows = Math.min(VECTOR_ROWS, this.#left);
    const capacity = Math.ceil(rows / CAPACITY_STEP) * CAPACITY_STEP;
    const vector = duckdb.create_vector(this.#type, capacity) as Address | null;
    if (vector === null || vector === 0n) throw new SkeinError('MEMORY_EXHAUSTED', 'the worker has no memory for rows');
    this.#left -= rows;
    const slice = { vector, capacity, rows: 0 };
    this.#slices.push(slice);
    return slice;
  }

  take(): CachedColumn {
    const { bytes } = this;
    const slices: readonly ColumnSlice[] = this.#slices.map(({ vector, rows }) => ({ vector, rows }));
    this.#slices = [];
    return new CachedColumn(slices, bytes);
  }
}
