import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import {
  asObject,
  get,
  maybe,
  optionalBoolean,
  optionalInt,
  optionalString,
  refuse,
  requiredArray,
  requiredMillis,
  requiredString,
  stringMap,
} from './json-reader.ts';
import type { Properties } from './table-document.ts';

/**
 * Metadata of user-defined functions (Iceberg UDF specification, format version 1): checks a client's definition and completes it. Pure;
 * errors are INVALID_REQUEST.
 */
export type FunctionMetadata = {
  readonly 'function-uuid': string;
  readonly 'format-version': 1;
  readonly definitions: readonly FunctionDefinition[];
  readonly 'definition-log': readonly JsonObject[];
  readonly location: string;
  readonly properties: Properties;
  readonly secure: boolean;
  readonly doc?: string;
};

type FunctionDefinition = {
  readonly 'definition-id': string;
  readonly 'specific-name'?: string;
  readonly parameters: readonly { readonly name: string; readonly type: Json; readonly doc?: string }[];
  readonly 'return-type': Json;
  readonly 'return-nullable': boolean;
  readonly versions: readonly FunctionVersion[];
  readonly 'current-version-id': number;
  readonly 'function-type': 'udf' | 'udtf';
  readonly doc?: string;
};

type FunctionVersion = {
  readonly 'version-id': number;
  readonly representations: readonly { readonly type: 'sql'; readonly dialect: string; readonly sql: string }[];
  readonly deterministic: boolean;
  readonly 'on-null-input': 'return-null' | 'call';
  readonly 'timestamp-ms': number;
};

const DEFINITIONS_MAX = 100;
const PARAMETERS_MAX = 255;
const VERSIONS_MAX = 100;
const REPRESENTATIONS_MAX = 100;
const TYPE_DEPTH_MAX = 50;

/** The request of `POST .../functions`: a name, and the metadata members that the client decides. */
export type CreateFunctionRequest = {
  readonly name: string;
  readonly definitions: readonly FunctionDefinition[];
  readonly properties: Properties;
  readonly secure: boolean;
  readonly doc?: string;
};

/** Parses a create request; `nowMs` replaces times that the client leaves out. */
export function parseCreateFunction(body: Json | undefined, nowMs: number): CreateFunctionRequest {
  const object = asObject(body, 'create function request');
  const definitions = limited(requiredArray(object, 'definitions'), DEFINITIONS_MAX, 'definitions').map((json) =>
    parseDefinition(json, nowMs),
  );
  if (definitions.length === 0) refuse('Invalid function: it has no definition');
  requireUnique(
    definitions.map((one) => one['definition-id']),
    'definition-id',
  );
  requireUnique(
    definitions.flatMap((one) => one['specific-name'] ?? []),
    'specific-name',
  );
  return {
    name: requiredString(object, 'name'),
    definitions,
    properties: stringMap(get(object, 'properties'), 'properties'),
    secure: optionalBoolean(object, 'secure') ?? false,
    ...maybe('doc', optionalString(object, 'doc')),
  };
}

export const newFunctionMetadata = (
  request: CreateFunctionRequest,
  created: { readonly uuid: string; readonly location: string; readonly nowMs: number },
): FunctionMetadata => ({
  'function-uuid': created.uuid,
  'format-version': 1,
  definitions: request.definitions,
  'definition-log': [
    {
      'timestamp-ms': created.nowMs,
      'definition-versions': request.definitions.map((one) => ({
        'definition-id': one['definition-id'],
        'version-id': one['current-version-id'],
      })),
    },
  ],
  location: created.location,
  properties: request.properties,
  secure: request.secure,
  ...maybe('doc', request.doc),
});

function parseDefinition(json: Json, nowMs: number): FunctionDefinition {
  const object = asObject(json, 'function definition');
  const parameters = limited(requiredArray(object, 'parameters'), PARAMETERS_MAX, 'parameters').map(parseParameter);
  requireUnique(
    parameters.map(({ name }) => name),
    'parameter',
  );
  const id = parameters.map(({ type }) => typeText(type)).join(',');
  const given = optionalString(object, 'definition-id');
  if (given !== undefined && given !== id) refuse(`Invalid definition-id: ${given}, the parameters say ${id}`);
  const versions = limited(requiredArray(object, 'versions'), VERSIONS_MAX, 'versions').map((one, i) =>
    parseVersion(one, { id: i + 1, nowMs }),
  );
  requireUnique(
    versions.map((version) => String(version['version-id'])),
    'version-id',
  );
  const current = optionalInt(object, 'current-version-id') ?? versions.at(-1)?.['version-id'];
  if (current === undefined || !versions.some((version) => version['version-id'] === current)) {
    return refuse(`Cannot find current version ${current} in versions of ${id}`);
  }
  const kind = optionalString(object, 'function-type') ?? 'udf';
  if (kind !== 'udf' && kind !== 'udtf') return refuse(`Invalid function-type: ${kind}`);
  const returns = parseType(get(object, 'return-type'), 0);
  if (kind === 'udtf' && (typeof returns === 'string' || (returns as JsonObject)['type'] !== 'struct')) {
    refuse('Invalid return-type: that of a table function is a struct');
  }
  return {
    'definition-id': id,
    ...maybe('specific-name', optionalString(object, 'specific-name')),
    parameters,
    'return-type': returns,
    'return-nullable': optionalBoolean(object, 'return-nullable') ?? true,
    versions,
    'current-version-id': current,
    'function-type': kind,
    ...maybe('doc', optionalString(object, 'doc')),
  };
}

function parseParameter(json: Json): FunctionDefinition['parameters'][number] {
  const object = asObject(json, 'function parameter');
  return {
    name: requiredString(object, 'name'),
    type: parseType(get(object, 'type'), 0),
    ...maybe('doc', optionalString(object, 'doc')),
  };
}

function parseVersion(json: Json, given: { readonly id: number; readonly nowMs: number }): FunctionVersion {
  const object = asObject(json, 'function version');
  const onNull = optionalString(object, 'on-null-input') ?? 'call';
  if (onNull !== 'call' && onNull !== 'return-null') return refuse(`Invalid on-null-input: ${onNull}`);
  const list = limited(requiredArray(object, 'representations'), REPRESENTATIONS_MAX, 'representations');
  if (list.length === 0) refuse('Invalid function version: it has no representation');
  const representations = list.map((one) => {
    const representation = asObject(one, 'function representation');
    const type = requiredString(representation, 'type');
    if (type !== 'sql') return refuse(`Unsupported function representation: ${type}`);
    const dialect = requiredString(representation, 'dialect');
    return { type: 'sql' as const, dialect, sql: requiredString(representation, 'sql') };
  });
  requireUnique(
    representations.map(({ dialect }) => dialect.toLowerCase()),
    'dialect',
  );
  return {
    'version-id': optionalInt(object, 'version-id') ?? given.id,
    representations,
    deterministic: optionalBoolean(object, 'deterministic') ?? false,
    'on-null-input': onNull,
    'timestamp-ms': get(object, 'timestamp-ms') === undefined ? given.nowMs : requiredMillis(object, 'timestamp-ms'),
  };
}

const PRIMITIVE =
  /^(boolean|int|long|float|double|date|time|timestamp|timestamptz|timestamp_ns|timestamptz_ns|string|uuid|binary|unknown|variant|decimal\(\d{1,2},\d{1,2}\)|fixed\[\d{1,9}\]|geometry(\([^\s"']*\))?|geography(\([^\s"']*\))?)$/;

/** A type without the ids that the UDF specification ignores. */
function parseType(json: Json | undefined, depth: number): Json {
  if (depth > TYPE_DEPTH_MAX) return refuse(`Cannot parse type: nested deeper than ${TYPE_DEPTH_MAX}`);
  if (typeof json === 'string') {
    const name = json.replaceAll(' ', '');
    return PRIMITIVE.test(name) ? name : refuse(`Cannot parse type string to primitive: ${json}`);
  }
  const object = asObject(json, 'type');
  const type = requiredString(object, 'type');
  const part = (key: string): Json => parseType(get(object, key), depth + 1);
  if (type === 'list') return { type, element: part('element') };
  if (type === 'map') return { type, key: part('key'), value: part('value') };
  if (type !== 'struct') return refuse(`Cannot parse type from json: ${type}`);
  const fields = requiredArray(object, 'fields').map((one) => {
    const field = asObject(one, 'field');
    return { name: requiredString(field, 'name'), type: parseType(get(field, 'type'), depth + 1) };
  });
  return { type, fields };
}

/** A type as a definition id spells it. */
function typeText(type: Json): string {
  if (typeof type === 'string') return type;
  const object = type as JsonObject;
  if (object['type'] === 'list') return `list<${typeText(object['element'] ?? null)}>`;
  if (object['type'] === 'map') return `map<${typeText(object['key'] ?? null)},${typeText(object['value'] ?? null)}>`;
  const fields = object['fields'] as readonly { readonly name: string; readonly type: Json }[];
  return `struct<${fields.map(({ name, type: inner }) => `${name}:${typeText(inner)}`).join(',')}>`;
}

function limited(list: readonly Json[], max: number, what: string): readonly Json[] {
  if (list.length > max) refuse(`A function has at most ${max} ${what}`);
  return list;
}

function requireUnique(names: readonly string[], what: string): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new SkeinError('INVALID_REQUEST', `Invalid function: two of its parts have the ${what} ${twice}`);
}
