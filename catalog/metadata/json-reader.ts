import { SkeinError } from '#shared/error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { Long, Properties } from './table-document.ts';

/**
 * Reads values out of a client's JSON. A shape that the specification does not have is INVALID_REQUEST (HTTP 400); the message names the
 * key, in the words of Iceberg's own parsers. As in Iceberg, a key whose value is null counts as absent.
 */

const INT32_MAX = 2 ** 31 - 1;
const INT64_MAX = 2n ** 63n - 1n;

export function refuse(message: string): never {
  throw new SkeinError('INVALID_REQUEST', message);
}

export function asObject(value: Json | undefined, what: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse(`Cannot parse ${what}: expected an object`);
  }
  return value as JsonObject;
}

export function asArray(value: Json | undefined, what: string): readonly Json[] {
  if (!Array.isArray(value)) return refuse(`Cannot parse ${what}: expected an array`);
  return value as readonly Json[];
}

/** The value of an own key; undefined when it is absent or null. */
export function get(object: JsonObject, key: string): Json | undefined {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  return value === null ? undefined : value;
}

function required<T>(value: T | undefined, kind: string, key: string): T {
  return value === undefined ? refuse(`Cannot parse missing ${kind}: ${key}`) : value;
}

export function optionalString(object: JsonObject, key: string): string | undefined {
  const value = get(object, key);
  if (value === undefined || typeof value === 'string') return value;
  return refuse(`Cannot parse to a string value: ${key}`);
}
export const requiredString = (object: JsonObject, key: string): string =>
  required(optionalString(object, key), 'string', key);

export function optionalBoolean(object: JsonObject, key: string): boolean | undefined {
  const value = get(object, key);
  if (value === undefined || typeof value === 'boolean') return value;
  return refuse(`Cannot parse to a boolean value: ${key}`);
}

/** A 32-bit integer. */
export function optionalInt(object: JsonObject, key: string): number | undefined {
  const value = get(object, key);
  return value === undefined ? undefined : int(value, key);
}
export const requiredInt = (object: JsonObject, key: string): number => required(optionalInt(object, key), 'int', key);

export function int(value: Json, what: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || Math.abs(value) > INT32_MAX) {
    return refuse(`Cannot parse to an integer value: ${what}`);
  }
  return value;
}

/** A 64-bit integer in the canonical form of `Long`. */
export function optionalLong(object: JsonObject, key: string): Long | undefined {
  const value = get(object, key);
  return value === undefined ? undefined : long(value, key);
}
export const requiredLong = (object: JsonObject, key: string): Long => required(optionalLong(object, key), 'long', key);

export function long(value: Json, what: string): Long {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  if (typeof value === 'bigint' && value <= INT64_MAX && value >= -INT64_MAX - 1n) return value;
  return refuse(`Cannot parse to a long value: ${what}`);
}

/** Milliseconds since 1970, exact as a double. */
export function requiredMillis(object: JsonObject, key: string): number {
  const value = requiredLong(object, key);
  return typeof value === 'number' ? value : refuse(`Cannot parse to a time: ${key}`);
}

export function optionalArray(object: JsonObject, key: string): readonly Json[] | undefined {
  const value = get(object, key);
  return value === undefined ? undefined : asArray(value, key);
}
export const requiredArray = (object: JsonObject, key: string): readonly Json[] =>
  required(optionalArray(object, key), 'list', key);

export const stringList = (values: readonly Json[], what: string): readonly string[] =>
  values.map((value) =>
    typeof value === 'string' ? value : refuse(`Cannot parse string from non-text value: ${what}`),
  );

/** A map of strings; absent is empty. */
export function stringMap(value: Json | undefined, what: string): Properties {
  if (value === undefined || value === null) return {};
  for (const [key, item] of Object.entries(asObject(value, what))) {
    if (typeof item !== 'string') refuse(`Cannot parse to a string value: ${what}.${key}`);
  }
  return value as Properties;
}

/** `{ [key]: value }` when there is a value, else nothing: to keep absent members absent. */
export const maybe = <K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: V };
