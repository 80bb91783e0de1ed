import { isUuid } from '#shared/id.ts';
import { isHex } from '#shared/iceberg/single-value.ts';
import { readLiteral } from '#shared/iceberg/read-literal.ts';
import { primitiveOf } from '#shared/iceberg/type.ts';
import { floatingPoint, type Json } from '#shared/json.ts';
import { refuse } from './json-reader.ts';
import type { Field, DocumentSchema, Type } from './table-document.ts';

/** Default values of fields (table spec, "JSON single-value serialization"). Pure; errors are INVALID_REQUEST. */

const INT32_MAX = 2 ** 31 - 1;
const DATE = /^[+-]?\d{4,}-\d{2}-\d{2}$/;
const TIME = /^\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?$/;
const TIMESTAMP = /^[+-]?\d{4,}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?$/;
const TIMESTAMPTZ = /^[+-]?\d{4,}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(\+00:00|Z)$/;

/** @throws INVALID_REQUEST when a reader could not parse the value as the type */
export function checkDefault(type: Type, value: Json): void {
  if (!isValueOf(type, value)) {
    refuse(`Cannot parse default as a ${typeof type === 'string' ? type : type.type} value: ${show(value)}`);
  }
}

const SHOWN_LENGTH_MAX = 100;
const show = (value: Json): string =>
  (typeof value === 'object' ? JSON.stringify(Object.keys(value ?? {})) : String(value)).slice(0, SHOWN_LENGTH_MAX);

function isValueOf(type: Type, value: Json): boolean {
  // A struct's default comes from its fields, so its own can only be `{}`.
  if (typeof type !== 'string') return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  const [kind = ''] = type.split(/[[(]/, 1);
  const isMoment = (pattern: RegExp): boolean =>
    typeof value === 'string' && pattern.test(value) && isReadable(type, value);
  switch (kind) {
    case 'boolean':
      return typeof value === 'boolean';
    case 'int':
      return typeof value === 'number' && Number.isInteger(value) && value <= INT32_MAX && value >= -INT32_MAX - 1;
    case 'long':
      return isLong(value);
    case 'float':
    case 'double':
      return typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value));
    case 'decimal':
      return typeof value === 'string' && isDecimal(value, type);
    case 'string':
      return typeof value === 'string';
    case 'uuid':
      return typeof value === 'string' && isUuid(value);
    case 'fixed':
      return typeof value === 'string' && isHex(value) && value.length === 2 * Number(/\d+/.exec(type)?.[0]);
    case 'binary':
      return typeof value === 'string' && isHex(value);
    case 'date':
      return isMoment(DATE);
    case 'time':
      return isMoment(TIME);
    case 'timestamp':
    case 'timestamp_ns':
      return isMoment(TIMESTAMP);
    case 'timestamptz':
    case 'timestamptz_ns':
      return isMoment(TIMESTAMPTZ);
    default:
      // variant, geometry, geography and unknown have no default but null.
      return false;
  }
}

const isLong = (value: Json): boolean =>
  typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value);

/** Whether a column of the type can hold the value: a date such as 2020-02-30 has the right form, and no reader accepts it. */
function isReadable(type: string, value: string): boolean {
  const parsed = primitiveOf(type);
  try {
    return parsed !== undefined && readLiteral(parsed, value) !== undefined;
  } catch {
    return false;
  }
}

/** Whether `text` is a decimal number with the scale of the type, and with no more digits than its precision. */
function isDecimal(text: string, type: string): boolean {
  const parsed = primitiveOf(type);
  const match = /^[+-]?(\d+)(?:\.(\d+))?$/.exec(text);
  if (parsed?.kind !== 'decimal' || match === null) return false;
  const [, whole = '', fraction = ''] = match;
  const digits = whole.replace(/^0+/, '').length + fraction.length;
  return fraction.length === parsed.scale && digits <= parsed.precision;
}

/** Returns the schema with its floating-point defaults as `printJson` must print them: `1.0`, not `1`. */
export const printableSchema = (schema: DocumentSchema): DocumentSchema => ({
  ...schema,
  fields: schema.fields.map(printableField),
});

function printableField(field: Field): Field {
  const defaults = (['initial-default', 'write-default'] as const).flatMap((key) => {
    const value = field[key];
    const isFloat = field.type === 'float' || field.type === 'double';
    return isFloat && (typeof value === 'number' || typeof value === 'bigint') ? [[key, floatingPoint(value)]] : [];
  });
  return { ...field, type: printableType(field.type), ...Object.fromEntries(defaults) } as Field;
}

function printableType(type: Type): Type {
  if (typeof type === 'string') return type;
  if (type.type === 'struct') return { ...type, fields: type.fields.map(printableField) };
  if (type.type === 'list') return { ...type, element: printableType(type.element) };
  return { ...type, key: printableType(type.key), value: printableType(type.value) };
}
