import { SkeinError } from '#shared/error.ts';
import { int64, type Json, type JsonObject } from '#shared/json.ts';

/** The types of the Iceberg specification (format versions 1 to 3); their JSON form is that of the specification's appendix C. */
export type IcebergType =
  | { readonly kind: PrimitiveName }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'fixed'; readonly length: number }
  | { readonly kind: 'geometry' | 'geography'; readonly text: string }
  | StructType
  | { readonly kind: 'list'; readonly element: Field }
  | { readonly kind: 'map'; readonly key: Field; readonly value: Field };

type StructType = { readonly kind: 'struct'; readonly fields: readonly Field[] };

export type PrimitiveName = (typeof PRIMITIVES)[number];

/** A column, a struct's field, or (named `element`, `key`, `value`) the part of a list or map. */
export type Field = {
  readonly id: number;
  readonly name: string;
  readonly required: boolean;
  readonly type: IcebergType;
  readonly doc?: string;
  /** JSON single-value form; for rows of files that lack the field. */
  readonly initialDefault?: Json;
  readonly writeDefault?: Json;
};

const PRIMITIVES = [
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'timestamp_ns',
  'timestamptz_ns',
  'string',
  'uuid',
  'binary',
  'unknown',
  'variant',
] as const;
const PRIMITIVE_SET: ReadonlySet<string> = new Set(PRIMITIVES);

/** Maximum nesting depth of a type; deeper ones are refused, because the readers recurse. */
const TYPE_DEPTH_MAX = 100;

/** @throws INVALID_TABLE_DATA when `json` is not an Iceberg type. */
export function parseType(json: Json | undefined, depth = 0): IcebergType {
  if (depth > TYPE_DEPTH_MAX) throw invalid('a type is nested too deeply');
  if (typeof json === 'string') return parsePrimitive(json);
  if (!isObject(json)) throw invalid(`not a type: ${shown(json)}`);
  if (json['type'] === 'struct') return { kind: 'struct', fields: parseFields(json['fields'], depth + 1) };
  if (json['type'] === 'list') return { kind: 'list', element: parsePart(json, 'element', depth) };
  if (json['type'] === 'map') {
    return { kind: 'map', key: parsePart(json, 'key', depth), value: parsePart(json, 'value', depth) };
  }
  throw invalid(`unknown type ${shown(json['type'])}`);
}

/** Prints untrusted JSON for an error message: it may contain values that JSON cannot print, and have any size. */
const shown = (json: Json | undefined): string =>
  typeof json === 'string'
    ? JSON.stringify(json.slice(0, SHOWN_LENGTH_MAX))
    : Array.isArray(json)
      ? 'a list'
      : typeof json;
const SHOWN_LENGTH_MAX = 100;

export function parseFields(json: Json | undefined, depth = 0): readonly Field[] {
  if (!Array.isArray(json)) throw invalid('a struct has no fields');
  return (json as readonly Json[]).map((one) => {
    if (!isObject(one)) throw invalid('a field is not an object');
    const { id, name, required, doc, 'initial-default': initial, 'write-default': write } = one;
    if (typeof id !== 'number' || typeof name !== 'string') throw invalid('a field has no id or name');
    return {
      id,
      name,
      required: required === true,
      type: parseType(one['type'], depth),
      ...(typeof doc === 'string' ? { doc } : {}),
      ...(initial === undefined ? {} : { initialDefault: initial }),
      ...(write === undefined ? {} : { writeDefault: write }),
    };
  });
}

function parsePart(json: JsonObject, name: 'element' | 'key' | 'value', depth: number): Field {
  const id = json[`${name}-id`];
  if (typeof id !== 'number') throw invalid(`a type has no ${name}-id`);
  const required = name === 'key' || json[`${name}-required`] === true;
  return { id, name, required, type: parseType(json[name], depth + 1) };
}

function parsePrimitive(text: string): IcebergType {
  const type = primitiveOf(text);
  if (type === undefined) throw invalid(`unknown type ${shown(text)}`);
  if (type.kind === 'decimal' && (type.precision > DECIMAL_DIGITS_MAX || type.scale > type.precision)) {
    throw invalid(`no decimal(${type.precision}, ${type.scale})`);
  }
  return type;
}

/** Returns the primitive type of a spelling; undefined when there is none. The digits of a decimal are not checked. */
export function primitiveOf(text: string): IcebergType | undefined {
  if (PRIMITIVE_SET.has(text)) return { kind: text as PrimitiveName };
  const [, precision, scale] = /^decimal\(\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)$/.exec(text) ?? [];
  if (precision !== undefined) return { kind: 'decimal', precision: Number(precision), scale: Number(scale) };
  const [, length] = /^fixed\[\s*(\d{1,9})\s*\]$/.exec(text) ?? [];
  if (length !== undefined) return { kind: 'fixed', length: Number(length) };
  const [, geo] = /^(geometry|geography)(?:\(.*\))?$/.exec(text) ?? [];
  return geo === undefined ? undefined : { kind: geo as 'geometry' | 'geography', text };
}

/** Digits of the widest decimal of the specification. */
export const DECIMAL_DIGITS_MAX = 38;

/** Returns the JSON form: a string for a primitive, an object for a nested type. */
export function printType(type: IcebergType): Json {
  if (type.kind === 'decimal') return `decimal(${type.precision}, ${type.scale})`;
  if (type.kind === 'fixed') return `fixed[${type.length}]`;
  if (type.kind === 'geometry' || type.kind === 'geography') return type.text;
  if (type.kind === 'struct') return { type: 'struct', fields: type.fields.map(printField) };
  if (type.kind === 'list') {
    return {
      type: 'list',
      'element-id': type.element.id,
      element: printType(type.element.type),
      'element-required': type.element.required,
    };
  }
  if (type.kind !== 'map') return type.kind;
  return {
    type: 'map',
    'key-id': type.key.id,
    key: printType(type.key.type),
    'value-id': type.value.id,
    value: printType(type.value.type),
    'value-required': type.value.required,
  };
}

export const printField = (field: Field): JsonObject => ({
  id: field.id,
  name: field.name,
  required: field.required,
  type: printType(field.type),
  ...(field.doc === undefined ? {} : { doc: field.doc }),
  ...(field.initialDefault === undefined ? {} : { 'initial-default': field.initialDefault }),
  ...(field.writeDefault === undefined ? {} : { 'write-default': field.writeDefault }),
});

/** Returns the fields directly inside a type. */
function childFields(type: IcebergType): readonly Field[] {
  if (type.kind === 'struct') return type.fields;
  if (type.kind === 'list') return [type.element];
  return type.kind === 'map' ? [type.key, type.value] : [];
}

/** Yields all fields below `fields`, at any depth, parents first. */
export function* walkFields(fields: readonly Field[]): Generator<Field> {
  for (const field of fields) {
    yield field;
    yield* walkFields(childFields(field.type));
  }
}

export const isNested = (type: IcebergType): boolean =>
  type.kind === 'struct' || type.kind === 'list' || type.kind === 'map';

export const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** Reads an integer field of a metadata document that always fits a number (ids of fields, specs, schemas). */
export function smallInteger(json: Json | undefined, what: string): number {
  const value = int64(json);
  if (value === undefined || value < -2147483648n || value > 2147483647n) throw invalid(`${what} is not an integer`);
  return Number(value);
}

export const invalid = (message: string): SkeinError => new SkeinError('INVALID_TABLE_DATA', message);
