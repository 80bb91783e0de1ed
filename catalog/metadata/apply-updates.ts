import { unreachable } from '#shared/must.ts';
import { hasAll } from './has-all.ts';
import { checkCreationTimes } from './check-creation-times.ts';
import { currentSchema, refuseStale, type Draft } from './draft.ts';
import { refuse } from './json-reader.ts';
import {
  bindPartitionSpec,
  checkNewSpec,
  hasSequentialIds,
  lastFieldId,
  sameSpec,
  type UnboundSpec,
} from './partition-spec.ts';
import { checkSchemaVersion, fieldsById, highestFieldId, schemaText } from './document-schema.ts';
import { sameRef } from './snapshot.ts';
import { checkOrderCompatibility, sameOrder, UNSORTED } from './sort-order.ts';
import {
  addLong,
  FORMAT_VERSION_MAX,
  MAIN_BRANCH,
  sequenceNumber,
  type Long,
  type DocumentSchema,
  type Snapshot,
  type SnapshotRef,
  type SortOrder,
  type StatisticsFile,
} from './table-document.ts';
import type { Update } from './update.ts';

const LAST_ADDED = -1;

/** Maximum number of schemas, of specs and of orders of one table: the search for an identical one is linear. */
const VERSIONS_MAX = 5_000;

/**
 * Applies one update to a draft, as Iceberg's reference implementation does (`TableMetadata.Builder`).
 * @throws INVALID_REQUEST when it does not fit the table; COMMIT_CONFLICT when it was made for an older state of it.
 */
export function applyUpdate(draft: Draft, update: Update): void {
  const { metadata } = draft;
  switch (update.kind) {
    case 'assign-uuid':
      return assignUuid(draft, update.uuid);
    case 'upgrade-format-version':
      return upgradeFormatVersion(draft, update.version);
    case 'add-schema':
      return addSchema(draft, update.schema);
    case 'set-current-schema':
      return setCurrentSchema(draft, update.id);
    case 'add-spec':
      return addSpec(draft, update.spec);
    case 'set-default-spec':
      return setDefaultSpec(draft, update.id);
    case 'add-sort-order':
      return addSortOrder(draft, update.order);
    case 'set-default-sort-order':
      return setDefaultSortOrder(draft, update.id);
    case 'add-snapshot':
      return addSnapshot(draft, update.snapshot);
    case 'set-snapshot-ref':
      return setRef(draft, update.name, update.ref);
    case 'remove-snapshots':
      return removeSnapshots(draft, update.ids);
    case 'remove-snapshot-ref':
      return removeRef(draft, update.name);
    case 'set-location':
      if (metadata.location !== update.location) change(draft, { location: update.location });
      return;
    case 'set-properties':
      // Some clients send what is there already with every run.
      if (hasAll(metadata.properties, update.properties)) return;
      checkCreationTimes(update.properties, metadata.properties);
      return change(draft, { properties: { ...metadata.properties, ...update.properties } });
    case 'remove-properties':
      return removeProperties(draft, update.names);
    case 'set-statistics':
      return change(draft, { statistics: withFile(metadata.statistics, update.file) });
    case 'set-partition-statistics':
      return change(draft, { 'partition-statistics': withFile(metadata['partition-statistics'], update.file) });
    case 'remove-statistics':
      return change(draft, { statistics: withoutFiles(metadata.statistics, [update.snapshotId]) });
    case 'remove-partition-statistics':
      return change(draft, {
        'partition-statistics': withoutFiles(metadata['partition-statistics'], [update.snapshotId]),
      });
    case 'remove-partition-specs':
      if (update.ids.includes(metadata['default-spec-id'])) refuse('Cannot remove the default partition spec');
      return change(draft, {
        'partition-specs': metadata['partition-specs'].filter((spec) => !update.ids.includes(spec['spec-id'])),
      });
    case 'remove-schemas':
      if (update.ids.includes(metadata['current-schema-id'])) refuse('Cannot remove the current schema');
      return change(draft, { schemas: metadata.schemas.filter((s) => !update.ids.includes(s['schema-id'])) });
    case 'add-encryption-key': {
      const keys = metadata['encryption-keys'] ?? [];
      if (keys.some((key) => key['key-id'] === update.key['key-id'])) return;
      return change(draft, { 'encryption-keys': [...keys, update.key] });
    }
    case 'remove-encryption-key':
      return change(draft, {
        'encryption-keys': (metadata['encryption-keys'] ?? []).filter((key) => key['key-id'] !== update.keyId),
      });
    default:
      return unreachable(update, 'update');
  }
}

function change(draft: Draft, members: Partial<Draft['metadata']>): void {
  Object.assign(draft.metadata, members);
  draft.changed = true;
}

function assignUuid(draft: Draft, uuid: string): void {
  if (draft.metadata['table-uuid'].toLowerCase() === uuid.toLowerCase()) return;
  // The specification calls it unsafe to change the uuid of a table that has one.
  if (draft.base !== undefined) refuse(`Cannot reassign the table's uuid ${draft.metadata['table-uuid']}`);
  change(draft, { 'table-uuid': uuid });
}

function upgradeFormatVersion(draft: Draft, version: number): void {
  const now = draft.metadata['format-version'];
  if (version > FORMAT_VERSION_MAX) {
    refuse(`Cannot upgrade table to unsupported format version: v${version} (supported: v${FORMAT_VERSION_MAX})`);
  }
  if (version < now) refuse(`Cannot downgrade v${now} table to v${version}`);
  if (version !== now) change(draft, { 'format-version': version });
}

function addSchema(draft: Draft, schema: DocumentSchema): void {
  const { metadata } = draft;
  checkSchemaVersion(schema, metadata['format-version']);
  const text = schemaText(schema);
  const same = metadata.schemas.find((known) => knownText(draft, known) === text);
  if (same !== undefined) {
    draft.lastAddedSchemaId = same['schema-id'];
    return;
  }
  checkVersions(metadata.schemas.length, 'schemas');
  const id = nextId(metadata.schemas, 'schema-id', metadata['current-schema-id']);
  change(draft, {
    schemas: [...metadata.schemas, { ...schema, 'schema-id': id }],
    'last-column-id': Math.max(metadata['last-column-id'], highestFieldId(schema)),
  });
  draft.lastAddedSchemaId = id;
}

function knownText(draft: Draft, schema: DocumentSchema): string {
  const text = draft.schemaTexts.get(schema) ?? schemaText(schema);
  draft.schemaTexts.set(schema, text);
  return text;
}

function setCurrentSchema(draft: Draft, wanted: number): void {
  const id = lastAdded(wanted, draft.lastAddedSchemaId, 'Cannot set last added schema: no schema has been added');
  if (draft.metadata['current-schema-id'] === id) return;
  if (!draft.metadata.schemas.some((schema) => schema['schema-id'] === id)) {
    refuse(`Cannot set current schema to unknown schema: ${id}`);
  }
  change(draft, { 'current-schema-id': id });
}

function addSpec(draft: Draft, spec: UnboundSpec): void {
  const { metadata } = draft;
  const specs = metadata['partition-specs'];
  const same = specs.find((known) => sameSpec(known, spec));
  if (same !== undefined) {
    draft.lastAddedSpecId = same['spec-id'];
    return;
  }
  checkVersions(specs.length, 'partition specs');
  const bound = bindPartitionSpec(spec, nextId(specs, 'spec-id', 0), {
    specs,
    lastPartitionId: metadata['last-partition-id'],
    formatVersion: metadata['format-version'],
  });
  requireSchema(draft);
  checkNewSpec(bound, currentSchema(metadata));
  if (metadata['format-version'] === 1 && !hasSequentialIds(bound)) {
    refuse('Spec does not use sequential IDs that are required in v1');
  }
  change(draft, {
    'partition-specs': [...specs, bound],
    'last-partition-id': Math.max(metadata['last-partition-id'], lastFieldId(bound)),
  });
  draft.lastAddedSpecId = bound['spec-id'];
}

function setDefaultSpec(draft: Draft, wanted: number): void {
  const id = lastAdded(wanted, draft.lastAddedSpecId, 'Cannot set last added spec: no spec has been added');
  if (draft.metadata['default-spec-id'] === id) return;
  if (!draft.metadata['partition-specs'].some((spec) => spec['spec-id'] === id)) {
    refuse(`Cannot set default partition spec to unknown spec: ${id}`);
  }
  change(draft, { 'default-spec-id': id });
}

function addSortOrder(draft: Draft, order: SortOrder): void {
  const { metadata } = draft;
  const orders = metadata['sort-orders'];
  const same = orders.find((known) => sameOrder(known, order));
  if (same !== undefined) {
    draft.lastAddedOrderId = same['order-id'];
    return;
  }
  checkVersions(orders.length, 'sort orders');
  requireSchema(draft);
  checkOrderCompatibility(order, fieldsById(currentSchema(metadata)));
  const id = order.fields.length === 0 ? UNSORTED['order-id'] : nextId(orders, 'order-id', 1);
  change(draft, { 'sort-orders': [...orders, { ...order, 'order-id': id }] });
  draft.lastAddedOrderId = id;
}

function setDefaultSortOrder(draft: Draft, wanted: number): void {
  const id = lastAdded(
    wanted,
    draft.lastAddedOrderId,
    'Cannot set last added sort order: no sort order has been added',
  );
  if (draft.metadata['default-sort-order-id'] === id) return;
  if (!draft.metadata['sort-orders'].some((order) => order['order-id'] === id)) {
    refuse(`Cannot set default sort order to unknown order: ${id}`);
  }
  change(draft, { 'default-sort-order-id': id });
}

function addSnapshot(draft: Draft, snapshot: Snapshot): void {
  const { metadata } = draft;
  const version = metadata['format-version'];
  if (metadata.schemas.length === 0) refuse('Attempting to add a snapshot before a schema is added');
  if (metadata['partition-specs'].length === 0) refuse('Attempting to add a snapshot before a partition spec is added');
  if (metadata['sort-orders'].length === 0) refuse('Attempting to add a snapshot before a sort order is added');
  const id = snapshot['snapshot-id'];
  if (metadata.snapshots.some((known) => known['snapshot-id'] === id)) refuse(`Snapshot already exists for id: ${id}`);
  if (version > 1 && snapshot['manifest-list'] === undefined) refuse('Cannot parse missing string: manifest-list');
  const last = metadata['last-sequence-number'] ?? 0;
  if (version > 1 && sequenceNumber(snapshot) <= last && snapshot['parent-snapshot-id'] !== undefined) {
    refuseStale(
      `Cannot add snapshot with sequence number ${sequenceNumber(snapshot)} older than last sequence number ${last}`,
    );
  }
  if (version >= 3) addRows(draft, snapshot);
  change(draft, {
    snapshots: [...metadata.snapshots, snapshot],
    // A snapshot without a parent may be older than the last one; the number of the table never falls.
    'last-sequence-number': sequenceNumber(snapshot) > last ? sequenceNumber(snapshot) : last,
  });
  draft.addedSnapshots.add(id);
}

/** Format version 3: assigns row ids to the rows of the snapshot, from `next-row-id` on. */
function addRows(draft: Draft, snapshot: Snapshot): void {
  const next = draft.metadata['next-row-id'] ?? 0;
  const { 'first-row-id': first, 'added-rows': added } = snapshot;
  if (first === undefined || added === undefined) return refuse('Cannot add a snapshot: first-row-id is null');
  if (first < next) {
    refuseStale(`Cannot add a snapshot, first-row-id is behind table next-row-id: ${first} < ${next}`);
  }
  change(draft, { 'next-row-id': addLong(first, added) });
}

function setRef(draft: Draft, name: string, ref: SnapshotRef): void {
  const { metadata } = draft;
  const existing = Object.hasOwn(metadata.refs, name) ? metadata.refs[name] : undefined;
  if (existing !== undefined && sameRef(existing, ref)) return;
  const id = ref['snapshot-id'];
  const snapshot = metadata.snapshots.find((known) => known['snapshot-id'] === id);
  if (snapshot === undefined) return refuse(`Cannot set ${name} to unknown snapshot: ${id}`);
  if (name === MAIN_BRANCH) {
    if (ref.type !== 'branch') refuse(`Cannot set ${MAIN_BRANCH} to a tag, it must be a branch`);
    const time = draft.addedSnapshots.has(id) ? snapshot['timestamp-ms'] : draft.nowMs;
    draft.mainWas.add(id);
    change(draft, {
      'current-snapshot-id': id,
      'snapshot-log': [...metadata['snapshot-log'], { 'timestamp-ms': time, 'snapshot-id': id }],
    });
  }
  change(draft, { refs: { ...metadata.refs, [name]: ref } });
}

function removeRef(draft: Draft, name: string): void {
  const { metadata } = draft;
  if (!Object.hasOwn(metadata.refs, name)) return;
  if (name === MAIN_BRANCH) change(draft, { 'current-snapshot-id': null });
  change(draft, { refs: Object.fromEntries(Object.entries(metadata.refs).filter(([key]) => key !== name)) });
}

function removeSnapshots(draft: Draft, ids: readonly Long[]): void {
  const { metadata } = draft;
  const removed = new Set(ids);
  const kept = metadata.snapshots.filter((snapshot) => !removed.has(snapshot['snapshot-id']));
  if (kept.length === metadata.snapshots.length) return;
  draft.removedSnapshots = true;
  change(draft, {
    snapshots: kept,
    statistics: withoutFiles(metadata.statistics, ids),
    'partition-statistics': withoutFiles(metadata['partition-statistics'], ids),
  });
  for (const [name, ref] of Object.entries(metadata.refs)) {
    if (removed.has(ref['snapshot-id'])) removeRef(draft, name);
  }
}

function removeProperties(draft: Draft, names: readonly string[]): void {
  if (!names.some((name) => Object.hasOwn(draft.metadata.properties, name))) return;
  const removed = new Set(names);
  const kept = Object.entries(draft.metadata.properties).filter(([name]) => !removed.has(name));
  change(draft, { properties: Object.fromEntries(kept) });
}

const withFile = (files: readonly StatisticsFile[], file: StatisticsFile): readonly StatisticsFile[] => [
  ...withoutFiles(files, [file['snapshot-id']]),
  file,
];
function withoutFiles(files: readonly StatisticsFile[], ids: readonly Long[]): readonly StatisticsFile[] {
  const removed = new Set(ids);
  return files.filter((file) => !removed.has(file['snapshot-id']));
}

function lastAdded(id: number, last: number | undefined, message: string): number {
  return id === LAST_ADDED ? (last ?? refuse(message)) : id;
}

/** Returns the highest id plus one, or `first` when there are no items. */
const nextId = <K extends string>(items: readonly { readonly [P in K]: number }[], key: K, first: number): number =>
  items.reduce((next, item) => Math.max(next, item[key] + 1), first);

function checkVersions(count: number, what: string): void {
  if (count >= VERSIONS_MAX) refuse(`Cannot add more than ${VERSIONS_MAX} ${what} to a table`);
}

function requireSchema({ metadata }: Draft): void {
  if (!metadata.schemas.some((schema) => schema['schema-id'] === metadata['current-schema-id'])) {
    refuse('Cannot add a partition spec or sort order before a schema is added');
  }
}
