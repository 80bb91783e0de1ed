import { quoteIdentifier } from '#shared/sql/quote.ts';
import { readParquet } from '#shared/sql/read-parquet.ts';
import { interruptConnection, type Connection } from '../duckdb/instance.ts';
import { duckdb, type Address } from '../duckdb/library.ts';
import { destroyChunk, LATE_FALSE, PreparedStatement, Statement } from '../duckdb/statement.ts';
import type { CacheableGroup, CacheableScan } from '../scan/cacheable-scan.ts';
import type { CachedColumn } from './cached-column.ts';
import { CachedShape } from './cached-shape.ts';
import { ColumnCopies } from './column-copies.ts';
import { columnKey, type RowCache } from './row-cache.ts';

/**
 * Reads the columns of row groups of a scan from their files into the cache, step by step. False when a column is too large or of a type whose
 * memory is not known, or when a row group has not its rows. The connection must use one thread, so that rows come in the order of the file.
 * @throws DuckDB's error, MEMORY_EXHAUSTED
 */
export function* fillColumns(
  cache: RowCache,
  scan: CacheableScan,
  groups: readonly CacheableGroup[],
  connection: Connection,
): Generator<void, boolean> {
  if (cache.shape(scan.shape) === undefined) cache.putShape(scan.shape, newShape(scan, connection));
  const columns = scan.reads.flatMap((place) => scan.columns[place] ?? []);
  for (const part of statements(groups)) if (!(yield* fill(cache, { ...part, columns }, connection))) return false;
  return true;
}

function newShape({ columns, groups }: CacheableScan, connection: Connection): CachedShape {
  const sql = selectFrom(columns, `${readParquet([groups[0]?.path ?? ''])} AS f LIMIT 0`);
  const names = columns.map(({ name }) => name);
  return new CachedShape(sql, names, connection);
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

/** Reads the row groups of one statement; false when it gives other rows than they have, or a column is too large. */
function* fill(
  cache: RowCache,
  { columns, from, groups }: Part & Pick<CacheableScan, 'columns'>,
  connection: Connection,
): Generator<void, boolean> {
  using prepared = new PreparedStatement(connection, selectFrom(columns, from));
  using statement = new Statement(prepared);
  while (statement.step() !== 'ready') yield;
  using copies = new ColumnCopies(statement.result, columns.length, cache.columnBytesMax);
  let isDone = false;
  try {
    const left = groups.values();
    let group: CacheableGroup | undefined;
    for (let chunk = statement.fetch(); chunk !== undefined; chunk = statement.fetch()) {
      if (copies.left === 0) {
        group = left.next().value;
        copies.begin(group?.rows ?? 0);
      }
      if (!copyChunk(chunk, copies) || group === undefined) return false;
      if (copies.left === 0 && !keep(cache, copies.take(), { columns, group })) return false;
      yield;
    }
    isDone = true;
    return copies.left === 0 && left.next().done === true;
  } finally {
    // Destroying an unfinished statement would run it to its end.
    if (!isDone) interruptConnection(connection.address);
  }
}

/** Copies a chunk, and destroys it; false when it has more rows than are left of the row group, or a column would be too large. */
function copyChunk(chunk: Address, copies: ColumnCopies): boolean {
  try {
    const rows = Number(duckdb.data_chunk_get_size(chunk));
    return rows <= copies.left && copies.append(chunk, rows);
  } finally {
    destroyChunk(chunk);
  }
}

/** Puts the columns of a row group into the cache; false when one of them is too large. */
function keep(
  cache: RowCache,
  copied: readonly CachedColumn[],
  { columns, group }: Pick<CacheableScan, 'columns'> & { readonly group: CacheableGroup },
): boolean {
  const kept = copied.map((column, i) => cache.putColumn(columnKey(group.key, columns[i]?.sql ?? ''), column));
  return !kept.includes(false);
}
