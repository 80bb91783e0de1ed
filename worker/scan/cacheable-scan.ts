import type { ScanSpec } from '#shared/task/task.ts';
import type { TenantId } from '#shared/id.ts';
import { mayMatch, type ColumnStats } from '#shared/iceberg/may-match.ts';
import type { PlannedFile } from './plan-file.ts';
import { isAddress } from './print-address.ts';
import { readablePath, type OpenScanned } from './readable-path.ts';

/** A row group that a scan reads. `key` names it for the tenant and the table: a path may later belong to another table. */
export type CacheableGroup = {
  readonly key: string;
  /** The path by which DuckDB reads the file. */
  readonly path: string;
  readonly startRow: number;
  readonly rows: number;
  /** True when it is the whole file. */
  readonly isFile: boolean;
};

/** A scan whose rows may come from the row cache: its files have the same columns and no deletes. Its columns are named by their places. */
export type CacheableScan = {
  readonly groups: readonly CacheableGroup[];
  /** The scan's columns, and the SQL expression of each over a file as `f`. */
  readonly columns: readonly { readonly name: string; readonly sql: string }[];
  /** Scans of equal shapes have columns of equal names and types. */
  readonly shape: string;
  /** The columns that the plan reads. */
  readonly reads: readonly number[];
  /** False when no row with these statistics of its columns is wanted. */
  readonly mayMatch: (stats: (column: number) => ColumnStats | undefined) => boolean;
};

/** A scan of more is not a small one. */
const GROUPS_MAX = 256;
const ROWS_MAX = 2_000_000;
/** DuckDB binds every column. */
const COLUMNS_MAX = 256;

/** The scan in this form; undefined when it does not have it, or is too large to be kept. @param files those that are read */
export function cacheableScan(
  scan: ScanSpec,
  files: readonly PlannedFile[],
  of: { readonly tenant: TenantId; readonly open: OpenScanned },
): CacheableScan | undefined {
  const [first] = files;
  const rows = files.reduce((sum, { kept }) => kept.reduce((all, group) => all + group.rows, sum), 0);
  const groups = files.reduce((sum, { kept }) => sum + kept.length, 0);
  if (first === undefined || rows > ROWS_MAX || groups > GROUPS_MAX || scan.columns.length > COLUMNS_MAX)
    return undefined;
  if (scan.columns.some(isAddress) || !files.every((one) => isLike(one, first))) return undefined;
  const places = new Map(scan.columns.map((column, place) => [column.fieldId, place]));
  const reads = scan.readFieldIds?.flatMap((id) => places.get(id) ?? []) ?? [...scan.columns.keys()];
  if (reads.length === 0) return undefined;
  const columns = scan.columns.map(({ name }, i) => ({ name, sql: first.columns[i] ?? 'NULL' }));
  return {
    groups: groupsOf(scan, files, of),
    columns,
    shape: JSON.stringify([first.signature, columns]),
    reads,
    mayMatch: (stats) =>
      mayMatch(scan.predicate, (id) => {
        const place = places.get(id);
        return place === undefined ? undefined : stats(place);
      }),
  };
}

/**
 * Whether a file is read as the first one of a scan is, and neither has deletes. Values that a file does not hold, such as those of a
 * partition, stand in the text of its columns.
 */
export const isLike = (one: PlannedFile, { signature, columns }: PlannedFile): boolean =>
  one.signature === signature &&
  one.file.deletes.length === 0 &&
  !one.hidesVirtual &&
  one.columns.every((sql, i) => sql === columns[i]);

const groupsOf = (
  { tableUuid }: ScanSpec,
  files: readonly PlannedFile[],
  { tenant, open }: { readonly tenant: TenantId; readonly open: OpenScanned },
): CacheableGroup[] => {
  const of = JSON.stringify([tenant, tableUuid]);
  return files.flatMap(({ file, kept, isOneGroup }) => {
    const key = `${of} ${file.sizeBytes} ${file.path}`;
    const path = readablePath(open, file.path);
    return kept.map(({ startRow, rows }) => ({ key: `${key} ${startRow}`, path, startRow, rows, isFile: isOneGroup }));
  });
};
