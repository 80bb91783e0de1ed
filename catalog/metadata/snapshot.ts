import type { Json, JsonObject } from '#shared/json.ts';
import {
  asObject,
  maybe,
  optionalArray,
  optionalInt,
  optionalLong,
  optionalString,
  get,
  refuse,
  requiredLong,
  requiredMillis,
  requiredString,
  stringList,
  stringMap,
} from './json-reader.ts';
import type { EncryptionKey, Properties, Snapshot, SnapshotRef, StatisticsFile } from './table-document.ts';

/** Snapshots, references, statistics files: reading. Pure; errors are INVALID_REQUEST. */

/** Parses a snapshot's summary. Some writers leave the operation out; like Iceberg's reader this takes it for an overwrite. */
const parseSummary = (summary: Properties): Properties =>
  Object.keys(summary).length === 0 || Object.hasOwn(summary, 'operation')
    ? summary
    : { operation: 'overwrite', ...summary };

export function parseSnapshot(json: Json | undefined): Snapshot {
  const object = asObject(json, 'snapshot');
  const manifestList = optionalString(object, 'manifest-list');
  const manifests = optionalArray(object, 'manifests');
  if (manifestList === undefined && manifests === undefined) refuse('Cannot parse missing string: manifest-list');
  const summary = get(object, 'summary');
  const firstRowId = optionalLong(object, 'first-row-id');
  const addedRows = optionalLong(object, 'added-rows');
  if (firstRowId !== undefined && (firstRowId < 0 || addedRows === undefined || addedRows < 0)) {
    refuse('Invalid snapshot: first-row-id needs added-rows, and neither may be negative');
  }
  return {
    ...maybe('sequence-number', optionalLong(object, 'sequence-number')),
    'snapshot-id': requiredLong(object, 'snapshot-id'),
    ...maybe('parent-snapshot-id', optionalLong(object, 'parent-snapshot-id')),
    'timestamp-ms': requiredMillis(object, 'timestamp-ms'),
    ...(summary === undefined ? {} : { summary: parseSummary(stringMap(asObject(summary, 'summary'), 'summary')) }),
    ...(manifestList === undefined
      ? { manifests: stringList(manifests ?? [], 'manifests') }
      : { 'manifest-list': manifestList }),
    ...maybe('schema-id', optionalInt(object, 'schema-id')),
    ...maybe('first-row-id', firstRowId),
    ...maybe('added-rows', addedRows),
    ...maybe('key-id', optionalString(object, 'key-id')),
  };
}

/** Members of a reference, as in `refs` of the metadata and in the update `set-snapshot-ref`. */
export function parseRef(object: JsonObject): SnapshotRef {
  const type = requiredString(object, 'type').toLowerCase();
  if (type !== 'branch' && type !== 'tag') return refuse(`Invalid snapshot ref type: ${type}`);
  const minSnapshots = optionalInt(object, 'min-snapshots-to-keep');
  const maxSnapshotAge = optionalLong(object, 'max-snapshot-age-ms');
  const maxRefAge = optionalLong(object, 'max-ref-age-ms');
  if (type === 'tag' && minSnapshots !== undefined) refuse('Tags do not support setting minSnapshotsToKeep');
  if (type === 'tag' && maxSnapshotAge !== undefined) refuse('Tags do not support setting maxSnapshotAgeMs');
  if (minSnapshots !== undefined && minSnapshots <= 0) refuse('Min snapshots to keep must be greater than 0');
  if (maxSnapshotAge !== undefined && maxSnapshotAge <= 0) refuse('Max snapshot age must be greater than 0 ms');
  if (maxRefAge !== undefined && maxRefAge <= 0) refuse('Max reference age must be greater than 0');
  return {
    'snapshot-id': requiredLong(object, 'snapshot-id'),
    type,
    ...maybe('min-snapshots-to-keep', minSnapshots),
    ...maybe('max-snapshot-age-ms', maxSnapshotAge),
    ...maybe('max-ref-age-ms', maxRefAge),
  };
}

export function sameRef(a: SnapshotRef, b: SnapshotRef): boolean {
  return (
    a.type === b.type &&
    a['snapshot-id'] === b['snapshot-id'] &&
    a['min-snapshots-to-keep'] === b['min-snapshots-to-keep'] &&
    a['max-snapshot-age-ms'] === b['max-snapshot-age-ms'] &&
    a['max-ref-age-ms'] === b['max-ref-age-ms']
  );
}

/** A statistics or partition statistics file; its other members are kept as they are. */
export function parseStatisticsFile(json: Json | undefined): StatisticsFile {
  const object = asObject(json, 'statistics');
  return {
    ...object,
    'snapshot-id': requiredLong(object, 'snapshot-id'),
    'statistics-path': requiredString(object, 'statistics-path'),
  };
}

export function parseEncryptionKey(json: Json | undefined): EncryptionKey {
  const object = asObject(json, 'encryption-key');
  requiredString(object, 'encrypted-key-metadata');
  return { ...object, 'key-id': requiredString(object, 'key-id') };
}
