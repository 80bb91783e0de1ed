import { SkeinError } from '#shared/error.ts';
import type { ColumnStats } from '#shared/iceberg/may-match.ts';
import { must } from '#shared/must.ts';
import {
  ArrowInput,
  CHUNK_ROWS,
  type ArrowBatch,
  type OpenInput,
  type RowRange,
  type TableInput,
} from '../duckdb/arrow-in.ts';
import type { Connection } from '../duckdb/instance.ts';
import { duckdb, type Address } from '../duckdb/library.ts';
import type { CacheableScan } from '../scan/cacheable-scan.ts';
import type { CachedColumn } from './cached-column.ts';
import type { CachedShape } from './cached-shape.ts';
import { columnKey, type RowCache } from './row-cache.ts';

/** The columns of one row group that the scan reads, and those of its rows that may match. */
type Group = { readonly columns: readonly CachedColumn[]; readonly ranges: readonly RowRange[] };

/**
 * Rows of a scan from the cache, as a table function that has all columns of the scan. It holds what it reads until it is disposed. A
 * statement that reads a column which the plan did not name fails, and `hasMissed` tells its owner to run it without the cache.
 */
export class CachedRows implements TableInput, Disposable {
  hasMissed = false;
  #connection: Connection | undefined;
  readonly #scan: CacheableScan;
  readonly #shape: CachedShape;
  readonly #groups: readonly Group[];
  readonly #inputs: ArrowInput[] = [];

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
    for (const { key, rows } of scan.groups) {
      const columns: CachedColumn[] = [];
      for (const sql of texts) {
        const column = cache.column(columnKey(key, sql));
        if (column === undefined) return undefined;
        columns.push(column);
      }
      groups.push({ columns, ranges: rangesOf(scan, columns, rows) });
    }
    return new CachedRows(scan, shape, groups);
  }

  /** Names the connection whose statements read the rows, before the first does. */
  attach(connection: Connection): void {
    this.#connection = connection;
  }

  bind(info: Address): void {
    this.#shape.declare(info);
    const rows = this.#groups.reduce((sum, { ranges }) => ranges.reduce((all, r) => all + r.end - r.start, sum), 0);
    duckdb.bind_set_cardinality(info, rows, true);
  }

  open(columns: readonly number[]): OpenInput {
    const places = columns.map((column) => this.#scan.reads.indexOf(column));
    if (places.includes(-1)) {
      this.hasMissed = true;
      throw new SkeinError('INTERNAL_ERROR', 'the plan did not name a column that the statement reads');
    }
    const fields = columns.flatMap((column) => this.#shape.fields[column] ?? []);
    const batches = this.#groups.filter(({ ranges }) => ranges.length > 0).map((group) => batchOf(group, places));
    const connection = must(this.#connection, 'a statement that reads the rows has a connection');
    const input = new ArrowInput(connection, { fields, dictionaries: [], rows: 0, batches });
    this.#inputs.push(input);
    return { chunks: input.chunks(), columns: [...columns.keys()] };
  }

  [Symbol.dispose](): void {
    for (const input of this.#inputs) input[Symbol.dispose]();
    for (const { columns } of this.#groups) for (const column of columns) column.release();
    this.#shape.release();
  }
}

function batchOf({ columns, ranges }: Group, places: readonly number[]): ArrowBatch {
  const chosen = places.flatMap((place) => columns[place] ?? []);
  return {
    rows: columns[0]?.rows ?? 0,
    nodes: chosen.flatMap((column) => column.nodes),
    buffers: chosen.flatMap((column) => column.buffers),
    ranges,
  };
}

/** The slices whose statistics allow a match; neighbours are one range. */
function rangesOf(scan: CacheableScan, columns: readonly CachedColumn[], rows: number): readonly RowRange[] {
  const ranges: { start: number; end: number }[] = [];
  for (let start = 0; start < rows; start += CHUNK_ROWS) {
    const statsOf = (place: number): ColumnStats | undefined =>
      columns[scan.reads.indexOf(place)]?.stats(start / CHUNK_ROWS);
    if (!scan.mayMatch(statsOf)) continue;
    const end = Math.min(start + CHUNK_ROWS, rows);
    const last = ranges.at(-1);
    if (last?.end === start) last.end = end;
    else ranges.push({ start, end });
  }
  return ranges;
}
