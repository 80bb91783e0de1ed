import { checkCreationTimes } from './check-creation-times.ts';
import type { Json } from '#shared/json.ts';
import { applyUpdate } from './apply-updates.ts';
import { finishDraft, newDraft, type Draft } from './draft.ts';
import {
  asObject,
  get,
  maybe,
  optionalBoolean,
  optionalString,
  refuse,
  requiredString,
  stringMap,
} from './json-reader.ts';
import { parsePartitionSpec, UNPARTITIONED, type UnboundSpec } from './partition-spec.ts';
import { assignFreshIds, fieldsById, parseDocumentSchema } from './document-schema.ts';
import { parseSortOrder, UNSORTED } from './sort-order.ts';
import {
  FORMAT_VERSION_DEFAULT,
  type Properties,
  type DocumentSchema,
  type SortOrder,
  type TableDocument,
} from './table-document.ts';
import type { Update } from './update.ts';

/** Builds a new table's metadata from a create request, or from the updates of a commit that creates. Pure. */

/** `CreateTableRequest` of the REST specification. */
export type CreateTableRequest = {
  readonly name: string;
  readonly location?: string;
  readonly schema: DocumentSchema;
  readonly spec: UnboundSpec;
  readonly order: SortOrder;
  readonly stageCreate: boolean;
  readonly properties: Properties;
};

export function parseCreateTable(body: Json | undefined): CreateTableRequest {
  const object = asObject(body, 'create table request');
  const spec = get(object, 'partition-spec');
  const order = get(object, 'write-order');
  return {
    name: requiredString(object, 'name'),
    ...maybe('location', optionalString(object, 'location')),
    schema: parseDocumentSchema(get(object, 'schema')),
    spec: spec === undefined ? UNPARTITIONED : parsePartitionSpec(spec),
    order: order === undefined ? UNSORTED : parseSortOrder(order),
    stageCreate: optionalBoolean(object, 'stage-create') ?? false,
    properties: stringMap(get(object, 'properties'), 'properties'),
  };
}

/** The owner, creation time, uuid and location of a new table. */
export type Creation = {
  readonly uuid: string;
  readonly location: string;
  readonly nowMs: number;
  /** The user's name, for the property `owner`. */
  readonly owner: string;
};

/** Properties that stand for members of the metadata and are never stored as properties (Iceberg: `RESERVED_PROPERTIES`). */
const RESERVED_PROPERTIES = new Set([
  'format-version',
  'uuid',
  'snapshot-count',
  'current-snapshot-id',
  'current-snapshot-summary',
  'current-snapshot-timestamp-ms',
  'current-schema',
  'default-partition-spec',
  'default-sort-order',
]);

/** Defaults that Iceberg gives to new tables only. */
const NEW_TABLE_PROPERTIES: Properties = { 'write.parquet.compression-codec': 'zstd' };

/**
 * Builds the metadata of a create request. It assigns new ids: field ids from 1, partition fields from 1000, as Iceberg's reference
 * implementation does.
 */
export function newTableMetadata(request: CreateTableRequest, creation: Creation): TableDocument {
  const draft = newDraft({ ...creation, formatVersion: formatVersionOf(request.properties) });
  const known = fieldsById(request.schema);
  const fresh = assignFreshIds(request.schema);
  const newId = (id: number, what: string): number => {
    if (!known.has(id)) refuse(`Cannot find source column for ${what}: ${id}`);
    return fresh.newIds.get(id) ?? id;
  };
  const spec = request.spec.fields.map(({ name, transform, 'source-id': id }) => ({
    name,
    transform,
    'source-id': newId(id, 'partition field'),
    'field-id': undefined,
  }));
  const order = request.order.fields.map((field) => ({
    ...field,
    'source-id': newId(field['source-id'], 'sort field'),
  }));
  applyAll(draft, [
    { kind: 'add-schema', schema: fresh.schema },
    { kind: 'set-current-schema', id: -1 },
    { kind: 'add-spec', spec: { fields: spec } },
    { kind: 'set-default-spec', id: -1 },
    { kind: 'add-sort-order', order: { 'order-id': request.order['order-id'], fields: order } },
    { kind: 'set-default-sort-order', id: -1 },
    { kind: 'set-properties', properties: newTableProperties(request.properties, creation) },
  ]);
  return finishDraft(draft, undefined);
}

/** Builds the metadata of a commit with `assert-create`, which ends a transaction that `stage-create` began. */
export function metadataOfUpdates(updates: readonly Update[], creation: Creation): TableDocument {
  const version = updates.find((update) => update.kind === 'upgrade-format-version')?.version;
  const draft = newDraft({ ...creation, formatVersion: version ?? FORMAT_VERSION_DEFAULT });
  applyAll(draft, updates);
  if (draft.metadata['partition-specs'].length === 0) applyUpdate(draft, { kind: 'add-spec', spec: UNPARTITIONED });
  if (draft.metadata['sort-orders'].length === 0) applyUpdate(draft, { kind: 'add-sort-order', order: UNSORTED });
  draft.metadata.properties = stamped(draft.metadata.properties, creation);
  return finishDraft(draft, undefined);
}

const applyAll = (draft: Draft, updates: readonly Update[]): void => {
  for (const update of updates) applyUpdate(draft, update);
};

function formatVersionOf(properties: Properties): number {
  const text = Object.hasOwn(properties, 'format-version') ? properties['format-version'] : undefined;
  if (text === undefined) return FORMAT_VERSION_DEFAULT;
  return /^\d{1,3}$/.test(text) ? Number(text) : refuse(`Invalid format-version: ${text}`);
}

function newTableProperties(properties: Properties, creation: Creation): Properties {
  checkCreationTimes(properties);
  const kept = Object.entries(properties).filter(([name]) => !RESERVED_PROPERTIES.has(name));
  return stamped({ ...NEW_TABLE_PROPERTIES, ...Object.fromEntries(kept) }, creation);
}

/** Service specification, `tables` view: the owner from the token, the time of creation under both spellings; the client may set either. */
function stamped(properties: Properties, { owner, nowMs }: Creation): Properties {
  const createdAt = properties['created-at'] ?? properties['created_at'] ?? new Date(nowMs).toISOString();
  return { ...properties, owner: properties['owner'] ?? owner, created_at: createdAt, 'created-at': createdAt };
}
