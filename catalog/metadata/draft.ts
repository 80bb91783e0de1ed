import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { refuse } from './json-reader.ts';
import { checkSpecCompatibility } from './partition-spec.ts';
import { fieldsById } from './document-schema.ts';
import { checkOrderCompatibility } from './sort-order.ts';
import {
  currentSnapshotId,
  FORMAT_VERSION_MAX,
  type Long,
  type MetadataLogEntry,
  type DocumentSchema,
  type SnapshotLogEntry,
  type TableDocument,
} from './table-document.ts';

/**
 * Table metadata while updates are applied to it, with the state that `-1` (last added) and the snapshot log need. The lists of `metadata`
 * are replaced, never changed in place: they may belong to the base.
 */
export type Draft = {
  readonly base: TableDocument | undefined;
  readonly nowMs: number;
  metadata: { -readonly [K in keyof TableDocument]: TableDocument[K] };
  changed: boolean;
  lastAddedSchemaId: number | undefined;
  lastAddedSpecId: number | undefined;
  lastAddedOrderId: number | undefined;
  /** Cached texts of the schemas, because every added schema is compared with all of them. */
  readonly schemaTexts: Map<DocumentSchema, string>;
  readonly addedSnapshots: Set<Long>;
  /** Snapshots of this commit that `main` pointed to at some time. */
  readonly mainWas: Set<Long>;
  removedSnapshots: boolean;
};

export function draftOf(base: TableDocument, nowMs: number): Draft {
  return { ...emptyTracking(), base, nowMs, metadata: { ...base } };
}

/** Returns the draft of a new table: empty but for its format version, uuid, location and time. */
export function newDraft(options: { formatVersion: number; uuid: string; location: string; nowMs: number }): Draft {
  const { formatVersion, uuid, location, nowMs } = options;
  if (formatVersion < 1 || formatVersion > FORMAT_VERSION_MAX) {
    refuse(`Unsupported format version: v${formatVersion} (supported: v${FORMAT_VERSION_MAX})`);
  }
  return {
    ...emptyTracking(),
    base: undefined,
    nowMs,
    changed: true,
    metadata: {
      'format-version': formatVersion,
      'table-uuid': uuid,
      location,
      'last-sequence-number': 0,
      'last-updated-ms': nowMs,
      'last-column-id': 0,
      'current-schema-id': 0,
      schemas: [],
      'default-spec-id': 0,
      'partition-specs': [],
      'last-partition-id': 0,
      'default-sort-order-id': 0,
      'sort-orders': [],
      properties: {},
      'current-snapshot-id': null,
      'next-row-id': 0,
      refs: {},
      snapshots: [],
      statistics: [],
      'partition-statistics': [],
      'snapshot-log': [],
      'metadata-log': [],
    },
  };
}

const emptyTracking = () => ({
  changed: false,
  lastAddedSchemaId: undefined,
  lastAddedSpecId: undefined,
  lastAddedOrderId: undefined,
  schemaTexts: new Map<DocumentSchema, string>(),
  addedSnapshots: new Set<Long>(),
  mainWas: new Set<Long>(),
  removedSnapshots: false,
});

/** Iceberg's clock tolerance between writers. */
const CLOCK_SKEW_MS = 60_000;
const PREVIOUS_VERSIONS_DEFAULT = 100;

/**
 * Returns the finished metadata, its keys in the order that Iceberg writes; the base itself when nothing changed. The metadata log gets
 * `previousLocation`, the file that the new metadata replaces.
 * @throws INVALID_REQUEST when the parts do not fit together.
 */
export function finishDraft(draft: Draft, previousLocation: string | undefined): TableDocument {
  const { base, metadata } = draft;
  if (base !== undefined && !draft.changed) return base;
  checkDefaults(draft);
  const lastUpdatedMs = Math.max(draft.nowMs, base?.['last-updated-ms'] ?? 0);
  const snapshotLog = finishSnapshotLog(draft);
  checkTimes(snapshotLog, lastUpdatedMs);
  return orderKeys({
    ...metadata,
    'last-updated-ms': lastUpdatedMs,
    'snapshot-log': snapshotLog,
    'metadata-log':
      base === undefined || previousLocation === undefined
        ? metadata['metadata-log']
        : addPreviousFile(metadata, { 'timestamp-ms': base['last-updated-ms'], 'metadata-file': previousLocation }),
  });
}

/** Returns the metadata with just the members of its format version, in Iceberg's order. */
export function orderKeys(metadata: TableDocument): TableDocument {
  const version = metadata['format-version'];
  const keys = metadata['encryption-keys'] ?? [];
  const snapshot = currentSnapshotId(metadata);
  return {
    'format-version': version,
    'table-uuid': metadata['table-uuid'],
    location: metadata.location,
    ...(version > 1 ? { 'last-sequence-number': metadata['last-sequence-number'] ?? 0 } : {}),
    'last-updated-ms': metadata['last-updated-ms'],
    'last-column-id': metadata['last-column-id'],
    ...(version === 1 ? { schema: currentSchema(metadata) } : {}),
    'current-schema-id': metadata['current-schema-id'],
    schemas: metadata.schemas,
    ...(version === 1 ? { 'partition-spec': defaultSpec(metadata).fields } : {}),
    'default-spec-id': metadata['default-spec-id'],
    'partition-specs': metadata['partition-specs'],
    'last-partition-id': metadata['last-partition-id'],
    'default-sort-order-id': metadata['default-sort-order-id'],
    'sort-orders': metadata['sort-orders'],
    properties: metadata.properties,
    'current-snapshot-id': snapshot ?? (version >= 3 ? null : -1),
    ...(version >= 3 ? { 'next-row-id': metadata['next-row-id'] ?? 0 } : {}),
    ...(keys.length === 0 ? {} : { 'encryption-keys': keys }),
    refs: metadata.refs,
    snapshots: metadata.snapshots,
    statistics: metadata.statistics,
    'partition-statistics': metadata['partition-statistics'],
    'snapshot-log': metadata['snapshot-log'],
    'metadata-log': metadata['metadata-log'],
  };
}

export const currentSchema = (metadata: TableDocument) =>
  must(
    metadata.schemas.find((schema) => schema['schema-id'] === metadata['current-schema-id']),
    'the current schema is checked',
  );
const defaultSpec = (metadata: TableDocument) =>
  must(
    metadata['partition-specs'].find((spec) => spec['spec-id'] === metadata['default-spec-id']),
    'the default spec is checked',
  );

/** Checks that the current schema, default spec and default order exist, and that spec and order fit the schema. */
export function checkDefaults({ metadata }: Pick<Draft, 'metadata'>): void {
  const schema = metadata.schemas.find((s) => s['schema-id'] === metadata['current-schema-id']);
  const spec = metadata['partition-specs'].find((s) => s['spec-id'] === metadata['default-spec-id']);
  const order = metadata['sort-orders'].find((o) => o['order-id'] === metadata['default-sort-order-id']);
  if (schema === undefined) return refuse(`Cannot find current schema: ${metadata['current-schema-id']}`);
  if (spec === undefined) return refuse(`Cannot find default partition spec: ${metadata['default-spec-id']}`);
  if (order === undefined) return refuse(`Cannot find default sort order: ${metadata['default-sort-order-id']}`);
  const byId = fieldsById(schema);
  checkSpecCompatibility(spec, byId);
  checkOrderCompatibility(order, byId);
}

/**
 * Completes the snapshot log. A snapshot that was current only between two updates of one commit does not enter it; entries before a
 * removed snapshot are cut, because time travel over the gap would read a wrong snapshot.
 */
function finishSnapshotLog(draft: Draft): readonly SnapshotLogEntry[] {
  const { metadata, addedSnapshots, mainWas } = draft;
  const current = currentSnapshotId(metadata);
  const isIntermediate = (id: Long): boolean => id !== current && addedSnapshots.has(id) && mainWas.has(id);
  if (!draft.removedSnapshots && ![...mainWas].some(isIntermediate)) return metadata['snapshot-log'];
  const present = new Set(metadata.snapshots.map((snapshot) => snapshot['snapshot-id']));
  let log: SnapshotLogEntry[] = [];
  for (const entry of metadata['snapshot-log']) {
    if (present.has(entry['snapshot-id'])) {
      if (!isIntermediate(entry['snapshot-id'])) log.push(entry);
    } else if (draft.removedSnapshots) {
      log = [];
    }
  }
  if (current !== undefined && log.at(-1)?.['snapshot-id'] !== current) {
    refuse('Cannot set invalid snapshot log: latest entry is not the current snapshot');
  }
  return log;
}

/** Checks that times do not run backwards by more than the tolerance: readers refuse such metadata. */
function checkTimes(log: readonly SnapshotLogEntry[], lastUpdatedMs: number): void {
  let before = 0;
  for (const { 'timestamp-ms': time } of log) {
    if (time < before - CLOCK_SKEW_MS) refuse('[BUG] Expected sorted snapshot log entries.');
    before = time;
  }
  if (lastUpdatedMs < before - CLOCK_SKEW_MS) {
    refuse(`Invalid update timestamp ${lastUpdatedMs}: before last snapshot log entry at ${before}`);
  }
}

function addPreviousFile(metadata: TableDocument, entry: MetadataLogEntry): readonly MetadataLogEntry[] {
  const text = metadata.properties['write.metadata.previous-versions-max'];
  const wanted = text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : PREVIOUS_VERSIONS_DEFAULT;
  return [...metadata['metadata-log'], entry].slice(-Math.max(1, wanted));
}

/**
 * Throws COMMIT_CONFLICT for a commit whose own values (sequence number, row id) are older than the table: the client must rebuild it, so
 * it is not a bad request.
 */
export function refuseStale(why: string): never {
  throw new SkeinError('COMMIT_CONFLICT', `Validation failed, please retry: ${why}`);
}
