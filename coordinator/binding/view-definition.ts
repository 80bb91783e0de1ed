import { SkeinError } from '#shared/error.ts';
import { parseSchema, type Schema } from '#shared/iceberg/schema.ts';
import { isObject } from '#shared/iceberg/type.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { readIntervals } from './interval-columns.ts';

/** The current version of an Iceberg view (view specification, format version 1). */
export type ViewDefinition = {
  readonly uuid: string;
  readonly versionId: number;
  /** The highest id of its versions. */
  readonly lastVersionId: number;
  /** The error of columns that cannot be read: such a view can still be dropped, renamed and replaced. */
  readonly schema: Schema | SkeinError;
  /** The names of columns that are INTERVAL; the schema calls them texts. */
  readonly intervals: readonly string[];
  /** Null = the catalog that has the view. */
  readonly defaultCatalog: string | null;
  readonly defaultNamespace: readonly string[];
  readonly representations: readonly Representation[];
  /** All of its versions, in the order of the document. */
  readonly versions: readonly ViewVersion[];
  readonly properties: Readonly<Record<string, string>>;
  /** The table that has the rows of a materialized view, in the catalog of the view; null for another view. */
  readonly storageTable: { readonly namespace: readonly string[]; readonly name: string } | null;
};

type ViewVersion = {
  readonly versionId: number;
  readonly timestampMs: number;
  readonly representations: readonly Representation[];
};

export type Representation = { readonly type: 'sql'; readonly dialect: string; readonly sql: string };

/** The dialect of the queries that this engine writes and reads: DuckDB's. */
export const DIALECT = 'duckdb';

export const ownRepresentation = ({ representations }: Pick<ViewDefinition, 'representations'>) =>
  representations.find(isOwnDialect);
/** The view's query in our dialect. @throws NOT_SUPPORTED */
export function ownQuery(view: Pick<ViewDefinition, 'representations'>): string {
  const own = ownRepresentation(view);
  if (own !== undefined) return own.sql;
  throw noDialect(view);
}
export function noDialect({ representations }: Pick<ViewDefinition, 'representations'>): SkeinError {
  const dialects = representations.map(({ dialect }) => dialect).join(', ');
  return new SkeinError('NOT_SUPPORTED', `its query is written in ${dialects}, and ${DIALECT} is read`);
}
export const isOwnDialect = ({ dialect }: Representation): boolean => foldIdentifier(dialect) === DIALECT;

/** The view's columns. @throws INVALID_VIEW when they cannot be read */
export function schemaOf({ schema }: Pick<ViewDefinition, 'schema'>): Schema {
  if (schema instanceof SkeinError) throw schema;
  return schema;
}

/** Reads a view's document, which the catalog has checked. @throws INVALID_VIEW when it does not fit together all the same */
export function readViewDefinition(json: Json): ViewDefinition {
  const object = objectOf(json);
  const currentId = object['current-version-id'];
  const version = objectOf(listOf(object['versions']).find((one) => objectOf(one)['version-id'] === currentId));
  const schemaId = version['schema-id'];
  const schema = listOf(object['schemas']).find((one) => objectOf(one)['schema-id'] === schemaId);
  const { 'default-catalog': catalog } = version;
  return {
    uuid: textOf(object['view-uuid']),
    versionId: Number(currentId),
    lastVersionId: Math.max(...listOf(object['versions']).map((one) => Number(objectOf(one)['version-id']))),
    schema: readSchema(schema),
    intervals: readIntervals(version['summary']),
    defaultCatalog: typeof catalog === 'string' && catalog !== '' ? catalog : null,
    defaultNamespace: listOf(version['default-namespace']).map(textOf),
    representations: readRepresentations(version['representations']),
    versions: listOf(object['versions']).map((one) => {
      const { 'version-id': id, 'timestamp-ms': time, representations } = objectOf(one);
      const texts = readRepresentations(representations);
      return { versionId: Number(id), timestampMs: Number(time), representations: texts };
    }),
    properties: Object.fromEntries(
      Object.entries(objectOf(object['properties'] ?? {})).map(([name, value]) => [name, textOf(value)]),
    ),
    storageTable: readStorageTable(version['storage-table']),
  };
}

const readRepresentations = (json: Json | undefined): readonly Representation[] =>
  listOf(json).map((one) => {
    const { dialect, sql } = objectOf(one);
    return { type: 'sql', dialect: textOf(dialect), sql: textOf(sql) };
  });

function readSchema(json: Json | undefined): Schema | SkeinError {
  try {
    return parseSchema(json);
  } catch (error) {
    return new SkeinError('INVALID_VIEW', `its columns cannot be read: ${SkeinError.of(error).message}`);
  }
}

function readStorageTable(json: Json | undefined): ViewDefinition['storageTable'] {
  if (json === undefined || json === null) return null;
  const { namespace, name } = objectOf(json);
  return { namespace: listOf(namespace).map(textOf), name: textOf(name) };
}

function objectOf(json: Json | undefined): JsonObject {
  if (json !== undefined && isObject(json)) return json;
  throw new SkeinError('INVALID_VIEW', "the view's document does not fit together");
}

const listOf = (json: Json | undefined): readonly Json[] => (Array.isArray(json) ? json : []);

const textOf = (json: Json | undefined): string => (typeof json === 'string' ? json : '');
