import { bindExpression, ColumnNames } from '#shared/iceberg/bind-expression.ts';
import { parseExpression } from '#shared/iceberg/expression.ts';
import type { Predicate } from '#shared/iceberg/predicate.ts';
import type { Schema } from '#shared/iceberg/schema.ts';
import { currentSchema, snapshotSchema, type Snapshot, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { asObject, get, optionalArray, optionalBoolean, optionalLong, refuse, stringList } from './json-reader.ts';

/**
 * A scan request with everything resolved that could change while its tasks are fetched. It is plain JSON, stored with the plan; snapshot
 * ids are decimal.
 */
export type PlannedScan = {
  /** For `appends` the scan reads the files that its snapshots added, oldest first. A table without data has no snapshot. */
  readonly kind: 'snapshot' | 'appends';
  readonly snapshotIds: readonly string[];
  readonly schemaId: number;
  /** The client's filter, unchanged; `true` when there is none. */
  readonly filter: Json;
  readonly caseSensitive: boolean;
  /** Columns whose statistics the answer includes. */
  readonly statsFieldIds: readonly number[];
};

/** Maximum number of column names in one request. */
const NAMES_MAX = 10_000;

/** `PlanTableScanRequest` of the REST specification. @throws INVALID_REQUEST */
export function resolveScan(body: Json | undefined, metadata: TableMetadata): PlannedScan {
  const object = asObject(body ?? {}, 'plan table scan request');
  const minRows = optionalLong(object, 'min-rows-requested');
  if (minRows !== undefined && minRows < 0) refuse('Invalid min-rows-requested: it is negative');
  const { kind, snapshotIds, readAt } = resolveSnapshots(object, metadata);
  const useSnapshotSchema = optionalBoolean(object, 'use-snapshot-schema') ?? false;
  const schema = useSnapshotSchema ? snapshotSchema(metadata, readAt) : currentSchema(metadata);
  const caseSensitive = optionalBoolean(object, 'case-sensitive') ?? true;
  const columns = new ColumnNames(schema.fields, caseSensitive);
  const names = (key: string): readonly string[] => limited(stringList(optionalArray(object, key) ?? [], key), key);
  for (const name of names('select')) columns.find(name);
  const scan: PlannedScan = {
    kind,
    snapshotIds: snapshotIds.map(String),
    schemaId: schema.schemaId,
    filter: get(object, 'filter') ?? true,
    caseSensitive,
    statsFieldIds: [...new Set(names('stats-fields').map((name) => columns.find(name).fieldId))],
  };
  bindExpression(parseExpression(scan.filter), columns);
  return scan;
}

/** The filter of a scan as a predicate over files. */
export const predicateOf = (scan: PlannedScan, schema: Schema): Predicate =>
  bindExpression(parseExpression(scan.filter), new ColumnNames(schema.fields, scan.caseSensitive));

type Snapshots = {
  readonly kind: PlannedScan['kind'];
  readonly snapshotIds: readonly bigint[];
  /** The snapshot as of which the table is read. */
  readonly readAt: bigint | null;
};

function resolveSnapshots(object: JsonObject, metadata: TableMetadata): Snapshots {
  const id = (key: string): bigint | undefined => {
    const value = optionalLong(object, key);
    return value === undefined ? undefined : BigInt(value);
  };
  const [snapshotId, start, end] = [id('snapshot-id'), id('start-snapshot-id'), id('end-snapshot-id')];
  if (start === undefined && end === undefined) {
    const wanted = snapshotId ?? metadata.currentSnapshotId;
    if (wanted === null) return { kind: 'snapshot', snapshotIds: [], readAt: null };
    requireSnapshot(metadata, wanted);
    return { kind: 'snapshot', snapshotIds: [wanted], readAt: wanted };
  }
  if (snapshotId !== undefined) refuse('Invalid scan: snapshot-id excludes start-snapshot-id and end-snapshot-id');
  if (start === undefined || end === undefined) {
    return refuse('Invalid scan: start-snapshot-id and end-snapshot-id go together');
  }
  requireSnapshot(metadata, start);
  requireSnapshot(metadata, end);
  return { kind: 'appends', snapshotIds: appendsBetween(metadata, start, end), readAt: end };
}

/** Returns the append snapshots after `start` up to and including `end`, oldest first. */
function appendsBetween(metadata: TableMetadata, start: bigint, end: bigint): readonly bigint[] {
  const found: bigint[] = [];
  const seen = new Set<bigint>();
  for (let id: bigint | null = end; id !== start;) {
    const snapshot: Snapshot | undefined = id === null || seen.has(id) ? undefined : metadata.snapshots.get(id);
    if (id === null || snapshot === undefined) {
      return refuse(`Starting snapshot (exclusive) ${start} is not a parent ancestor of end snapshot ${end}`);
    }
    seen.add(id);
    if (snapshot.summary['operation'] === 'append') found.push(id);
    id = snapshot.parentSnapshotId;
  }
  return found.toReversed();
}

function requireSnapshot(metadata: TableMetadata, id: bigint): void {
  if (!metadata.snapshots.has(id)) refuse(`Cannot find snapshot with ID ${id}`);
}

function limited(names: readonly string[], key: string): readonly string[] {
  return names.length > NAMES_MAX ? refuse(`Invalid scan: more than ${NAMES_MAX} ${key}`) : names;
}
