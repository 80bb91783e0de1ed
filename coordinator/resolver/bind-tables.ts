import { SkeinError } from '#shared/error.ts';
import { snapshotSchema, type Snapshot, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import { scanColumn } from '#shared/iceberg/scan-column.ts';
import { must } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { SqlField } from '../planner/sql-type.ts';
import { fieldType } from './iceberg-sql-type.ts';
import { missingTable } from './missing-table.ts';
import type { TableReference, TimeTravel } from './query-references.ts';
import type { TableRows } from '../rows/table-rows.ts';
import type { ScanBinding } from './scan-binding.ts';
import type { RowsBinding } from './table-binding.ts';
import { NO_POLICIES } from './table-policies.ts';
import { requireTableAction, type LoadedTable, type TableName, type TableSource } from './table-source.ts';

type FoundTable = Extract<LoadedTable, { kind: 'found' }>;

/** A table with its snapshot and columns fixed; the plan says later which of them are read. */
export type BoundTable = BoundScan | RowsBinding;

export type BoundScan = Omit<ScanBinding, 'predicate' | 'readFieldIds'> & {
  readonly schema: Schema;
  /** The schema's fields as DuckDB sees them. */
  readonly sqlFields: readonly SqlField[];
};

export type BindRequest = {
  readonly references: readonly TableReference[];
  readonly defaults: { readonly catalog: string; readonly schema: string };
  readonly source: TableSource;
  /** Rows by the name that replaces their statement; they hide tables of the same name. */
  readonly rows: ReadonlyMap<string, TableRows>;
  readonly signal: AbortSignal;
};

/**
 * Resolves every table name, once per statement and all in one call. Two parts are schema and table of the current catalog, three
 * are catalog, schema and table; dots inside of a (quoted) schema separate its levels.
 * @throws TABLE_NOT_FOUND, SCHEMA_NOT_FOUND, CATALOG_NOT_FOUND, NOT_SUPPORTED; positions are byte offsets in the query.
 */
export async function bindTables(request: BindRequest): Promise<readonly BoundTable[]> {
  const { references, rows } = request;
  if (references.length === 0) return [];
  const names = references.map((reference) => rowsOf(reference, rows) ?? tableName(reference, request.defaults));
  const unique = new Map(names.flatMap((name) => ('kind' in name ? [] : [[keyOf(name), name] as const])));
  const loaded = unique.size === 0 ? [] : await request.source.loadTables([...unique.values()], request.signal);
  const byKey = new Map([...unique.keys()].map((key, i) => [key, must(loaded[i], 'one answer for each name')]));
  const width = { columns: 0 };
  const bound: BoundTable[] = [];
  for (const [i, reference] of references.entries()) {
    const name = must(names[i], 'one name for each reference');
    if ('kind' in name) {
      bound.push(name);
      continue;
    }
    const table = must(byKey.get(keyOf(name)), 'one answer for each name');
    if (table.kind === 'missing') throw at(await missingTable(name, table.code, request.source), reference.location);
    try {
      bound.push(bindTable(name, table, { travel: reference.at, width }));
    } catch (error) {
      throw at(error, reference.location);
    }
  }
  return bound;
}

function rowsOf({ parts }: TableReference, rows: BindRequest['rows']): RowsBinding | undefined {
  const found = parts.length === 1 ? rows.get(parts[0] ?? '') : undefined;
  return found === undefined ? undefined : { kind: 'rows', rows: found, policies: NO_POLICIES };
}

/** Columns of all tables of a statement; a table counts as often as it is named. */
const COLUMNS_MAX = 50_000;

const keyOf = (name: TableName): string => JSON.stringify([name.catalog, name.namespace, name.table]);

function tableName({ parts, location }: TableReference, defaults: BindRequest['defaults']): TableName {
  const [table = '', schema = defaults.schema, catalog = defaults.catalog] = parts.toReversed();
  const written = parts.join('.');
  // DuckDB knows these names and the catalog does not: the catalog is not asked, whatever their case.
  if (parts.length < 3 && RESERVED.test(parts.length === 1 ? table : schema)) {
    throw notFound('TABLE_NOT_FOUND', `table ${written} does not exist`, location);
  }
  if (parts.length < 3 && catalog === '') {
    throw notFound('CATALOG_NOT_FOUND', `no catalog is chosen: name ${written} as catalog.schema.table`, location);
  }
  if (schema === '')
    throw notFound('SCHEMA_NOT_FOUND', `no schema is chosen: name ${written} with its schema`, location);
  if (foldIdentifier(schema) === 'information_schema') {
    throw notFound('TABLE_NOT_FOUND', `table ${written} does not exist`, location);
  }
  return { catalog, namespace: schema.split('.'), table };
}

const RESERVED = /^(?:sqlite_(?:temp_)?(?:master|schema)|pg_catalog|pg_class|duckdb_\w+|pragma_\w+)$/i;

function bindTable(
  name: TableName,
  table: FoundTable,
  { travel, width }: { readonly travel: TimeTravel | null; readonly width: { columns: number } },
): BoundScan {
  const written = [name.catalog, ...name.namespace, name.table].join('.');
  requireTableAction(table, 'table.select');
  if (table.policies.length > 0) {
    throw new SkeinError('NOT_SUPPORTED', `table ${written} has policies that this coordinator cannot apply`);
  }
  const { metadata } = table;
  const snapshot = travel === null ? currentSnapshot(metadata) : travelTo(metadata, travel, written);
  const schema = snapshotSchema(metadata, snapshot?.snapshotId ?? null);
  width.columns += schema.fields.length;
  if (width.columns > COLUMNS_MAX) {
    throw new SkeinError('STATEMENT_TOO_COMPLEX', `the tables of the statement have more than ${COLUMNS_MAX} columns`);
  }
  refuseCaseTwins(schema, written);
  return {
    kind: 'iceberg',
    name: table.name,
    tableName: [table.name.catalog, ...table.name.namespace, table.name.table].join('.'),
    tableUuid: metadata.tableUuid,
    version: table.version,
    metadata,
    snapshotId: snapshot === null ? null : snapshot.snapshotId.toString(),
    schemaId: schema.schemaId,
    columns: schema.fields.map(scanColumn),
    allowedRoots: table.allowedRoots,
    credential: table.credential,
    policies: { version: table.policyVersion, policies: [] },
    rowCount: snapshot === null ? 0 : rowCount(snapshot),
    schema,
    sqlFields: schema.fields.map(fieldType),
  };
}

function currentSnapshot(metadata: TableMetadata): Snapshot | null {
  if (metadata.currentSnapshotId === null) return null;
  return metadata.snapshots.get(metadata.currentSnapshotId) ?? missingSnapshot(metadata.currentSnapshotId.toString());
}

function travelTo(metadata: TableMetadata, travel: TimeTravel, table: string): Snapshot {
  if (travel.kind === 'timestamp') {
    const entry = metadata.snapshotLog.findLast((one) => BigInt(one.timestampMs) * 1000n <= BigInt(travel.micros));
    if (entry === undefined) throw new SkeinError('INVALID_REQUEST', `table ${table} has no snapshot at that time`);
    return metadata.snapshots.get(entry.snapshotId) ?? missingSnapshot(entry.snapshotId.toString());
  }
  const { version } = travel;
  const id = metadata.refs.get(version)?.snapshotId ?? (/^\d{1,19}$/.test(version) ? BigInt(version) : undefined);
  const snapshot = id === undefined ? undefined : metadata.snapshots.get(id);
  if (snapshot === undefined) throw new SkeinError('INVALID_REQUEST', `table ${table} has no version ${version}`);
  return snapshot;
}

function missingSnapshot(id: string): never {
  throw new SkeinError('INVALID_TABLE_DATA', `the table's metadata lacks its snapshot ${id}`);
}

/** SQL ignores the case of identifiers, so one of two columns that differ in case only could never be named. */
function refuseCaseTwins(schema: Schema, table: string): void {
  const seen = new Map<string, string>();
  for (const { name } of schema.fields) {
    const twin = seen.get(foldIdentifier(name));
    if (twin !== undefined) {
      const message = `table ${table} cannot be read: its columns ${twin} and ${name} differ only in case`;
      throw new SkeinError('NOT_SUPPORTED', message);
    }
    seen.set(foldIdentifier(name), name);
  }
}

/** Rows by the snapshot's summary without position deletes; equality deletes are ignored, because their number of rows is unknown. */
function rowCount({ summary }: Snapshot): number | null {
  const total = Number(summary['total-records'] ?? Number.NaN);
  const deleted = Number(summary['total-position-deletes'] ?? 0);
  return Number.isFinite(total) && total >= 0 ? Math.max(0, total - (Number.isFinite(deleted) ? deleted : 0)) : null;
}

const notFound = (code: 'TABLE_NOT_FOUND' | 'SCHEMA_NOT_FOUND' | 'CATALOG_NOT_FOUND', text: string, position: number) =>
  new SkeinError(code, text, { position });

/** Adds the position of the name to an error. */
function at(thrown: unknown, position: number): SkeinError {
  const error = SkeinError.of(thrown);
  return new SkeinError(error.code, error.message, { position: error.position ?? position, cause: error.cause });
}
