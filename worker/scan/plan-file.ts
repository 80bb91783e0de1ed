import { setImmediate } from 'node:timers/promises';
import type { ScanColumn, ScanDelete, ScanFile, ScanReport, ScanSpec } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import { mayMatch, type ColumnStats } from '#shared/iceberg/may-match.ts';
import { parseType, type IcebergType } from '#shared/iceberg/type.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { isWithin } from '#shared/storage/location.ts';
import type { FileField, Footer, ReadFooter, RowGroup } from './footer.ts';
import { withFieldIds } from './name-mapping.ts';
import { annotationOf } from './parquet-schema.ts';
import { printColumn } from './print-column.ts';
import { printValue } from './print-value.ts';

/** One data file as a task reads it. */
export type PlannedFile = {
  readonly file: ScanFile;
  /** What the numbers of the task's rows fulfil; nothing when they are all rows of the file. */
  readonly bounds: readonly string[];
  readonly signature: string;
  /** One SQL expression per column of the scan, over the file's own columns as `f`. */
  readonly columns: readonly string[];
  /** For every equality delete file the expressions of its columns, in its order. */
  readonly equality: readonly EqualityDelete[];
  /** A column of the file has the name of a virtual one of DuckDB's: its rows cannot say where they are from. */
  readonly hidesVirtual: boolean;
  /** False when the statistics prove that no row can match: the file is left out. */
  readonly read: boolean;
  readonly report: Omit<ScanReport, 'scan'>;
};

/** Columns that DuckDB adds to those of a file, unless the file has one of the name. */
const VIRTUAL_COLUMNS: ReadonlySet<string> = new Set(['filename', 'file_row_number']);
/** Pruning by statistics between two turns of the event loop. */
const TURN_MS = 5;

export type EqualityDelete = {
  readonly spec: Extract<ScanDelete, { kind: 'equality' }>;
  readonly columns: readonly string[];
};

/** Matches the file's columns with the scan's, and counts what will be read. */
export async function planFile(
  signal: AbortSignal,
  scan: ScanSpec,
  file: ScanFile,
  readFooter: ReadFooter,
): Promise<PlannedFile> {
  checkRoots(scan, [file.path, ...file.deletes.map((one) => one.path)]);
  const footer = await readFooter(file);
  const fields = withFieldIds(footer.fields, scan.nameMapping, baseName(file.path));
  const source = columnSource(fields, file);
  const groups = groupsOf(footer, file);
  const bounded = scan.predicate.kind === 'true' ? NONE : boundedLeaves(fields, scan.columns);
  const kept = await groupsThatMatch(signal, groups, (group) =>
    mayMatch(scan.predicate, (id) => statsOf(group, bounded.get(id))),
  );
  const leaves = leavesOf(fields, scan, file);
  return {
    file,
    bounds: rowBounds(groups, footer),
    signature: footer.signature,
    columns: scan.columns.map(source),
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

/** Whatever a manifest says, a file is read only below the roots that the catalog allows for the table. */
function checkRoots(scan: ScanSpec, paths: readonly string[]): void {
  for (const path of paths) {
    if (!scan.allowedRoots.some((root) => isWithin(path, root))) {
      throw new SkeinError(
        'INVALID_TABLE_DATA',
        `a file of the table ${scan.tableName} lies outside of its allowed locations`,
      );
    }
  }
}

export const baseName = (location: string): string => location.slice(location.lastIndexOf('/') + 1);

/** Iceberg spec, Column Projection: the file's field, else the partition's value, else the default, else null. */
export function columnSource(
  fields: readonly FileField[],
  file: Pick<ScanFile, 'constants'>,
): (column: ScanColumn) => string {
  const byId = new Map(fields.toReversed().map((field) => [field.id, field]));
  const twins = twinsOf(fields);
  return (column) => {
    const type = parseType(column.type);
    const found = byId.get(column.fieldId);
    if (found === undefined) {
      const constant = file.constants[String(column.fieldId)];
      return printValue(type, constant === undefined ? column.initialDefault : constant);
    }
    const twin = twins.get(foldIdentifier(found.name));
    if (twin !== undefined) throw namesDifferInCase(twin, found);
    return printColumn(`f.${quoteIdentifier(found.name)}`, found, type);
  };
}

/** Names that several fields have when case is folded: by the folded name two of the fields. */
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

/** DuckDB gives one of two names that differ only in case another name: the column could not be told from its twin. */
function namesDifferInCase([one, other]: readonly [FileField, FileField], field: FileField): SkeinError {
  const twin = one === field ? other : one;
  return new SkeinError(
    'NOT_SUPPORTED',
    `a file's columns ${JSON.stringify(twin.name)} and ${JSON.stringify(field.name)} differ only in case`,
  );
}

/** Row groups of the task: those that begin among its rows, so that none is read by two. */
function groupsOf({ rowGroups }: Footer, { rows }: ScanFile): readonly RowGroup[] {
  if (rows === null) return rowGroups;
  return rowGroups.filter(({ startRow }) => startRow >= rows.start && startRow < rows.end);
}

/**
 * Neighbouring row groups of a file by the numbers of their rows. DuckDB leaves out the others, but numbers and compares each row that it
 * reads, at 2 ns and 1 ns per bound: the file's own ends are not said.
 */
function rowBounds(groups: readonly RowGroup[], { rowGroups }: Footer): readonly string[] {
  const [first, last] = [groups[0], groups.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [
    ...(first === rowGroups[0] ? [] : [`f.file_row_number >= ${first.startRow}`]),
    ...(last === rowGroups.at(-1) ? [] : [`f.file_row_number < ${last.startRow + last.rows}`]),
  ];
}

/** A predicate of thousands of values meets thousands of row groups: the thread runs other tasks meanwhile. */
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

const statsOf = (group: RowGroup, leaf: number | undefined): ColumnStats | undefined =>
  leaf === undefined ? undefined : group.stats(leaf);

const NONE: ReadonlyMap<number | null, number> = new Map();

/** Leaves by field id, of the columns whose bounds in the file count what literals of the table's type count. */
function boundedLeaves(
  fields: readonly FileField[],
  columns: readonly ScanColumn[],
): ReadonlyMap<number | null, number> {
  const types = new Map(columns.map((column) => [column.fieldId, column.type]));
  const leaves = new Map<number | null, number>();
  for (const { id, kind, element, leaves: range } of fields) {
    const type = id === null ? undefined : types.get(id);
    if (type === undefined || kind !== 'primitive' || unitOfFile(element) !== unitOfType(parseType(type))) continue;
    leaves.set(id, range.first);
  }
  return leaves;
}

/** What a number of the type counts. A promoted column (date to timestamp) and a foreign file have another unit than the table. */
function unitOfType(type: IcebergType): string {
  if (type.kind === 'decimal') return `10^-${type.scale}`;
  if (type.kind === 'date') return 'DAYS';
  if (type.kind === 'timestamp' || type.kind === 'timestamptz') return 'MICROS';
  return type.kind === 'timestamp_ns' || type.kind === 'timestamptz_ns' ? 'NANOS' : '1';
}

/** As `unitOfType`, of the bounds that `Footer` holds: those in milliseconds are in microseconds there. */
function unitOfFile(element: FileField['element']): string {
  const { logical, scale } = element;
  if (logical?.kind === 'TIMESTAMP') return logical.unit === 'NANOS' ? 'NANOS' : 'MICROS';
  const annotation = annotationOf(element);
  if (annotation === 'DECIMAL') return `10^-${scale}`;
  if (annotation === 'DATE') return 'DAYS';
  return annotation?.startsWith('TIMESTAMP_') === true ? 'MICROS' : '1';
}

/** Column chunks that are read: of the plan's columns, and of those that equality deletes compare. */
function leavesOf(fields: readonly FileField[], scan: ScanSpec, file: ScanFile): readonly number[] {
  const compared = file.deletes.flatMap((one) => (one.kind === 'equality' ? one.columns : []));
  const read = scan.readFieldIds ?? scan.columns.map((column) => column.fieldId);
  const ids = new Set([...read, ...compared.map((column) => column.fieldId)]);
  return fields
    .filter((field) => field.id !== null && ids.has(field.id))
    .flatMap(({ leaves }) => Array.from({ length: leaves.end - leaves.first }, (_, i) => leaves.first + i));
}
