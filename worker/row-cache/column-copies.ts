import { SkeinError } from '#shared/error.ts';
import { duckdb, word, type Address, type ResultWords } from '../duckdb/library.ts';
import { writeBytes } from '../duckdb/memory.ts';
import { vectorBytes, VECTOR_ROWS } from '../duckdb/vector-memory.ts';
import { CachedColumn, type ColumnSlice } from './cached-column.ts';

/**
 * Copies the columns of row groups, one after the other, out of the chunks that a statement streams: their vectors are flat. DuckDB cannot
 * report that it has no memory for a copy, so each is measured before it is made.
 */
export class ColumnCopies implements Disposable {
  readonly #types: BigUint64Array<ArrayBuffer>;
  readonly #selection: Address;
  readonly #bytesMax: number;
  #columns: ColumnCopy[] = [];
  /** Rows of the present row group that are still to come. */
  #left = 0;

  /** @param bytesMax memory of a column of a row group */
  constructor(result: ResultWords, columns: number, bytesMax: number) {
    this.#types = BigUint64Array.from({ length: columns }, (_, i) => duckdb.column_logical_type(result, i));
    this.#selection = duckdb.create_selection_vector(VECTOR_ROWS);
    const everyRow = Uint32Array.from({ length: VECTOR_ROWS }, (_, row) => row);
    writeBytes(duckdb.selection_vector_get_data_ptr(this.#selection), new Uint8Array(everyRow.buffer));
    this.#bytesMax = bytesMax;
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

  /**
   * Copies a chunk of rows of the present row group; false when a column would be too large.
   * @throws MEMORY_EXHAUSTED when there is none for a new vector
   */
  append(chunk: Address, rows: number): boolean {
    const pairs = this.#columns.map((column, i) => ({ column, source: duckdb.data_chunk_get_vector(chunk, i) }));
    const isSmall = pairs.every(
      ({ column, source }) => column.bytes + vectorBytes(source, rows, rows) <= this.#bytesMax,
    );
    if (!isSmall) return false;
    for (const { column, source } of pairs) column.append(source, this.#selection, rows);
    this.#left -= rows;
    return true;
  }

  /** The columns of the row group, which belong to the caller. */
  take(): readonly CachedColumn[] {
    return this.#columns.splice(0).map((column) => column.take());
  }

  #drop(): void {
    for (const column of this.#columns.splice(0)) column[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#drop();
    for (const type of this.#types) duckdb.destroy_logical_type(word(type));
    duckdb.destroy_selection_vector(this.#selection);
  }
}

type Growing = { readonly vector: Address; readonly capacity: number; rows: number };

/** One column of one row group. */
class ColumnCopy implements Disposable {
  readonly #type: Address;
  /** Rows for which there is no vector yet. */
  #left: number;
  #slices: Growing[] = [];
  /** Memory of the vectors that are full. */
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
  #slice(): Growing {
    const last = this.#slices.at(-1);
    if (last !== undefined && last.rows < last.capacity) return last;
    const capacity = Math.min(VECTOR_ROWS, this.#left);
    const vector = duckdb.create_vector(this.#type, capacity);
    if (vector === null || vector === 0n) throw new SkeinError('MEMORY_EXHAUSTED', 'the worker has no memory for rows');
    const slice = { vector, capacity, rows: 0 };
    this.#left -= capacity;
    this.#slices.push(slice);
    return slice;
  }

  take(): CachedColumn {
    const { bytes } = this;
    const slices: readonly ColumnSlice[] = this.#slices.splice(0);
    return new CachedColumn(slices, bytes);
  }

  [Symbol.dispose](): void {
    for (const { vector } of this.#slices.splice(0)) duckdb.destroy_vector(word(vector));
  }
}
