import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '#shared/json.ts';
import { checkFields, checkMembers } from './check-counts.ts';
import { checkDefaults, orderKeys } from './draft.ts';
import {
  asObject,
  get,
  maybe,
  optionalArray,
  optionalInt,
  optionalLong,
  optionalString,
  refuse,
  requiredArray,
  requiredInt,
  requiredLong,
  requiredMillis,
  requiredString,
  stringMap,
} from './json-reader.ts';
import { bindPartitionSpec, lastFieldId, parsePartitionFields, parsePartitionSpec } from './partition-spec.ts';
import { highestFieldId, parseDocumentSchema } from './document-schema.ts';
import { parseEncryptionKey, parseRef, parseSnapshot, parseStatisticsFile } from './snapshot.ts';
import { parseSortOrder, UNSORTED } from './sort-order.ts';
import {
  currentSnapshotId,
  FORMAT_VERSION_MAX,
  MAIN_BRANCH,
  PARTITION_ID_START,
  type PartitionSpec,
  type DocumentSchema,
  type SnapshotRef,
  type TableDocument,
} from './table-document.ts';

/**
 * Parses a metadata document that another catalog or engine wrote, of any format version and age, into the one shape of `TableDocument`.
 * Pure.
 * @throws INVALID_REQUEST when it is not table metadata, or its parts do not fit together.
 */
export function parseTableDocument(json: Json): TableDocument {
  const object = asObject(json, 'table metadata');
  const version = requiredInt(object, 'format-version');
  if (version < 1 || version > FORMAT_VERSION_MAX) refuse(`Cannot read unsupported version ${version}`);
  checkMembers(object);
  const schemas = parseSchemas(object);
  checkFields(schemas);
  const specs = parseSpecs(object);
  const snapshots = (optionalArray(object, 'snapshots') ?? []).map(parseSnapshot);
  const current = currentSnapshotId({ 'current-snapshot-id': optionalLong(object, 'current-snapshot-id') ?? null });
  const metadata: TableDocument = {
    'format-version': version,
    'table-uuid': tableUuid(object, version),
    location: requiredString(object, 'location'),
    'last-sequence-number': version === 1 ? 0 : requiredLong(object, 'last-sequence-number'),
    'last-updated-ms': requiredMillis(object, 'last-updated-ms'),
    'last-column-id': Math.max(requiredInt(object, 'last-column-id'), ...schemas.map(highestFieldId)),
    'current-schema-id': optionalInt(object, 'current-schema-id') ?? schemas[0]?.['schema-id'] ?? 0,
    schemas,
    'default-spec-id': optionalInt(object, 'default-spec-id') ?? 0,
    'partition-specs': specs,
    'last-partition-id': Math.max(
      optionalInt(object, 'last-partition-id') ?? PARTITION_ID_START,
      ...specs.map(lastFieldId),
    ),
    'default-sort-order-id': optionalInt(object, 'default-sort-order-id') ?? 0,
    'sort-orders': optionalArray(object, 'sort-orders')?.map(parseSortOrder) ?? [UNSORTED],
    properties: stringMap(get(object, 'properties'), 'properties'),
    'current-snapshot-id': current ?? null,
    ...(version >= 3 ? { 'next-row-id': requiredLong(object, 'next-row-id') } : {}),
    ...maybe('encryption-keys', optionalArray(object, 'encryption-keys')?.map(parseEncryptionKey)),
    refs: parseRefs(object, current),
    snapshots,
    statistics: (optionalArray(object, 'statistics') ?? []).map(parseStatisticsFile),
    'partition-statistics': (optionalArray(object, 'partition-statistics') ?? []).map(parseStatisticsFile),
    'snapshot-log': (optionalArray(object, 'snapshot-log') ?? []).map((entry) => {
      const log = asObject(entry, 'snapshot log entry');
      return { 'timestamp-ms': requiredMillis(log, 'timestamp-ms'), 'snapshot-id': requiredLong(log, 'snapshot-id') };
    }),
    'metadata-log': (optionalArray(object, 'metadata-log') ?? []).map((entry) => {
      const log = asObject(entry, 'metadata log entry');
      return {
        'timestamp-ms': requiredMillis(log, 'timestamp-ms'),
        'metadata-file': requiredString(log, 'metadata-file'),
      };
    }),
  };
  checkDefaults({ metadata });
  checkReferences(metadata);
  return orderKeys(metadata);
}

/**
 * Returns the table's uuid. A file of version 1 may lack one: then it is derived from the document, so that the same file always gives the
 * same uuid.
 */
function tableUuid(object: JsonObject, version: number): string {
  const uuid = version === 1 ? optionalString(object, 'table-uuid') : requiredString(object, 'table-uuid');
  if (uuid !== undefined) return uuid;
  const hash = createHash('sha256').update(requiredString(object, 'location')).digest('hex');
  // UUID version 8: a custom format.
  return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5');
}

/** Old files of version 1 have one schema and no list. */
function parseSchemas(object: JsonObject): readonly DocumentSchema[] {
  const list = optionalArray(object, 'schemas');
  return list === undefined || list.length === 0
    ? [parseDocumentSchema(get(object, 'schema'))]
    : list.map(parseDocumentSchema);
}

function parseSpecs(object: JsonObject): readonly PartitionSpec[] {
  const known = { specs: [], lastPartitionId: PARTITION_ID_START, formatVersion: 1 };
  const list = optionalArray(object, 'partition-specs');
  if (list !== undefined && list.length > 0) {
    return list.map((json) =>
      bindPartitionSpec(parsePartitionSpec(json), requiredInt(asObject(json, 'partition spec'), 'spec-id'), known),
    );
  }
  return [bindPartitionSpec({ fields: parsePartitionFields(requiredArray(object, 'partition-spec')) }, 0, known)];
}

/** Files older than references have `main` in `current-snapshot-id` alone. */
function parseRefs(
  object: JsonObject,
  current: TableDocument['current-snapshot-id'] | undefined,
): TableDocument['refs'] {
  const refs = Object.entries(asObject(get(object, 'refs') ?? {}, 'refs')).map(([name, ref]): [string, SnapshotRef] => [
    name,
    parseRef(asObject(ref, 'snapshot ref')),
  ]);
  const main: SnapshotRef | undefined =
    current === undefined || current === null || refs.some(([name]) => name === MAIN_BRANCH)
      ? undefined
      : { 'snapshot-id': current, type: 'branch' };
  return Object.fromEntries(main === undefined ? refs : [[MAIN_BRANCH, main], ...refs]);
}

function checkReferences(metadata: TableDocument): void {
  const ids = new Set(metadata.snapshots.map((snapshot) => snapshot['snapshot-id']));
  if (ids.size < metadata.snapshots.length) refuse('Invalid table metadata: two snapshots have one id');
  for (const [name, ref] of Object.entries(metadata.refs)) {
    if (!ids.has(ref['snapshot-id'])) {
      refuse(`Snapshot for reference ${name} does not exist in the existing snapshots list`);
    }
  }
  const current = currentSnapshotId(metadata);
  const main = Object.hasOwn(metadata.refs, MAIN_BRANCH) ? metadata.refs[MAIN_BRANCH]?.['snapshot-id'] : undefined;
  if (main !== current) refuse(`Current snapshot ID does not match main branch (${current ?? -1} != ${main ?? -1})`);
}
