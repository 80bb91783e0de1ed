import type { Json } from '#shared/json.ts';
import {
  asObject,
  get,
  int,
  long,
  refuse,
  requiredArray,
  requiredInt,
  requiredLong,
  requiredString,
  stringList,
  stringMap,
} from './json-reader.ts';
import { parsePartitionSpec, type UnboundSpec } from './partition-spec.ts';
import { parseDocumentSchema } from './document-schema.ts';
import { parseEncryptionKey, parseRef, parseSnapshot, parseStatisticsFile } from './snapshot.ts';
import { parseSortOrder } from './sort-order.ts';
import type {
  EncryptionKey,
  Long,
  Properties,
  DocumentSchema,
  Snapshot,
  SnapshotRef,
  SortOrder,
  StatisticsFile,
} from './table-document.ts';

/** The changes of a commit (REST specification, `TableUpdate`), read and checked in themselves; an id of -1 is the last added one. */
export type Update =
  | { readonly kind: 'assign-uuid'; readonly uuid: string }
  | { readonly kind: 'upgrade-format-version'; readonly version: number }
  | { readonly kind: 'add-schema'; readonly schema: DocumentSchema }
  | { readonly kind: 'set-current-schema'; readonly id: number }
  | { readonly kind: 'add-spec'; readonly spec: UnboundSpec }
  | { readonly kind: 'set-default-spec'; readonly id: number }
  | { readonly kind: 'add-sort-order'; readonly order: SortOrder }
  | { readonly kind: 'set-default-sort-order'; readonly id: number }
  | { readonly kind: 'add-snapshot'; readonly snapshot: Snapshot }
  | { readonly kind: 'set-snapshot-ref'; readonly name: string; readonly ref: SnapshotRef }
  | { readonly kind: 'remove-snapshots'; readonly ids: readonly Long[] }
  | { readonly kind: 'remove-snapshot-ref'; readonly name: string }
  | { readonly kind: 'set-location'; readonly location: string }
  | { readonly kind: 'set-properties'; readonly properties: Properties }
  | { readonly kind: 'remove-properties'; readonly names: readonly string[] }
  | { readonly kind: 'set-statistics' | 'set-partition-statistics'; readonly file: StatisticsFile }
  | { readonly kind: 'remove-statistics' | 'remove-partition-statistics'; readonly snapshotId: Long }
  | { readonly kind: 'remove-partition-specs'; readonly ids: readonly number[] }
  | { readonly kind: 'remove-schemas'; readonly ids: readonly number[] }
  | { readonly kind: 'add-encryption-key'; readonly key: EncryptionKey }
  | { readonly kind: 'remove-encryption-key'; readonly keyId: string };

/** Maximum number of updates of one commit. */
const UPDATES_MAX = 10_000;

/** @throws INVALID_REQUEST on an update that the specification does not have, or of another shape. */
export function parseUpdates(list: readonly Json[]): readonly Update[] {
  if (list.length > UPDATES_MAX) refuse(`Cannot apply more than ${UPDATES_MAX} updates at once`);
  return list.map(parseUpdate);
}

function parseUpdate(json: Json): Update {
  const object = asObject(json, 'update');
  const kind = requiredString(object, 'action');
  switch (kind) {
    case 'assign-uuid':
      return { kind, uuid: requiredString(object, 'uuid') };
    case 'upgrade-format-version':
      return { kind, version: requiredInt(object, 'format-version') };
    case 'add-schema':
      return { kind, schema: parseDocumentSchema(get(object, 'schema')) };
    case 'set-current-schema':
      return { kind, id: requiredInt(object, 'schema-id') };
    case 'add-spec':
      return { kind, spec: parsePartitionSpec(get(object, 'spec') ?? null) };
    case 'set-default-spec':
      return { kind, id: requiredInt(object, 'spec-id') };
    case 'add-sort-order':
      return { kind, order: parseSortOrder(get(object, 'sort-order') ?? null) };
    case 'set-default-sort-order':
      return { kind, id: requiredInt(object, 'sort-order-id') };
    case 'add-snapshot':
      return { kind, snapshot: parseSnapshot(get(object, 'snapshot')) };
    case 'set-snapshot-ref':
      return { kind, name: requiredString(object, 'ref-name'), ref: parseRef(object) };
    case 'remove-snapshots':
      return { kind, ids: requiredArray(object, 'snapshot-ids').map((id) => long(id, 'snapshot-ids')) };
    case 'remove-snapshot-ref':
      return { kind, name: requiredString(object, 'ref-name') };
    case 'set-location':
      return { kind, location: requiredString(object, 'location') };
    case 'set-properties':
      // `updated` and `removed` are the names of the first releases of Iceberg's client.
      return {
        kind,
        properties: stringMap(get(object, 'updates') ?? get(object, 'updated') ?? refuseMissing('updates'), 'updates'),
      };
    case 'remove-properties':
      return {
        kind,
        names: stringList(
          requiredArray(object, get(object, 'removed') === undefined ? 'removals' : 'removed'),
          'removals',
        ),
      };
    case 'set-statistics':
      return { kind, file: parseStatisticsFile(get(object, 'statistics')) };
    case 'set-partition-statistics':
      return { kind, file: parseStatisticsFile(get(object, 'partition-statistics')) };
    case 'remove-statistics':
    case 'remove-partition-statistics':
      return { kind, snapshotId: requiredLong(object, 'snapshot-id') };
    case 'remove-partition-specs':
      return { kind, ids: requiredArray(object, 'spec-ids').map((id) => int(id, 'spec-ids')) };
    case 'remove-schemas':
      return { kind, ids: requiredArray(object, 'schema-ids').map((id) => int(id, 'schema-ids')) };
    case 'add-encryption-key':
      return { kind, key: parseEncryptionKey(get(object, 'encryption-key')) };
    case 'remove-encryption-key':
      return { kind, keyId: requiredString(object, 'key-id') };
    default:
      return refuse(`Cannot convert metadata update action to update: ${kind}`);
  }
}

const refuseMissing = (key: string): never => refuse(`Cannot parse missing map: ${key}`);
