import type { InputSource, ScanSpec } from '#shared/task/task.ts';
import type { ScanColumn, ScanFile } from '#shared/iceberg/scan-file.ts';
import type { FileListHold } from '#shared/iceberg/file-list-hold.ts';
import { EMPTY_REPORT, type PlanReport } from '#shared/iceberg/planning.ts';
import type { TenantId } from '#shared/id.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import type { ScanRequest } from '#shared/iceberg/scan-request.ts';
import type { PlannedFiles, ReadCall, TableReader } from '#shared/iceberg/table-reader.ts';
import type { Predicate } from '#shared/iceberg/predicate.ts';
import { parseType } from '#shared/iceberg/type.ts';
import { must } from '#shared/must.ts';
import type { PolicedBinding } from '../binding/policed-binding.ts';
import { policyError } from '../binding/policy-error.ts';
import { fieldType } from '../plan/iceberg-sql-type.ts';
import type { SqlField } from '../plan/sql-type.ts';
import type { PolicyReading } from '../binding/policed-binding.ts';
import { schemaById } from '#shared/iceberg/table-metadata.ts';
import { predicateSql } from './predicate-sql.ts';
import { policedRows } from './policed-rows.ts';
import type { ScanBinding } from '../binding/scan-binding.ts';
import type { StagedBinding } from '../binding/statement-binding.ts';
import type { TableBinding } from '../binding/table-binding.ts';
import type { RowsPart, TableRows } from '../binding/table-rows.ts';

/**
 * The part of a table that a task reads: files, of an Iceberg table or of a stage, or rows, which travel with the task, or lie on workers as
 * the outputs of other tasks (`sources`).
 */
export type TaskTable =
  | { readonly kind: 'files'; readonly spec: ScanSpec }
  | { readonly kind: 'rows'; readonly rows: TableRows; readonly sources?: readonly InputSource[] };

/** A table below policies as it is read: the query of its policies, and the tables of that query. */
export type PolicedScan = {
  readonly reading: PolicyReading;
  readonly scans: readonly PlannedScan[];
  /** Excludes visible rows that the statement does not want; null = none. */
  readonly wanted: string | null;
};

/** A table of a query as it is read, and a report of what was read and pruned. */
export type PlannedScan = TaskTable & {
  readonly report: PlanReport;
  /** The rows are those of a table below policies; a stage of its own makes them. */
  readonly policed?: PolicedScan;
};

/** The parts of rows that a client has sent. */
export const partsOf = (scans: readonly TaskTable[]): readonly RowsPart[] =>
  scans.flatMap((scan) => (scan.kind === 'rows' ? (scan.rows.parts ?? []) : []));

/** A part of rows as its task's table; the messages are read when it is sent. */
export const partTables = (scans: readonly TaskTable[], { rowCount, bytes }: RowsPart): readonly TaskTable[] =>
  scans.flatMap((scan) => {
    if (scan.kind !== 'rows') return [];
    const { parts: _parts, ...rows } = scan.rows;
    return [{ kind: 'rows', rows: { ...rows, rowCount, bytes, messages: [] } }];
  });

/** The files of a scan; rows have none. */
export const plannedFiles = (scan: TaskTable): readonly ScanFile[] => (scan.kind === 'rows' ? [] : scan.spec.files);

export type ScanContext = {
  readonly tables: TableReader;
  /** The tenant whose query it is. */
  readonly tenant: TenantId;
  /** Counts the files of all scans of the query. */
  readonly hold: FileListHold;
  readonly signal: AbortSignal;
  /** Gives a key like the one of a binding, which may be old by now. Absent = it is not old. */
  readonly freshKey?: (key: StorageCredential) => Promise<StorageCredential>;
};

/** Lists the files of every scan of a query, with partitions and files pruned by its predicate. @throws as `TableReader` does. */
export function planScans(bindings: readonly TableBinding[], context: ScanContext): Promise<PlannedScan[]> {
  return Promise.all(bindings.map((binding) => planScan(binding, context)));
}

async function planScan(binding: TableBinding, context: ScanContext): Promise<PlannedScan> {
  if (binding.kind === 'rows') {
    const { rows } = binding;
    return { kind: 'rows', rows, report: { ...EMPTY_REPORT, rows: rows.rowCount, bytes: rows.bytes } };
  }
  if (binding.kind === 'staged') return { kind: 'files', spec: binding.table.spec, report: stagedReport(binding) };
  if (binding.kind === 'policed') return planPoliced(binding, context);
  const { credential } = binding;
  const { freshKey } = context;
  const isKept = credential.kind === 'file' || freshKey === undefined;
  const fresh = isKept ? binding : { ...binding, credential: await freshKey(credential) };
  return scanOf(fresh, await filesOf(fresh, context));
}

/** Plans what the query of the policies reads. Its numbers prune and decide about the run; no reader of the table is told them. */
async function planPoliced({ table, reading }: PolicedBinding, context: ScanContext): Promise<PlannedScan> {
  const { scans: tables, source, seesPolicies } = reading;
  const pruned = tables.map((scan, i) =>
    i === source ? { ...scan, predicate: bothOf(scan.predicate, table.predicate) } : scan,
  );
  try {
    const scans = namedScans(await planScans(pruned, context), pruned);
    const { report } = must(scans[source], 'the table is among the scans');
    const wanted = predicateSql(table.predicate, schemaById(table.metadata, table.schemaId).fields);
    return {
      kind: 'rows',
      rows: policedRows(table.tableName, readColumns(table)),
      policed: { reading, scans, wanted },
      report,
    };
  } catch (error) {
    throw policyError(error, seesPolicies);
  }
}

const bothOf = (one: Predicate, other: Predicate): Predicate =>
  one.kind === 'true' ? other : other.kind === 'true' ? one : { kind: 'and', children: [one, other] };

/** The columns that the plan of a statement reads of a table. */
function readColumns({ columns, readFieldIds }: ScanBinding): readonly SqlField[] {
  const read = new Set(readFieldIds);
  return columns.filter(({ fieldId }) => read.has(fieldId)).map(columnField);
}

/** A column as DuckDB sees it. */
const columnField = ({ fieldId, name, type, required }: ScanColumn): SqlField =>
  fieldType({ id: fieldId, name, required, type: parseType(type) });

const stagedReport = ({ table }: StagedBinding): PlanReport => ({
  ...EMPTY_REPORT,
  files: table.spec.files.length,
  rows: table.rowCount,
  bytes: table.bytes,
});

/** The scan of some files of a table. */
export function scanOf(binding: ScanBinding, { files, report }: PlannedFiles): PlannedScan {
  const { tableName, tableUuid, snapshotId, schemaId, columns, readFieldIds, allowedRoots, credential } = binding;
  const { nameMapping } = binding.metadata;
  const { rowsMax } = binding;
  const limit = rowsMax === undefined ? {} : { rowsMax };
  const table = { tableName, tableUuid, snapshotId, schemaId, columns, readFieldIds, nameMapping, ...limit };
  return { kind: 'files', spec: { ...table, files, predicate: binding.predicate, allowedRoots, credential }, report };
}

/** The same scans for the query's own text: with the columns that it may name, because DuckDB binds every column that it is given. */
export const namedScans = (scans: readonly PlannedScan[], bindings: readonly TableBinding[]): readonly PlannedScan[] =>
  scans.map((scan, i) => {
    const binding = bindings[i];
    if (scan.policed !== undefined && binding?.kind === 'policed') {
      return { ...scan, rows: policedRows(binding.table.tableName, namedColumns(binding.table)) };
    }
    if (scan.kind === 'rows' || binding?.kind !== 'iceberg' || binding.namedFieldIds === null) return scan;
    const named = new Set(binding.namedFieldIds);
    const columns = scan.spec.columns.filter(({ fieldId }) => named.has(fieldId));
    return { ...scan, spec: { ...scan.spec, columns } };
  });

function namedColumns({ columns, namedFieldIds }: ScanBinding): readonly SqlField[] {
  const named = namedFieldIds === null ? null : new Set(namedFieldIds);
  return columns.filter(({ fieldId }) => named?.has(fieldId) ?? true).map(columnField);
}

async function filesOf(binding: ScanBinding, context: ScanContext): Promise<PlannedFiles> {
  const request = scanRequest(binding, context);
  if (request === null) return { files: [], report: EMPTY_REPORT };
  return context.tables.files(request, readCall(binding, context), context.hold);
}

/** Builds the file request of a scan; null for a table without a snapshot. */
export function scanRequest(binding: ScanBinding, { tenant }: Pick<ScanContext, 'tenant'>): ScanRequest | null {
  const { metadata, predicate, allowedRoots, credential, columns } = binding;
  if (binding.snapshotId === null) return null;
  const snapshotId = BigInt(binding.snapshotId);
  const { tableUuid, formatVersion, location, fields, specs, defaultSpecId } = metadata;
  const snapshot = metadata.snapshots.get(snapshotId);
  // Requests are copied to a thread, so they carry only the snapshot that is read.
  const snapshots = new Map(snapshot === undefined ? [] : [[snapshotId, snapshot]]);
  const columnsNeeded = new Set(columns.map((column) => column.fieldId));
  const table = { tableUuid, formatVersion, location, fields, specs, defaultSpecId, snapshots };
  const { addedAfter } = binding;
  const only = addedAfter === undefined ? {} : { addedAfter: BigInt(addedAfter) };
  return { tenant, table, snapshotId, predicate, allowedRoots, credential, columnsNeeded, ...only };
}

export const readCall = ({ tableName }: ScanBinding, { signal }: Pick<ScanContext, 'signal'>): ReadCall => ({
  tableName,
  signal,
});
