import { SkeinError } from '#shared/error.ts';
import type { ColumnStats } from '#shared/iceberg/may-match.ts';
import { must } from '#shared/must.ts';
import type { OpenInput, TableInput } from '../duckdb/arrow-in.ts';
import { duckdb, type Address } from '../duckdb/library.ts';
import type { CacheableScan } from '../scan/cacheable-scan.ts';
import type { CachedColumn, ColumnSlice } from './cached-column.ts';
import type { CachedShape } from './cached-shape.ts';
import { columnKey, type RowCache } from './row-cache.ts';

/** The columns of one row group that the scan reads, and the numbers of the slices of its rows that may match. */
type Group = { readonly columns: readonly CachedColumn[]; readonly slices: readonly number[] };

/** Vectors of equal rows, one of each column that a statement asks for. */
type RowSlice = { readonly vectors: readonly Address[]; readonly rows: number };

/**
 * Rows of a scan from the cache, as a table function that has all columns of the scan. It holds what it reads until it is disposed. A
 * statement that reads a column which the plan did not name fails, and `hasMissed` tells its owner to run it without the cache.
 */
export class CachedRows implements TableInput, Disposable {
  hasMissed = false;
  readonly #scan: CacheableScan;
  readonly #shape: CachedShape;
  readonly #groups: readonly Group[];

  private constructor(scan: CacheableScan, shape: CachedShape, groups: readonly Group[]) {
    this.#scan = scan;
    this.#shape = shape;
    this.#groups = groups;
    this.#shape.retain();
    for (const { columns } of this.#groups) for (const column of columns) column.retain();
  }

  /** Undefined when the cache lacks something. */
  static find(cache: RowCache, scan: CacheableScan): CachedRows | undefined {
    const shape = cache.shape(scan.shape);
    if (shape === undefined) return undefined;
    const texts = scan.reads.map((place) => scan.columns[place]?.sql ?? '');
    const groups: Group[] = [];
    for (const { key } of scan.groups) {
      const columns: CachedColumn[] = [];
      for (const sql of texts) {
        const column = cache.column(columnKey(key, sql));
        if (column === undefined) return undefined;
        columns.push(column);
      }
      groups.push({ columns, slices: slicesOf(scan, columns) });
    }
    return new CachedRows(scan, shape, groups);
  }

  bind(info: Address): void {
    this.#shape.declare(info);
    const rows = this.#groups.flatMap(({ columns, slices }) => slices.map((i) => rowsOf(columns, i)));
    const all = rows.reduce((sum, more) => sum + more, 0);
    duckdb.bind_set_cardinality(info, all, true);
  }

  open(columns: readonly number[]): OpenInput {
    const places = columns.map((column) => this.#scan.reads.indexOf(column));
    if (places.includes(-1)) {
      this.hasMissed = true;
      throw new SkeinError('INTERNAL_ERROR', 'the plan did not name a column that the statement reads');
    }
    return new SliceReader(this.#slices(places));
  }

  /** The rows that may match, with these of the columns that the scan reads. */
  #slices(places: readonly number[]): readonly RowSlice[] {
    return this.#groups.flatMap(({ columns, slices }) => {
      const asked = places.map((place) => must(columns[place], 'a column that the scan reads'));
      return slices.map((i) => ({
        vectors: asked.map((column) => sliceOf(column, i).vector),
        rows: rowsOf(columns, i),
      }));
    });
  }

  [Symbol.dispose](): void {
    for (const { columns } of this.#groups) for (const column of columns) column.release();
    this.#shape.release();
  }
}

class SliceReader implements OpenInput {
  readonly #slices: readonly RowSlice[];
  #next = 0;

  constructor(slices: readonly RowSlice[]) {
    this.#slices = slices;
  }

  read(output: Address): void {
    const slice = this.#slices[this.#next++];
    slice?.vectors.forEach((vector, i) => {
      duckdb.vector_reference_vector(duckdb.data_chunk_get_vector(output, i), vector);
    });
    duckdb.data_chunk_set_size(output, slice?.rows ?? 0);
  }
}

const sliceOf = ({ slices }: CachedColumn, slice: number): ColumnSlice => must(slices[slice], 'a slice of the column');

const rowsOf = ([first]: readonly CachedColumn[], slice: number): number =>
  sliceOf(must(first, 'a scan reads a column'), slice).rows;

/** The slices whose statistics allow a match. */
function slicesOf(scan: CacheableScan, columns: readonly CachedColumn[]): readonly number[] {
  const slices = [...(columns[0]?.slices.keys() ?? [])];
  return slices.filter((slice) =>
    scan.mayMatch((place): ColumnStats | undefined => columns[scan.reads.indexOf(place)]?.stats(slice)),
  );
}
