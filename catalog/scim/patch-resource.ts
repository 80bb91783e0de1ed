import type { Json, JsonObject } from '#shared/json.ts';
import { ScimError } from './scim-error.ts';

/** One operation of a PATCH (RFC 7644, 3.5.2). */
export type PatchOperation = {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path?: string;
  readonly value?: Json;
};

const OPERATIONS_MAX = 1_000;
/** Values that the operations of one PATCH look at, each at those of the whole resource and its own. */
const LOOKED_AT_MAX = 4_000_000;
/** `attribute`, `attribute.part`, `attribute[part eq "value"]`, `attribute[part eq "value"].part`; before them the schema of an extension. */
const PATH =
  /^(?:(urn:[\w.:-]+):)?([A-Za-z][\w$-]*)(?:\[\s*([A-Za-z][\w$-]*)\s+eq\s+("(?:[^"\\]|\\.)*"|true|false)\s*\])?(?:\.([A-Za-z][\w$-]*))?$/;
const CORE = 'urn:ietf:params:scim:schemas:core:2.0:';
const NEVER: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

type Path = {
  readonly schema: string | undefined;
  readonly attribute: string;
  readonly where?: { readonly part: string; readonly value: string | boolean };
  readonly part?: string;
};

const refuse = (message: string, type: 'invalidPath' | 'invalidValue' | 'invalidSyntax' | 'noTarget'): never => {
  throw new ScimError(400, message, { type });
};

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The operations of a PATCH's body, whose words Entra writes with a capital. @throws ScimError */
export function readOperations(body: Json): readonly PatchOperation[] {
  const given = isObject(body) ? entryOf(body, 'Operations') : undefined;
  const list = given === undefined ? undefined : given[1];
  if (!Array.isArray(list) || list.length === 0 || list.length > OPERATIONS_MAX) {
    return refuse(`a PATCH has Operations, ${OPERATIONS_MAX} at most`, 'invalidSyntax');
  }
  return list.map((one: Json) => {
    if (!isObject(one)) return refuse('an operation is an object', 'invalidSyntax');
    const op = typeof one['op'] === 'string' ? one['op'].toLowerCase() : '';
    if (op !== 'add' && op !== 'replace' && op !== 'remove') {
      return refuse('op is add, replace or remove', 'invalidSyntax');
    }
    const path = one['path'];
    if (path !== undefined && typeof path !== 'string') return refuse('path is a text', 'invalidPath');
    return {
      op,
      ...(path === undefined || path === '' ? {} : { path }),
      ...(one['value'] === undefined ? {} : { value: one['value'] }),
    };
  });
}

/** The resource after the operations, which run one after the other, all or none. The one that is given stays as it is. @throws ScimError */
export function patchResource(resource: JsonObject, operations: readonly PatchOperation[]): JsonObject {
  let lookedAt = 0;
  return operations.flatMap(oneByOne).reduce((now, operation) => {
    lookedAt += valuesIn(now) + valuesIn(operation.value ?? null);
    if (lookedAt > LOOKED_AT_MAX)
      throw new ScimError(400, 'a PATCH of so many values is too long', { type: 'tooMany' });
    return patched(now, operation);
  }, resource);
}

/** Values in a value, itself too. */
const valuesIn = (value: Json): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value).reduce((sum: number, each) => sum + valuesIn(each), 1)
    : 1;

/** An operation without a path is one for each attribute of its value: Okta sends attributes, Entra also paths as names of them. */
function oneByOne(operation: PatchOperation): readonly PatchOperation[] {
  const { op, path, value } = operation;
  if (path !== undefined || op === 'remove' || !isObject(value)) return [operation];
  return Object.entries(value).map(([name, each]) => ({ op, value: { [name]: each } }));
}

function patched(resource: JsonObject, { op, path, value }: PatchOperation): JsonObject {
  if (path !== undefined) return at(resource, readPath(path), op, value);
  if (op === 'remove') return refuse('remove needs a path', 'noTarget');
  if (!isObject(value)) return refuse('without a path the value is an object', 'invalidValue');
  return Object.entries(value).reduce((now, [name, each]) => {
    if (isObject(each) && name.startsWith('urn:')) {
      const before = own(now, name);
      return withOwn(now, name, { ...(isObject(before) ? before : {}), ...each });
    }
    return at(now, readPath(name), op, each);
  }, resource);
}

function readPath(text: string): Path {
  const plain = text.startsWith(CORE) ? text.slice(text.indexOf(':', CORE.length) + 1) : text;
  const match = PATH.exec(plain);
  if (match === null) return refuse(`the path ${text.slice(0, 100)} is none that is served`, 'invalidPath');
  const [, schema, attribute = '', part, value = '', sub] = match;
  if ([attribute, part ?? '', sub ?? ''].some((name) => NEVER.has(name))) return refuse('not a path', 'invalidPath');
  return {
    schema,
    attribute,
    ...(part === undefined ? {} : { where: { part, value: readValue(value) } }),
    ...(sub === undefined ? {} : { part: sub }),
  };
}

/** A text as JSON writes it, or true or false. */
function readValue(text: string): string | boolean {
  try {
    return JSON.parse(text.startsWith('"') ? text : text.toLowerCase()) as string | boolean;
  } catch {
    return refuse('a value of the path is no text', 'invalidPath');
  }
}

/** Names of attributes are found without regard to case. */
function entryOf(object: JsonObject, name: string): readonly [string, Json] | undefined {
  const folded = name.toLowerCase();
  return Object.entries(object).find(([own]) => own.toLowerCase() === folded);
}
const own = (object: JsonObject, name: string): Json | undefined => entryOf(object, name)?.[1];
const withOwn = (object: JsonObject, name: string, value: Json): JsonObject => ({
  ...object,
  [entryOf(object, name)?.[0] ?? name]: value,
});
function without(object: JsonObject, name: string): JsonObject {
  const folded = name.toLowerCase();
  return Object.fromEntries(Object.entries(object).filter(([each]) => each.toLowerCase() !== folded));
}

function at(resource: JsonObject, path: Path, op: PatchOperation['op'], value: Json | undefined): JsonObject {
  if (path.schema !== undefined) {
    const { schema, ...rest } = path;
    const before = own(resource, schema);
    const extension = at(isObject(before) ? before : {}, { ...rest, schema: undefined }, op, value);
    return withOwn(resource, schema, extension);
  }
  const { attribute, where, part } = path;
  const before = own(resource, attribute);
  if (where !== undefined) return withOwn(resource, attribute, inList(before, { where, part }, op, value));
  if (part !== undefined) {
    const object = isObject(before) ? before : {};
    return withOwn(resource, attribute, op === 'remove' ? without(object, part) : withOwn(object, part, needed(value)));
  }
  if (op === 'remove') return removed(resource, attribute, value);
  const given = needed(value);
  if (op === 'add' && Array.isArray(before)) return withOwn(resource, attribute, united(before, [given].flat()));
  if (op === 'add' && isObject(before) && isObject(given)) return withOwn(resource, attribute, { ...before, ...given });
  if (op === 'replace' && isObject(before) && isObject(given))
    return withOwn(resource, attribute, { ...before, ...given });
  return withOwn(resource, attribute, given);
}

/** Entra names the elements to remove in the value. */
function removed(resource: JsonObject, attribute: string, value: Json | undefined): JsonObject {
  const before = own(resource, attribute);
  if (!Array.isArray(before) || !Array.isArray(value)) return without(resource, attribute);
  const keyOf = (each: Json): string => sameText(isObject(each) ? (each['value'] ?? null) : each);
  const gone = new Set(value.map(keyOf));
  return withOwn(
    resource,
    attribute,
    before.filter((each: Json) => !gone.has(keyOf(each))),
  );
}

/** One text for all values that are the same, whatever the order of their names. */
const sameText = (value: Json): string =>
  JSON.stringify(value, (_name, each: Json) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  );

const needed = (value: Json | undefined): Json =>
  value === undefined ? refuse('the operation needs a value', 'invalidValue') : value;

function united(before: readonly Json[], added: readonly Json[]): Json[] {
  const there = new Set(before.map(sameText));
  return [...before, ...added.filter((each) => !there.has(sameText(each)))];
}

type Within = { readonly where: NonNullable<Path['where']>; readonly part: string | undefined };

/** Elements of a list that have a value at a part; one that is replaced or added to and is not there is made. */
function inList(
  before: Json | undefined,
  { where, part }: Within,
  op: PatchOperation['op'],
  value: Json | undefined,
): Json[] {
  const list: readonly Json[] = Array.isArray(before) ? before : [];
  const isMeant = (each: Json): boolean => isObject(each) && own(each, where.part) === where.value;
  if (op === 'remove' && part === undefined) return list.filter((each) => !isMeant(each));
  const change = (each: JsonObject): JsonObject => {
    if (part !== undefined) return op === 'remove' ? without(each, part) : withOwn(each, part, needed(value));
    const given = needed(value);
    return isObject(given) ? { ...each, ...given } : refuse('the value is an object', 'invalidValue');
  };
  if (list.some(isMeant)) return list.map((each) => (isMeant(each) && isObject(each) ? change(each) : each));
  if (op === 'remove') return [...list];
  return [...list, change({ [where.part]: where.value })];
}
