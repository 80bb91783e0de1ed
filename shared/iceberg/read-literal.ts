import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import { int64, printJson, type Json } from '#shared/json.ts';
import { unreachable } from '#shared/must.ts';
import type { Literal } from './predicate.ts';
import { floorDivide, isHex, uuidBytes } from './single-value.ts';
import type { IcebergType } from './type.ts';

/**
 * Reads a literal of a client's expression as a value of a column's type. Clients write times as text or as the integers in which Iceberg
 * stores them (days, microseconds, nanoseconds).
 * @returns undefined for a value that the type cannot hold exactly, or a type without order: it prunes nothing.
 * @throws INVALID_REQUEST for a value of another kind.
 */
export function readLiteral(type: IcebergType, json: Json): Literal | undefined {
  switch (type.kind) {
    case 'boolean':
      return typeof json === 'boolean' ? json : refuse(type, json);
    case 'int':
    case 'long':
      return typeof json === 'number' && !Number.isInteger(json) ? undefined : integer(type, json);
    case 'float':
    case 'double':
      return double(type, json);
    case 'decimal':
      return decimal(type, json, type.scale);
    case 'date':
      return typeof json === 'string' ? days(type, json) : integer(type, json);
    case 'time':
      return typeof json === 'string' ? clock(type, json, 6) : integer(type, json);
    case 'timestamp':
    case 'timestamptz':
      return typeof json === 'string' ? instant(type, json, 6) : integer(type, json);
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return typeof json === 'string' ? instant(type, json, 9) : integer(type, json);
    case 'string':
      return typeof json === 'string' ? json : refuse(type, json);
    case 'uuid':
      return typeof json === 'string' && isUuid(json) ? uuidBytes(json) : refuse(type, json);
    case 'fixed':
    case 'binary':
      return typeof json === 'string' && isHex(json) ? Uint8Array.from(Buffer.from(json, 'hex')) : refuse(type, json);
    case 'geometry':
    case 'geography':
    case 'struct':
    case 'list':
    case 'map':
    case 'unknown':
    case 'variant':
      return undefined;
    default:
      return unreachable(type);
  }
}

const DECIMAL = /^([+-]?)(\d{1,100})(?:\.(\d{1,100}))?$/;
const DATE = /^([+-]?\d{4,6})-(\d{2})-(\d{2})$/;
const CLOCK = /^(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?$/;
const ZONE = /(Z|[+-]\d{2}:?\d{2})$/i;
const INT64_MAX = 2n ** 63n - 1n;
const MS_PER_DAY = 86_400_000;

function integer(type: IcebergType, json: Json): bigint | undefined {
  const value = int64(json) ?? refuse(type, json);
  return value > INT64_MAX || value < -INT64_MAX - 1n ? undefined : value;
}

function double(type: IcebergType, json: Json): number {
  if (typeof json === 'number') return json;
  if (typeof json === 'bigint') return Number(json);
  if (json === 'NaN' || json === 'Infinity' || json === '-Infinity') return Number(json);
  return refuse(type, json);
}

function decimal(type: IcebergType, json: Json, scale: number): bigint | undefined {
  const text = typeof json === 'number' || typeof json === 'bigint' ? String(json) : json;
  const match = typeof text === 'string' ? DECIMAL.exec(text) : null;
  // A number so large or small that it is printed with an exponent is not used for pruning.
  if (match === null) return typeof json === 'number' ? undefined : refuse(type, json);
  const [, sign, whole = '', fraction = ''] = match;
  const kept = fraction.slice(0, scale).padEnd(scale, '0');
  if (/[1-9]/.test(fraction.slice(scale))) return undefined;
  const unscaled = BigInt(whole + kept);
  return sign === '-' ? -unscaled : unscaled;
}

function days(type: IcebergType, text: string): bigint {
  const match = DATE.exec(text);
  if (match === null) return refuse(type, text);
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return refuse(type, text);
  return floorDivide(BigInt(date.getTime()), BigInt(MS_PER_DAY));
}

/** Returns the time since midnight in units, 10^`digits` to a second; undefined when the text has finer ones. */
function clock(type: IcebergType, text: string, digits: number): bigint | undefined {
  const match = CLOCK.exec(text);
  if (match === null) return refuse(type, text);
  const [hours, minutes, seconds] = [match[1], match[2], match[3] ?? '0'].map(Number) as [number, number, number];
  if (hours > 23 || minutes > 59 || seconds > 59) return refuse(type, text);
  const fraction = (match[4] ?? '').padEnd(9, '0');
  if (/[1-9]/.test(fraction.slice(digits))) return undefined;
  const whole = BigInt(hours * 3_600 + minutes * 60 + seconds);
  return whole * 10n ** BigInt(digits) + BigInt(fraction.slice(0, digits));
}

/** A time without a zone is in UTC, also for columns with a zone: PyIceberg leaves the zone out. */
function instant(type: IcebergType, text: string, digits: number): bigint | undefined {
  const [date = '', rest = '00:00:00'] = text.split(/[T ]/, 2);
  const zone = ZONE.exec(rest)?.[1] ?? 'Z';
  const isPlain = type.kind === 'timestamp' || type.kind === 'timestamp_ns';
  if (isPlain && ZONE.test(rest) && !/^(Z|[+-]00:?00)$/i.test(zone)) return refuse(type, text);
  const time = clock(type, rest.replace(ZONE, ''), digits);
  if (time === undefined) return undefined;
  const perSecond = 10n ** BigInt(digits);
  return days(type, date) * 86_400n * perSecond + time - offsetSeconds(zone) * perSecond;
}

function offsetSeconds(zone: string): bigint {
  const match = /^([+-])(\d{2}):?(\d{2})$/.exec(zone);
  if (match === null) return 0n;
  const seconds = BigInt(Number(match[2]) * 3_600 + Number(match[3]) * 60);
  return match[1] === '-' ? -seconds : seconds;
}

function refuse(type: IcebergType, json: Json): never {
  const shown = typeof json === 'string' ? json.slice(0, 100) : printJson(json).slice(0, 100);
  throw new SkeinError('INVALID_REQUEST', `Cannot bind expression: ${shown} is no value of type ${type.kind}`);
}
