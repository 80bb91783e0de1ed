import { quoteIdentifier } from '#shared/sql/quote.ts';
import { readParquet } from '#shared/sql/read-parquet.ts';
import { check, type ArrowForm } from '../duckdb/arrow-out.ts';
import type { ArrowField } from '../duckdb/arrow-schema.ts';
import { ARRAY_WORDS, ColumnBuilder, type BatchParts } from '../duckdb/column-builder.ts';
import { interruptConnection, type Connection, type Instance } from '../duckdb/instance.ts';
import { duckdb, type Address } from '../duckdb/library.ts';
import { addressOf, callRelease, readWords } from '../duckdb/memory.ts';
import { destroyChunk, LATE_FALSE, PreparedStatement, Statement } from '../duckdb/statement.ts';
import type { CacheableGroup, CacheableScan } from '../scan/cacheable-scan.ts';
import { CachedColumn } from './cached-column.ts';
import { CachedShape, formOf } from './cached-shape.ts';
import { columnKey, type RowCache } from './row-cache.ts';

type Reader = { readonly instance: Instance; readonly connection: Connection };

/**
 * Reads the columns of row groups of a scan from their files into the cache, step by step. False when a column is too large. The connection must
 * use one thread, so that rows come in the order of the file.
 * @throws DuckDB's error
 */
export function* fillColumns(
  cache: RowCache,
  scan: CacheableScan,
  groups: readonly CacheableGroup[],
  reader: Reader,
): Generator<void, boolean> {
  const shape = cache.shape(scan.shape) ?? newShape(cache, scan, reader);
  if (shape.fields.some(hasDictionary)) return false;
  for (const withoutViews of [false, true]) {
    const places = scan.reads.filter((place) => shape.inViews.has(place) === withoutViews);
    if (places.length === 0) continue;
    const columns = places.flatMap((place) => scan.columns[place] ?? []);
    for (const part of statements(groups)) {
      if (!(yield* fill(cache, { ...part, columns, withoutViews }, reader))) return false;
    }
  }
  return true;
}

function newShape(cache: RowCache, { columns, groups, shape }: CacheableScan, reader: Reader): CachedShape {
  const made = new CachedShape(selectFrom(columns, `${readParquet([groups[0]?.path ?? ''])} AS f LIMIT 0`), reader);
  cache.putShape(shape, made);
  return made;
}

type Part = { readonly from: string; readonly groups: readonly CacheableGroup[] };

/** One statement for all files that are read whole, and one for each other row group. */
function statements(groups: readonly CacheableGroup[]): Part[] {
  const files = groups.filter(({ isFile }) => isFile);
  const parts = groups.filter(({ isFile }) => !isFile);
  const rowsOf = ({ startRow, rows }: CacheableGroup): string =>
    `f.file_row_number >= ${startRow} AND f.file_row_number < ${startRow + rows}`;
  return [
    ...(files.length === 0 ? [] : [{ from: `${readFiles(files)} AS f`, groups: files }]),
    ...parts.map((group) => ({ from: `${readFiles([group])} AS f WHERE ${rowsOf(group)}`, groups: [group] })),
  ];
}

const readFiles = (groups: readonly CacheableGroup[]): string =>
  readParquet(
    groups.map(({ path }) => path),
    '',
    LATE_FALSE,
  );

const selectFrom = (columns: CacheableScan['columns'], from: string): string =>
  `SELECT ${columns.map(({ name, sql }) => `${sql} AS ${quoteIdentifier(name)}`).join(', ')} FROM ${from}`;

const hasDictionary = (field: ArrowField): boolean => field.dictionary !== null || field.children.some(hasDictionary);

/** Reads the row groups of one statement; false when it gives other rows than they have, or a column is too large. */
function* fill(
  cache: RowCache,
  { columns, withoutViews, from, groups }: Part & Pick<CacheableScan, 'columns'> & { readonly withoutViews: boolean },
  { connection, instance }: Reader,
): Generator<void, boolean> {
  using prepared = new PreparedStatement(connection, selectFrom(columns, from));
  using statement = new Statement(prepared);
  while (statement.step() !== 'ready') yield;
  using form = formOf(statement, instance, withoutViews);
  using builders = new Builders(form);
  const left = [...groups];
  for (let chunk = statement.fetch(); chunk !== undefined; chunk = statement.fetch()) {
    try {
      builders.append(chunk);
    } finally {
      destroyChunk(chunk);
    }
    const [group] = left;
    if (group === undefined || builders.rows > group.rows || builders.bytesMax > cache.columnBytesMax) {
      // Destroying the unfinished statement would run it to its end.
      interruptConnection(connection.address);
      return false;
    }
    if (builders.rows === group.rows) {
      left.shift();
      form.fields.forEach((field, i) => {
        const column = new CachedColumn(field, group.rows, builders.parts(i));
        cache.putColumn(columnKey(group.key, columns[i]?.sql ?? ''), column);
      });
      builders.clear();
    }
    yield;
  }
  return left.length === 0;
}

/** The columns of one row group while they are read. */
class Builders implements Disposable {
  readonly #form: ArrowForm;
  readonly #columns: readonly ColumnBuilder[];
  rows = 0;

  constructor(form: ArrowForm) {
    this.#form = form;
    this.#columns = form.fields.map((field) => new ColumnBuilder(field));
  }

  /** Bytes of the largest column. */
  get bytesMax(): number {
    return Math.max(...this.#columns.map((column) => column.sizeBytes()));
  }

  append(chunk: Address): void {
    const array = new BigUint64Array(ARRAY_WORDS);
    check(duckdb.data_chunk_to_arrow(this.#form.options, chunk, array));
    try {
      const children = new BigUint64Array(this.#columns.length);
      readWords(children, array[6] ?? 0n, children.length);
      this.#columns.forEach((column, i) => column.append(children[i] ?? 0n));
      this.rows += Number(array[0]);
    } finally {
      callRelease(array[8] ?? 0n, addressOf(array));
    }
  }

  /** The nodes and buffers of a column, which live until `clear`. */
  parts(index: number): BatchParts {
    const parts: BatchParts = { nodes: [], buffers: [] };
    this.#columns[index]?.collect(parts);
    return parts;
  }

  clear(): void {
    this.rows = 0;
    for (const column of this.#columns) column.clear();
  }

  [Symbol.dispose](): void {
    for (const column of this.#columns) column[Symbol.dispose]();
  }
}
