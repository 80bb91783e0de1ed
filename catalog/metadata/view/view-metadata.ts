import type { Json, JsonObject } from '#shared/json.ts';
import { SkeinError } from '#shared/error.ts';
import {
  asObject,
  get,
  maybe,
  optionalString,
  refuse,
  requiredArray,
  requiredInt,
  requiredMillis,
  requiredString,
  stringList,
  stringMap,
} from '../json-reader.ts';
import { parseDocumentSchema } from '../document-schema.ts';
import type { Properties, DocumentSchema } from '../table-document.ts';

/** Iceberg view metadata (view spec, format version 1), under the names of its JSON form. */
export type ViewMetadata = {
  readonly 'view-uuid': string;
  readonly 'format-version': number;
  readonly location: string;
  readonly properties: Properties;
  readonly schemas: readonly DocumentSchema[];
  readonly 'current-version-id': number;
  readonly versions: readonly ViewVersion[];
  readonly 'version-log': readonly ViewHistoryEntry[];
};

export type ViewVersion = {
  readonly 'version-id': number;
  readonly 'timestamp-ms': number;
  readonly 'schema-id': number;
  readonly summary: Properties;
  readonly 'default-catalog'?: string;
  readonly 'default-namespace': readonly string[];
  readonly representations: readonly SqlRepresentation[];
  /** The table that holds the rows of a materialized view (draft of Iceberg's materialized views), in the view's catalog. */
  readonly 'storage-table'?: StorageTable;
};
export type StorageTable = { readonly namespace: readonly string[]; readonly name: string };
type SqlRepresentation = { readonly type: 'sql'; readonly sql: string; readonly dialect: string };
type ViewHistoryEntry = { readonly 'timestamp-ms': number; readonly 'version-id': number };

export const VIEW_FORMAT_VERSION = 1;
/** Maximum number of queries of one version, each in another dialect. */
const REPRESENTATIONS_MAX = 100;

/** Throws INVALID_VIEW for a view whose parts do not fit together: Java's client maps it to the exception that its own builder throws. */
export function refuseView(message: string): never {
  throw new SkeinError('INVALID_VIEW', message);
}

export function parseViewVersion(json: Json | undefined): ViewVersion {
  const object = asObject(json, 'view version');
  const list = requiredArray(object, 'representations');
  if (list.length > REPRESENTATIONS_MAX) refuseView(`A view has at most ${REPRESENTATIONS_MAX} representations`);
  return {
    'version-id': requiredInt(object, 'version-id'),
    'timestamp-ms': requiredMillis(object, 'timestamp-ms'),
    'schema-id': requiredInt(object, 'schema-id'),
    summary: stringMap(get(object, 'summary'), 'summary'),
    ...maybe('default-catalog', optionalString(object, 'default-catalog')),
    'default-namespace': stringList(requiredArray(object, 'default-namespace'), 'default-namespace'),
    representations: list.map(parseRepresentation),
    ...maybe('storage-table', parseStorageTable(get(object, 'storage-table'))),
  };
}

function parseStorageTable(json: Json | undefined): StorageTable | undefined {
  if (json === undefined || json === null) return undefined;
  const object = asObject(json, 'storage table');
  const namespace = stringList(requiredArray(object, 'namespace'), 'namespace');
  if (namespace.length === 0) refuseView('Invalid view version: the storage table has no namespace');
  return { namespace, name: requiredString(object, 'name') };
}

function parseRepresentation(json: Json): SqlRepresentation {
  const object = asObject(json, 'view representation');
  const type = requiredString(object, 'type');
  if (type.toLowerCase() !== 'sql') refuse(`Found unsupported view representations: ${type}`);
  const dialect = requiredString(object, 'dialect');
  if (dialect === '') refuseView('Invalid view version: a query has no dialect');
  return { type: 'sql', sql: requiredString(object, 'sql'), dialect };
}

export const dialectsOf = (version: ViewVersion): readonly string[] =>
  version.representations.map(({ dialect }) => dialect.toLowerCase());

/** @throws INVALID_VIEW when two queries of a version are of one dialect, or there is none. */
export function checkRepresentations(version: ViewVersion): void {
  const seen = new Set<string>();
  for (const dialect of dialectsOf(version)) {
    if (seen.has(dialect)) refuseView(`Invalid view version: Cannot add multiple queries for dialect ${dialect}`);
    seen.add(dialect);
  }
  if (seen.size === 0) refuseView('Invalid view version: it has no query');
}

/** The version that a view has now. */
export const currentVersion = (metadata: ViewMetadata): ViewVersion =>
  metadata.versions.find((version) => version['version-id'] === metadata['current-version-id']) ??
  refuseView('Invalid view: no versions were added');

/** The document of a view's metadata file. @throws INVALID_REQUEST, INVALID_VIEW */
export function parseViewMetadata(json: Json): ViewMetadata {
  const object = asObject(json, 'view metadata');
  const version = requiredInt(object, 'format-version');
  if (version !== VIEW_FORMAT_VERSION) refuse(`Unsupported format version: ${version}`);
  const metadata: ViewMetadata = {
    'view-uuid': requiredString(object, 'view-uuid'),
    'format-version': version,
    location: requiredString(object, 'location'),
    properties: stringMap(get(object, 'properties'), 'properties'),
    schemas: requiredArray(object, 'schemas').map(parseDocumentSchema),
    'current-version-id': requiredInt(object, 'current-version-id'),
    versions: requiredArray(object, 'versions').map(parseViewVersion),
    'version-log': requiredArray(object, 'version-log').map(parseHistoryEntry),
  };
  const current = metadata.versions.find((one) => one['version-id'] === metadata['current-version-id']);
  if (current === undefined) {
    return refuseView(`Cannot find current version ${metadata['current-version-id']} in view versions`);
  }
  for (const one of metadata.versions) {
    checkRepresentations(one);
    if (!metadata.schemas.some((schema) => schema['schema-id'] === one['schema-id'])) {
      refuseView(`Cannot find current schema with id ${one['schema-id']} in schemas`);
    }
  }
  return metadata;
}

function parseHistoryEntry(json: Json): ViewHistoryEntry {
  const object: JsonObject = asObject(json, 'version log entry');
  return { 'timestamp-ms': requiredMillis(object, 'timestamp-ms'), 'version-id': requiredInt(object, 'version-id') };
}
