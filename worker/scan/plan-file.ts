import { setImmediate } from 'node:timers/promises';
import type { ScanColumn, ScanDelete, ScanFile } from '#shared/iceberg/scan-file.ts';
import type { ScanReport, ScanSpec } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import { withinRoots } from '#shared/iceberg/allowed-roots.ts';
import { mayMatch, type ColumnStats } from '#shared/iceberg/may-match.ts';
import { duckDbType } from '#shared/iceberg/duckdb-type.ts';
import { parseType, type IcebergType } from '#shared/iceberg/type.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { WantedBytes } from '../objects/object-copy.ts';
import type { FileField, Footer, ReadFooter, RowGroup } from './footer.ts';
import { hasNoNan, isFloat, misleadingColumns } from './misleading-columns.ts';
import { withFieldIds } from './name-mapping.ts';
import { neededOf } from './needed-bytes.ts';
import { annotationOf } from './parquet-schema.ts';
import { printAddress } from './print-address.ts';
import { rowBounds } from './row-bounds.ts';
import { printColumn, requireDecimals } from './print-column.ts';
import { printValue } from '#shared/iceberg/print-value.ts';

/** One data file as a task reads it. */
export type PlannedFile = {
  readonly file: ScanFile;
  /** SQL conditions on row numbers that select the task's rows; empty when the task reads the whole file. */
  readonly bounds: readonly string[];
  /** The bytes of the file that DuckDB may read; absent = all. */
  readonly needed: WantedBytes | undefined;
  readonly signature: string;
  /** One SQL expression per column of the scan, over the file's own columns as `f`. */
  readonly columns: readonly string[];
  /** Per equality delete file, the expressions of the columns that it compares, in its order. */
  readonly equality: readonly EqualityDelete[];
  /** The row groups of the task whose statistics allow a match. */
  readonly kept: readonly RowGroup[];
  /** True when the file has one row group. */
  readonly isOneGroup: boolean;
  /** Some of these row groups is packed by a codec. */
  readonly isPacked: boolean;
  /** True when a file's column hides a virtual column of DuckDB of the same name, so that row numbers cannot be read. */
  readonly hidesVirtual: boolean;
  /** False when the statistics prove that no row can match: the file is left out. */
  readonly read: boolean;
  readonly report: Omit<ScanReport, 'scan'>;
};

/** Columns that DuckDB adds to a file's own, unless the file has a column of that name. */
export const VIRTUAL_COLUMNS: ReadonlySet<string> = new Set(['filename', 'file_row_number']);
/** Longest time, in milliseconds, that pruning by statistics runs between two turns of the event loop. */
const TURN_MS = 5;

export type EqualityDelete = {
  readonly spec: Extract<ScanDelete, { kind: 'equality' }>;
  readonly columns: readonly string[];
};

/** The reader of footers, and how many of a file's rows are wanted: any will do. */
type FileTools = {
  readonly readFooter: ReadFooter;
  readonly needs: 'all' | 'some';
  readonly rowsMax?: number;
};

/** Matches the file's columns with the scan's, and counts the rows and bytes to be read. @param needs whether all of a file is there for DuckDB, or only what the task needs */
export async function planFile(
  signal: AbortSignal,
  scan: ScanSpec,
  file: ScanFile,
  { readFooter, needs, rowsMax = Infinity }: FileTools,
): Promise<PlannedFile> {
  checkRoots(scan, [file.path, ...file.deletes.map((one) => one.path)]);
  const footer = await readFooter(file);
  const fields = withFieldIds(footer.fields, scan.nameMapping, baseName(file.path));
  const withoutNan = new Set(file.withoutNan);
  const source = columnSource(fields, file, misleadingColumns(footer, withoutNan));
  const groups = groupsOf(footer, file);
  const bounded = scan.predicate.kind === 'true' ? NONE : boundedColumns(fields, scan.columns);
  const matching = await groupsThatMatch(signal, groups, (group) =>
    mayMatch(scan.predicate, (id) => statsOf(group, bounded.get(id), (field) => hasNoNan(field, footer, withoutNan))),
  );
  const kept = needs === 'some' ? firstRows(matching, rowsMax) : matching;
  const readFields = fieldsRead(fields, scan, file);
  const leaves = readFields.flatMap(({ leaves: own }) =>
    Array.from({ length: own.end - own.first }, (_, i) => own.first + i),
  );
  const needed =
    needs === 'some' ? neededOf(footer, { groups, kept, fields: readFields, files: scan.files.length }) : undefined;
  const isRead = new Set(readFields.map(({ id }) => id));
  const isHole = ({ fieldId }: ScanColumn): boolean =>
    needed !== undefined && !isRead.has(fieldId) && fields.some(({ id }) => id === fieldId);
  return {
    file,
    kept,
    isOneGroup: footer.rowGroups.length === 1,
    isPacked: kept.some((group) => group.isPacked),
    bounds: needed?.bounds ?? rowBounds(groups, footer),
    needed: needed?.bytes,
    signature: footer.signature,
    columns: scan.columns.map((column) => (isHole(column) ? unfetched(column, source) : source(column))),
    equality: file.deletes
      .filter((one) => one.kind === 'equality')
      .map((spec) => ({ spec, columns: spec.columns.map(source) })),
    hidesVirtual: fields.some((field) => VIRTUAL_COLUMNS.has(foldIdentifier(field.name))),
    read: kept.length > 0,
    report: {
      files: 1,
      rowGroups: groups.length,
      rowGroupsPruned: groups.length - kept.length,
      bytes: kept.reduce((sum, group) => sum + leaves.reduce((s, leaf) => s + (group.bytes[leaf] ?? 0), 0), 0),
    },
  };
}

/** The first row groups that have so many rows. */
function firstRows(groups: readonly RowGroup[], rowsMax: number): readonly RowGroup[] {
  let rows = 0;
  return groups.filter((group) => {
    const isWanted = rows < rowsMax;
    rows += group.rows;
    return isWanted;
  });
}

/** Rejects files outside of the roots that the catalog allows for the table, even if a manifest names them. */
function checkRoots(scan: ScanSpec, paths: readonly string[]): void {
  const isAllowed = withinRoots(scan.allowedRoots);
  for (const path of paths) {
    if (!isAllowed(path)) {
      throw new SkeinError(
        'INVALID_TABLE_DATA',
        `a file of the table ${scan.tableName} lies outside of its allowed locations`,
      );
    }
  }
}

export const baseName = (location: string): string => location.slice(location.lastIndexOf('/') + 1);

/**
 * Iceberg spec, Column Projection: the file's field, else the partition's value, else the default, else null.
 * @param isMisleading whether DuckDB must not see the statistics of a field
 */
export function columnSource(
  fields: readonly FileField[],
  file: Pick<ScanFile, 'constants'>,
  isMisleading: (field: FileField) => boolean,
): (column: ScanColumn) => string {
  const byId = new Map(fields.toReversed().map((field) => [field.id, field]));
  const twins = twinsOf(fields);
  return (column) => {
    const address = printAddress(column, (id) => byId.get(id));
    if (address !== undefined) return address;
    const type = parseType(column.type);
    const found = byId.get(column.fieldId);
    if (found === undefined) {
      const constant = file.constants[String(column.fieldId)];
      return printValue(type, constant === undefined ? column.initialDefault : constant);
    }
    const twin = twins.get(foldIdentifier(found.name));
    if (twin !== undefined) throw namesDifferInCase(twin, found);
    requireDecimals(found);
    const own = `f.${quoteIdentifier(found.name)}`;
    return printColumn(isMisleading(found) ? withoutStatistics(own) : own, found, type);
  };
}

/** A column's values, of which DuckDB's optimizer knows nothing: TRY of a column fails for no row, copies nothing, and has no statistics. */
export const withoutStatistics = (column: string): string => `TRY(${column})`;

/** Finds fields whose names differ only in case: two of them per folded name. */
function twinsOf(fields: readonly FileField[]): ReadonlyMap<string, readonly [FileField, FileField]> {
  const first = new Map<string, FileField>();
  const twins = new Map<string, readonly [FileField, FileField]>();
  for (const field of fields) {
    const name = foldIdentifier(field.name);
    const other = first.get(name);
    if (other === undefined) first.set(name, field);
    else if (!twins.has(name)) twins.set(name, [other, field]);
  }
  return twins;
}

/** The error for two names that differ only in case: DuckDB renames one of them, so the columns could be confused. */
function namesDifferInCase([one, other]: readonly [FileField, FileField], field: FileField): SkeinError {
  const twin = one === field ? other : one;
  return new SkeinError(
    'NOT_SUPPORTED',
    `a file's columns ${JSON.stringify(twin.name)} and ${JSON.stringify(field.name)} differ only in case`,
  );
}

/** Row groups of the task: those that begin within its row range, so that no two tasks read the same one. */
function groupsOf({ rowGroups }: Footer, { rows }: ScanFile): readonly RowGroup[] {
  if (rows === null) return rowGroups;
  return rowGroups.filter(({ startRow }) => startRow >= rows.start && startRow < rows.end);
}

/** Prunes row groups by statistics. Yields to the event loop, because a predicate and a file may each have thousands of parts. */
async function groupsThatMatch(
  signal: AbortSignal,
  groups: readonly RowGroup[],
  matches: (group: RowGroup) => boolean,
): Promise<readonly RowGroup[]> {
  const kept: RowGroup[] = [];
  let turnEndsAt = performance.now() + TURN_MS;
  for (const group of groups) {
    if (matches(group)) kept.push(group);
    if (performance.now() < turnEndsAt) continue;
    await setImmediate();
    signal.throwIfAborted();
    turnEndsAt = performance.now() + TURN_MS;
  }
  return kept;
}

function statsOf(
  group: RowGroup,
  field: FileField | undefined,
  isFree: (field: FileField) => boolean,
): ColumnStats | undefined {
  const stats = field === undefined ? undefined : group.stats(field.leaves.first);
  if (field === undefined || stats === undefined || !isFloat(field.element) || !isFree(field)) return stats;
  // A bound that is NaN comes from a writer that did not leave NaN out.
  const isBounded = ![stats.lower, stats.upper].some((bound) => bound === undefined || Number.isNaN(bound));
  return isBounded ? { ...stats, nanCount: 0 } : stats;
}

const NONE: ReadonlyMap<number | null, FileField> = new Map();

/** The file's columns by field id whose bounds have the same unit as literals of the table's type. */
function boundedColumns(
  fields: readonly FileField[],
  columns: readonly ScanColumn[],
): ReadonlyMap<number | null, FileField> {
  const types = new Map(columns.map((column) => [column.fieldId, column.type]));
  const bounded = new Map<number | null, FileField>();
  for (const field of fields) {
    const type = field.id === null ? undefined : types.get(field.id);
    if (type === undefined || field.kind !== 'primitive') continue;
    if (unitOfFile(field.element) === unitOfType(parseType(type))) bounded.set(field.id, field);
  }
  return bounded;
}

/** Unit of a numeric literal of the type. A promoted column (date to timestamp) or a foreign file may have another unit than the table. */
function unitOfType(type: IcebergType): string {
  if (type.kind === 'decimal') return `10^-${type.scale}`;
  if (type.kind === 'date') return 'DAYS';
  if (type.kind === 'timestamp' || type.kind === 'timestamptz') return 'MICROS';
  return type.kind === 'timestamp_ns' || type.kind === 'timestamptz_ns' ? 'NANOS' : '1';
}

/** Unit of a column's bounds in `Footer`, like `unitOfType`; the footer converts milliseconds to microseconds. */
function unitOfFile(element: FileField['element']): string {
  const { logical, scale } = element;
  if (logical?.kind === 'TIMESTAMP') return logical.unit === 'NANOS' ? 'NANOS' : 'MICROS';
  const annotation = annotationOf(element);
  if (annotation === 'DECIMAL') return `10^-${scale}`;
  if (annotation === 'DATE') return 'DAYS';
  return annotation?.startsWith('TIMESTAMP_') === true ? 'MICROS' : '1';
}

/** Columns to read: those of the plan, and those that equality deletes compare. */
function fieldsRead(fields: readonly FileField[], scan: ScanSpec, file: ScanFile): readonly FileField[] {
  const compared = file.deletes.flatMap((one) => (one.kind === 'equality' ? one.columns : []));
  const read = scan.readFieldIds ?? scan.columns.map((column) => column.fieldId);
  const ids = new Set([...read, ...compared.map((column) => column.fieldId)]);
  return fields.filter((field) => field.id !== null && ids.has(field.id));
}

/** Begins the error of a statement that reads a column which its plan does not read. */
export const UNFETCHED = 'skein: a column that was not fetched';

/** In place of a column that is not there: DuckDB leaves out what the statement does not need. @throws what `source` throws */
function unfetched(column: ScanColumn, source: (column: ScanColumn) => string): string {
  source(column);
  return `CAST(error('${UNFETCHED}') AS ${duckDbType(column.type)})`;
}
