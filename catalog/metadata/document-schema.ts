import { DECIMAL_DIGITS_MAX, primitiveOf, printType } from '#shared/iceberg/type.ts';
import { unreachable } from '#shared/must.ts';
import { printJson, type Json, type JsonObject } from '#shared/json.ts';
import { checkDefault } from './default-value.ts';
import {
  asObject,
  get,
  int,
  maybe,
  optionalArray,
  optionalBoolean,
  optionalInt,
  optionalString,
  refuse,
  requiredArray,
  requiredInt,
  requiredString,
} from './json-reader.ts';
import type { Field, ListType, MapType, DocumentSchema, StructType, Type } from './table-document.ts';

/** Schemas: reading, walking, fresh ids, and what each format version allows. Pure; errors are INVALID_REQUEST. */

/** Maximum nesting depth of types. Iceberg has no limit, but deeper types would overflow the stack of most clients. */
const TYPE_DEPTH_MAX = 50;

/** The format versions from which on some types, and default values, are allowed. */
const TYPE_MIN_VERSION: readonly (readonly [RegExp, number])[] = [
  [/^timestamp(tz)?_ns$/, 3],
  [/^variant$/, 3],
  [/^unknown$/, 3],
  [/^geo(metry|graphy)/, 3],
];
const DEFAULTS_MIN_VERSION = 3;

/** Reads a schema; ids are the client's, `schema-id` is 0 when absent. */
export function parseDocumentSchema(json: Json | undefined): DocumentSchema {
  const object = asObject(json, 'schema');
  const struct = parseType(object, 0);
  if (typeof struct === 'string' || struct.type !== 'struct') return refuse('Cannot create schema, not a struct type');
  const identifiers = optionalArray(object, 'identifier-field-ids')?.map((id) => int(id, 'identifier-field-ids'));
  const schema: DocumentSchema = {
    type: 'struct',
    'schema-id': optionalInt(object, 'schema-id') ?? 0,
    ...(identifiers === undefined || identifiers.length === 0 ? {} : { 'identifier-field-ids': identifiers }),
    fields: struct.fields,
  };
  checkSchema(schema);
  return schema;
}

function parseType(json: Json | undefined, depth: number): Type {
  if (depth > TYPE_DEPTH_MAX) return refuse(`Cannot parse type: nested deeper than ${TYPE_DEPTH_MAX}`);
  if (typeof json === 'string') return parsePrimitive(json);
  const object = asObject(json, 'type');
  const kind = requiredString(object, 'type');
  switch (kind) {
    case 'struct':
      return { type: 'struct', fields: requiredArray(object, 'fields').map((field) => parseField(field, depth)) };
    case 'list':
      return {
        type: 'list',
        'element-id': requiredInt(object, 'element-id'),
        element: parseType(get(object, 'element'), depth + 1),
        'element-required': requiredBoolean(object, 'element-required'),
      };
    case 'map':
      return {
        type: 'map',
        'key-id': requiredInt(object, 'key-id'),
        key: parseType(get(object, 'key'), depth + 1),
        'value-id': requiredInt(object, 'value-id'),
        value: parseType(get(object, 'value'), depth + 1),
        'value-required': requiredBoolean(object, 'value-required'),
      };
    default:
      return refuse(`Cannot parse type from json: ${kind}`);
  }
}

function parseField(json: Json, depth: number): Field {
  const object = asObject(json, 'field');
  const name = requiredString(object, 'name');
  if (name === '') refuse('Cannot parse field: the name is empty');
  const type = parseType(get(object, 'type'), depth + 1);
  const required = requiredBoolean(object, 'required');
  if (required && type === 'unknown') refuse(`Cannot create required field with unknown type: ${name}`);
  const defaults = { initial: get(object, 'initial-default'), write: get(object, 'write-default') };
  for (const value of Object.values(defaults)) if (value !== undefined) checkDefault(type, value);
  return {
    id: requiredInt(object, 'id'),
    name,
    required,
    type,
    ...maybe('doc', optionalString(object, 'doc')),
    ...maybe('initial-default', defaults.initial),
    ...maybe('write-default', defaults.write),
  };
}

const requiredBoolean = (object: JsonObject, key: string): boolean =>
  optionalBoolean(object, key) ?? refuse(`Cannot parse missing boolean: ${key}`);

/** The canonical spelling, so that types compare as text. */
function parsePrimitive(text: string): string {
  const type = primitiveOf(text.trim().replace(/^[a-z_]+/i, (word) => word.toLowerCase()));
  if (type === undefined) return refuse(`Cannot parse type string to primitive: ${text}`);
  if (type.kind === 'decimal' && !isDecimal(type)) {
    return refuse(`Invalid decimal type: ${text} (precision 1 to ${DECIMAL_DIGITS_MAX}, scale at most the precision)`);
  }
  return printType(type) as string;
}

const isDecimal = ({ precision, scale }: { readonly precision: number; readonly scale: number }): boolean =>
  precision >= 1 && precision <= DECIMAL_DIGITS_MAX && scale <= precision;

/** A field during a walk: `path` is its full name; `inCollection` is true below a list or map. */
export type FieldPath = {
  readonly id: number;
  readonly path: string;
  readonly type: Type;
  readonly required: boolean;
  readonly inCollection: boolean;
  readonly field: Field | undefined;
};

/** Yields every field, list element, map key and map value, parents first. */
export function* walkFields(struct: StructType, parent = '', inCollection = false): Generator<FieldPath> {
  for (const field of struct.fields) {
    const path = parent === '' ? field.name : `${parent}.${field.name}`;
    yield { id: field.id, path, type: field.type, required: field.required, inCollection, field };
    yield* walkType(field.type, path, inCollection);
  }
}

function* walkType(type: Type, path: string, inCollection: boolean): Generator<FieldPath> {
  if (typeof type === 'string') return;
  switch (type.type) {
    case 'struct':
      yield* walkFields(type, path, inCollection);
      return;
    case 'list':
      yield* walkInner(type['element-id'], type.element, type['element-required'], `${path}.element`);
      return;
    case 'map':
      yield* walkInner(type['key-id'], type.key, true, `${path}.key`);
      yield* walkInner(type['value-id'], type.value, type['value-required'], `${path}.value`);
      return;
    default:
      unreachable(type);
  }
}

function* walkInner(id: number, type: Type, required: boolean, path: string): Generator<FieldPath> {
  yield { id, path, type, required, inCollection: true, field: undefined };
  yield* walkType(type, path, true);
}

export const fieldsById = (schema: StructType): ReadonlyMap<number, FieldPath> =>
  new Map([...walkFields(schema)].map((field) => [field.id, field]));

export function highestFieldId(schema: StructType): number {
  let highest = 0;
  for (const field of walkFields(schema)) highest = Math.max(highest, field.id);
  return highest;
}

function checkSchema(schema: DocumentSchema): void {
  const byId = new Map<number, FieldPath>();
  const paths = new Set<string>();
  for (const field of walkFields(schema)) {
    const other = byId.get(field.id);
    if (other !== undefined) {
      refuse(`Multiple entries with same key: ${field.id}=${other.path} and ${field.id}=${field.path}`);
    }
    if (paths.has(field.path)) refuse(`Invalid schema: multiple fields for name ${field.path}`);
    byId.set(field.id, field);
    paths.add(field.path);
  }
  for (const id of schema['identifier-field-ids'] ?? []) checkIdentifier(id, byId.get(id));
}

function checkIdentifier(id: number, field: FieldPath | undefined): void {
  if (field === undefined) refuse(`Cannot add fieldId ${id} as an identifier field: field does not exist`);
  const refused = (why: string): never => refuse(`Cannot add field ${field.path} as an identifier field: ${why}`);
  if (typeof field.type !== 'string') refused('not a primitive type field');
  if (!field.required) refused('not a required field');
  if (field.type === 'float' || field.type === 'double') refused('must not be float or double field');
  if (field.inCollection) refused('must not be nested in a list or map');
}

/** @throws INVALID_REQUEST when the format version does not have one of the types, or no default values. */
export function checkSchemaVersion(schema: DocumentSchema, formatVersion: number): void {
  const problems: string[] = [];
  for (const { path, type, field } of walkFields(schema)) {
    const minVersion =
      typeof type === 'string' ? TYPE_MIN_VERSION.find(([pattern]) => pattern.test(type))?.[1] : undefined;
    if (minVersion !== undefined && formatVersion < minVersion) {
      problems.push(`Invalid type for ${path}: ${type as string} is not supported until v${minVersion}`);
    }
    if (field?.['initial-default'] !== undefined && formatVersion < DEFAULTS_MIN_VERSION) {
      problems.push(
        `Invalid initial default for ${path}: non-null default is not supported until v${DEFAULTS_MIN_VERSION}`,
      );
    }
  }
  if (problems.length > 0) refuse(`Invalid schema for v${formatVersion}:\n- ${problems.join('\n- ')}`);
}

/** Returns a text that is equal for two schemas that differ in at most their schema ids (Iceberg: `sameSchema`). */
export const schemaText = (schema: DocumentSchema): string =>
  printJson([schema.fields, sorted(schema['identifier-field-ids'])]);

const sorted = (ids: readonly number[] | undefined): readonly number[] => [...(ids ?? [])].sort((a, b) => a - b);

/**
 * Returns the schema with ids from 1 on, as Iceberg's reference implementation gives them to a new table (`TypeUtil.assignFreshIds`): a
 * struct's fields first, then the types inside each of them; list elements, then the type inside; map key and value, then the types inside.
 */
export function assignFreshIds(schema: DocumentSchema): {
  readonly schema: DocumentSchema;
  readonly newIds: ReadonlyMap<number, number>;
  readonly lastId: number;
} {
  const newIds = new Map<number, number>();
  let lastId = 0;
  const next = (oldId: number): number => {
    lastId += 1;
    newIds.set(oldId, lastId);
    return lastId;
  };

  const freshType = (type: Type): Type => {
    if (typeof type === 'string') return type;
    switch (type.type) {
      case 'struct':
        return freshStruct(type);
      case 'list':
        return freshList(type);
      case 'map':
        return freshMap(type);
      default:
        return unreachable(type);
    }
  };
  const freshStruct = (struct: StructType): StructType => {
    const ids = struct.fields.map((field) => next(field.id));
    return {
      type: 'struct',
      fields: struct.fields.map((field, i) => ({ ...field, id: ids[i] ?? 0, type: freshType(field.type) })),
    };
  };
  const freshList = (list: ListType): ListType => {
    const id = next(list['element-id']);
    return { ...list, 'element-id': id, element: freshType(list.element) };
  };
  const freshMap = (map: MapType): MapType => {
    const keyId = next(map['key-id']);
    const valueId = next(map['value-id']);
    return { ...map, 'key-id': keyId, 'value-id': valueId, key: freshType(map.key), value: freshType(map.value) };
  };

  const { fields } = freshStruct(schema);
  const identifiers = schema['identifier-field-ids']?.map((id) => newIds.get(id) ?? 0);
  return {
    schema: { type: 'struct', 'schema-id': 0, ...maybe('identifier-field-ids', identifiers), fields },
    newIds,
    lastId,
  };
}
