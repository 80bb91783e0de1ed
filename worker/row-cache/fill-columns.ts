import { quoteIdentifier } from '#shared/sql/quote.ts';
import { readParquet } from '#shared/sql/read-parquet.ts';
import { interruptConnection, type Connection } from '../duckdb/instance.ts';
import { duckdb } from '../duckdb/library.ts';
import { destroyChunk, LATE_FALSE, PreparedStatement, Statement } from '../duckdb/statement.ts';
import type { CacheableGroup, CacheableScan } from '../scan/cacheable-scan.ts';
import { CachedShape } from './cached-shape.ts';
import { ColumnCopies } from './column-copies.ts';
import { columnKey, type RowCache } from './row-cache.ts';

/**
 * Reads the columns of row groups of a scan from their files into the cache, step by step. False when a column is too large. The connection must
 * use one thread, so that rows come in the order of the file.
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
  const names = columns.map(({ name }) => name);
  return new CachedShape(
    selectFrom(columns, `${readParquet([groups[0]?.path ?? ''])} AS f LIMIT 0`),
    names,
    connection,
  );
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
  using copies = new ColumnCopies(statement.result, columns.length);
  const left = groups.values();
  let group: CacheableGroup | undefined;
  for (let chunk = statement.fetch(); chunk !== undefined; chunk = statement.fetch()) {
    const rows = Number(duckdb.data_chunk_get_size(chunk));
    try {
      if (copies.left === 0) {
        group = left.next().value;
        copies.begin(group?.rows ?? 0);
      }
      if (rows <= copies.left) copies.append(chunk, rows);
      else group = undefined;
    } finally {
      destroyChunk(chunk);
    }
    if (group === undefined || copies.bytesMax > cache.columnBytesMax) {
      // Destroying the unfinished statement would run it to its end.
      interruptConnection(connection.address);
      return false;
    }
    if (copies.left === 0) {
      for (const [i, column] of copies.take().entries())
        cache.putColumn(columnKey(group.key, columns[i]?.sql ?? ''), column);
    }
    yield;
  }
  return copies.left === 0 && left.next().done === true;
}
