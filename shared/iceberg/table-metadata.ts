import { SkeinError } from '#shared/error.ts';
import { int64, parseJson, printJson, type Json, type JsonObject } from '#shared/json.ts';
import { parsePartitionFields, parsePartitionSpec, type PartitionSpec } from './partition-spec.ts';
import { parseSortFields, type SortField } from './sort-order.ts';
import { parseSchema, type Schema } from './schema.ts';
import { invalid, isObject, smallInteger, walkFields, type Field } from './type.ts';

/** A table's metadata document, format versions 1 to 3, as far as readers and writers of data need it. */
export type TableMetadata = {
  readonly formatVersion: 1 | 2 | 3;
  readonly tableUuid: string;
  readonly location: string;
  readonly lastSequenceNumber: bigint;
  /** Format version 3: the id that the next new row gets. */
  readonly nextRowId: bigint;
  /** Highest field id ever assigned. */
  readonly lastColumnId: number;
  readonly lastPartitionId: number;
  readonly schemas: readonly Schema[];
  readonly currentSchemaId: number;
  readonly specs: readonly PartitionSpec[];
  readonly defaultSpecId: number;
  readonly defaultSortOrderId: number;
  /** The default sort order; empty: unsorted. */
  readonly sortOrder: readonly SortField[];
  readonly properties: Readonly<Record<string, string>>;
  readonly currentSnapshotId: bigint | null;
  readonly snapshots: ReadonlyMap<bigint, Snapshot>;
  /** Branches and tags by name. */
  readonly refs: ReadonlyMap<string, SnapshotRef>;
  /** The time at which each snapshot became the current one, oldest first. */
  readonly snapshotLog: readonly { readonly timestampMs: number; readonly snapshotId: bigint }[];
  /** Every field of any schema, by id. The current schema's form of a field wins, then the newest. */
  readonly fields: ReadonlyMap<number, Field>;
  /** Distinct values of columns by their field ids, of each snapshot whose statistics file says them. */
  readonly distinctCounts: ReadonlyMap<bigint, ReadonlyMap<number, number>>;
  /** Statistics of snapshots, and earlier metadata documents. */
  readonly otherFiles: readonly string[];
  /** Property `schema.name-mapping.default`, parsed; null when absent. */
  readonly nameMapping: Json;
};

export type SnapshotRef = {
  readonly snapshotId: bigint;
  readonly type: 'branch' | 'tag';
  readonly retention: Retention;
};

/** How long a branch or tag, and the snapshots of a branch, are kept; what is absent follows the table's properties. */
type Retention = { readonly [K in (typeof RETENTION)[number]]?: number };
const RETENTION = ['max-ref-age-ms', 'max-snapshot-age-ms', 'min-snapshots-to-keep'] as const;

export type Snapshot = {
  readonly snapshotId: bigint;
  readonly parentSnapshotId: bigint | null;
  readonly sequenceNumber: bigint;
  readonly timestampMs: number;
  /** Null in the oldest tables, which list their manifests in the metadata. */
  readonly manifestList: string | null;
  readonly manifests: readonly string[];
  readonly summary: Readonly<Record<string, string>>;
  readonly schemaId: number | null;
};

/** @throws INVALID_TABLE_DATA when the document is not a table's metadata; NOT_SUPPORTED when its format version is newer than 3. */
export function parseTableMetadata(text: string): TableMetadata {
  let json: Json;
  try {
    json = parseJson(text);
  } catch (cause) {
    throw new SkeinError('INVALID_TABLE_DATA', 'table metadata is not JSON', { cause });
  }
  if (!isObject(json)) throw invalid('table metadata is not an object');
  return readTableMetadata(json);
}

export function readTableMetadata(json: JsonObject): TableMetadata {
  const formatVersion = smallInteger(json['format-version'], 'format-version');
  if (formatVersion < 1 || formatVersion > 3) {
    throw new SkeinError('NOT_SUPPORTED', `Iceberg format version ${formatVersion} is not supported`);
  }
  const schemas = Array.isArray(json['schemas'])
    ? (json['schemas'] as readonly Json[]).map(parseSchema)
    : [parseSchema(json['schema'])];
  const specs = Array.isArray(json['partition-specs'])
    ? (json['partition-specs'] as readonly Json[]).map(parsePartitionSpec)
    : [{ specId: 0, fields: parsePartitionFields(json['partition-spec'] ?? []) }];
  const currentSchemaId = optionalInteger(json['current-schema-id']) ?? schemas[0]?.schemaId ?? 0;
  const properties = stringMap(json['properties']);
  const current = int64(json['current-snapshot-id']) ?? null;
  return {
    formatVersion: formatVersion as 1 | 2 | 3,
    tableUuid: typeof json['table-uuid'] === 'string' ? json['table-uuid'] : '',
    location: typeof json['location'] === 'string' ? json['location'] : '',
    lastSequenceNumber: int64(json['last-sequence-number']) ?? 0n,
    nextRowId: int64(json['next-row-id']) ?? 0n,
    lastColumnId: optionalInteger(json['last-column-id']) ?? 0,
    lastPartitionId: optionalInteger(json['last-partition-id']) ?? 999,
    schemas,
    currentSchemaId,
    specs,
    defaultSpecId: optionalInteger(json['default-spec-id']) ?? 0,
    defaultSortOrderId: optionalInteger(json['default-sort-order-id']) ?? 0,
    sortOrder: readSortOrder(json['sort-orders'], optionalInteger(json['default-sort-order-id']) ?? 0),
    properties,
    currentSnapshotId: current === -1n ? null : current,
    snapshots: new Map(
      objects(json['snapshots'])
        .map(readSnapshot)
        .map((s) => [s.snapshotId, s]),
    ),
    refs: readRefs(json['refs']),
    snapshotLog: objects(json['snapshot-log']).map((one) => ({
      timestampMs: Number(requiredInt64(one['timestamp-ms'], 'timestamp-ms')),
      snapshotId: requiredInt64(one['snapshot-id'], 'snapshot-id'),
    })),
    fields: allFields(schemas, currentSchemaId),
    distinctCounts: readDistinctCounts(json['statistics']),
    otherFiles: [
      ...objects(json['statistics']).map((one) => one['statistics-path']),
      ...objects(json['partition-statistics']).map((one) => one['statistics-path']),
      ...objects(json['metadata-log']).map((one) => one['metadata-file']),
    ].filter((path) => typeof path === 'string'),
    nameMapping: readNameMapping(properties['schema.name-mapping.default']),
  };
}

/** @throws INVALID_TABLE_DATA when the table has no such schema. */
export function schemaById(metadata: TableMetadata, schemaId: number): Schema {
  const found = metadata.schemas.find((schema) => schema.schemaId === schemaId);
  if (found === undefined) throw invalid(`the table has no schema ${schemaId}`);
  return found;
}

export const currentSchema = (metadata: TableMetadata): Schema => schemaById(metadata, metadata.currentSchemaId);

/** Returns the schema for reading a snapshot: its own, or the current one for the current snapshot and those that name none. */
export function snapshotSchema(metadata: TableMetadata, snapshotId: bigint | null): Schema {
  const snapshot = snapshotId === null ? undefined : metadata.snapshots.get(snapshotId);
  const isCurrent = snapshotId === metadata.currentSnapshotId;
  return schemaById(metadata, (isCurrent ? null : snapshot?.schemaId) ?? metadata.currentSchemaId);
}

/** @throws INVALID_TABLE_DATA when the table has no such partition spec. */
export function specById(metadata: Pick<TableMetadata, 'specs'>, specId: number): PartitionSpec {
  const found = metadata.specs.find((spec) => spec.specId === specId);
  if (found === undefined) throw invalid(`the table has no partition spec ${specId}`);
  return found;
}

function readSortOrder(json: Json | undefined, orderId: number): readonly SortField[] {
  const order = objects(json).find((one) => one['order-id'] === orderId);
  return order === undefined ? [] : parseSortFields(order['fields']);
}

/** Reads the counts that the metadata repeats from the Puffin files of statistics; what does not parse is as if it were not there. */
function readDistinctCounts(json: Json | undefined): TableMetadata['distinctCounts'] {
  const counts = new Map<bigint, ReadonlyMap<number, number>>();
  for (const file of objects(json)) {
    const snapshotId = int64(file['snapshot-id']);
    const ofFile = new Map<number, number>();
    for (const { type, fields, properties } of Array.isArray(file['blob-metadata'])
      ? objects(file['blob-metadata'])
      : []) {
      const [field, ...more] = Array.isArray(fields) ? (fields as readonly Json[]) : [];
      const text = stringMap(properties)['ndv'] ?? '';
      const id = int64(field);
      if (type !== 'apache-datasketches-theta-v1' || id === undefined || more.length > 0) continue;
      if (/^\d{1,15}$/.test(text)) ofFile.set(Number(id), Number(text));
    }
    if (snapshotId !== undefined && ofFile.size > 0) counts.set(snapshotId, ofFile);
  }
  return counts;
}

/** The distinct counts of the newest snapshot, from this one back through its ancestors, that has any. */
export function distinctCountsOf(
  { distinctCounts, snapshots }: Pick<TableMetadata, 'distinctCounts' | 'snapshots'>,
  snapshotId: bigint | null,
): ReadonlyMap<number, number> {
  if (distinctCounts.size === 0) return new Map();
  const seen = new Set<bigint>();
  for (let id = snapshotId; id !== null && !seen.has(id); id = snapshots.get(id)?.parentSnapshotId ?? null) {
    const found = distinctCounts.get(id);
    if (found !== undefined) return found;
    seen.add(id);
  }
  return new Map();
}

function readSnapshot(json: JsonObject): Snapshot {
  return {
    snapshotId: requiredInt64(json['snapshot-id'], 'snapshot-id'),
    parentSnapshotId: int64(json['parent-snapshot-id']) ?? null,
    sequenceNumber: int64(json['sequence-number']) ?? 0n,
    timestampMs: Number(int64(json['timestamp-ms']) ?? 0n),
    manifestList: typeof json['manifest-list'] === 'string' ? json['manifest-list'] : null,
    manifests: Array.isArray(json['manifests']) ? (json['manifests'] as readonly Json[]).map(String) : [],
    summary: stringMap(json['summary']),
    schemaId: optionalInteger(json['schema-id']) ?? null,
  };
}

function readRefs(json: Json | undefined): TableMetadata['refs'] {
  if (!isObject(json)) return new Map();
  return new Map(
    Object.entries(json).map(([name, ref]) => {
      if (!isObject(ref)) throw invalid(`ref ${name} is not an object`);
      const type = ref['type'] === 'tag' ? 'tag' : 'branch';
      const retention = Object.fromEntries(
        RETENTION.flatMap((key) => {
          const value = int64(ref[key]);
          return value === undefined ? [] : [[key, Number(value)] as const];
        }),
      );
      return [name, { snapshotId: requiredInt64(ref['snapshot-id'], 'snapshot-id'), type, retention }] as const;
    }),
  );
}

function allFields(schemas: readonly Schema[], currentSchemaId: number): ReadonlyMap<number, Field> {
  const byId = new Map<number, Field>();
  for (const schema of inOrderOfFields(schemas, currentSchemaId)) addFields(byId, schema);
  return byId;
}

/** Orders the schemas of a table so that the last form of a field is the one that counts. */
export const inOrderOfFields = (schemas: readonly Schema[], currentSchemaId: number): readonly Schema[] => [
  ...schemas.toSorted((a, b) => a.schemaId - b.schemaId),
  ...schemas.filter((schema) => schema.schemaId === currentSchemaId),
];

export function addFields(byId: Map<number, Field>, schema: Schema): void {
  for (const field of walkFields(schema.fields)) byId.set(field.id, field);
}

/** Parses a name mapping; null when it does not parse, because it only serves files without field ids. */
function readNameMapping(text: string | undefined): Json {
  if (text === undefined) return null;
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}

function objects(json: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(json)) return [];
  return (json as readonly Json[]).map((one) => {
    if (!isObject(one)) throw invalid('a list of the metadata holds no objects');
    return one;
  });
}

function stringMap(json: Json | undefined): Readonly<Record<string, string>> {
  if (!isObject(json)) return {};
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => [key, typeof value === 'string' ? value : printJson(value)]),
  );
}

const optionalInteger = (json: Json | undefined): number | undefined =>
  json === undefined || json === null ? undefined : smallInteger(json, 'an id');

function requiredInt64(json: Json | undefined, what: string): bigint {
  const value = int64(json);
  if (value === undefined) throw invalid(`${what} is not an integer`);
  return value;
}
