import type { Json } from '#shared/json.ts';
import { unreachable } from '#shared/must.ts';
import { bytesOfInteger, integerOfBytes } from './big-endian.ts';
import type { Literal } from './predicate.ts';
import { invalid, type IcebergType } from './type.ts';

/** Single values of the Iceberg specification, appendix D: the binary form of bounds, the JSON form of defaults and partition data. */

const MICROS_PER_DAY = 86_400_000_000n;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes a bound. Bounds that were written before a column was promoted have the older, narrower form.
 * @returns undefined when the bytes are not a value of the type (such a bound must not be used), or the type has no ordered values.
 */
export function decodeBound(type: IcebergType, bytes: Uint8Array): Literal | undefined {
  switch (type.kind) {
    case 'boolean':
      return bytes.length === 1 ? bytes[0] !== 0 : undefined;
    case 'int':
    case 'long':
    case 'date':
    case 'time':
      return littleEndian(bytes);
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return decodeTimestamp(type.kind, bytes);
    case 'float':
    case 'double':
      return decodeFloat(bytes);
    case 'decimal':
      return bytes.length > 0 && bytes.length <= 16 ? integerOfBytes(bytes) : undefined;
    case 'string':
      return decodeUtf8(bytes);
    case 'uuid':
      return bytes.length === 16 ? bytes : undefined;
    case 'fixed':
    case 'binary':
      return bytes;
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

/** Returns the binary form of a value; undefined when the type has none. */
export function encodeBound(type: IcebergType, value: Literal): Uint8Array | undefined {
  switch (type.kind) {
    case 'boolean':
      return Uint8Array.of(value === true ? 1 : 0);
    case 'int':
    case 'date':
      return withView(4, (view) => view.setInt32(0, Number(integer(value)), true));
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return withView(8, (view) => view.setBigInt64(0, integer(value), true));
    case 'float':
      return withView(4, (view) => view.setFloat32(0, Number(value), true));
    case 'double':
      return withView(8, (view) => view.setFloat64(0, Number(value), true));
    case 'decimal':
      return bytesOfInteger(integer(value));
    case 'string':
      return Buffer.from(String(value));
    case 'uuid':
    case 'fixed':
    case 'binary':
      return value instanceof Uint8Array ? value : undefined;
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

/** Returns the JSON single-value form of a primitive value. */
export function literalToJson(type: IcebergType, value: Literal): Json {
  switch (type.kind) {
    case 'date':
      return dateText(integer(value));
    case 'time':
      return timeText(integer(value), 6);
    case 'timestamp':
      return timestampText(integer(value), 6);
    case 'timestamptz':
      return `${timestampText(integer(value), 6)}+00:00`;
    case 'timestamp_ns':
      return timestampText(integer(value), 9);
    case 'timestamptz_ns':
      return `${timestampText(integer(value), 9)}+00:00`;
    case 'decimal':
      return decimalText(integer(value), type.scale);
    case 'uuid':
      return uuidText(bytesOf(value));
    case 'fixed':
    case 'binary':
      return Buffer.from(bytesOf(value)).toString('hex');
    case 'float':
    case 'double':
      return Number.isFinite(value) ? Number(value) : String(value);
    case 'boolean':
    case 'int':
    case 'long':
    case 'string':
      if (value instanceof Uint8Array) throw invalid(`a ${type.kind} was expected, not bytes`);
      return isSafe(value) ? Number(value) : value;
    case 'geometry':
    case 'geography':
    case 'struct':
    case 'list':
    case 'map':
    case 'unknown':
    case 'variant':
      throw invalid(`a ${type.kind} has no single value`);
    default:
      return unreachable(type);
  }
}

const isSafe = (value: Literal): value is bigint =>
  typeof value === 'bigint' && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;

/** Prints unscaled value and scale as decimal digits: (-5, 2) is "-0.05". */
function decimalText(unscaled: bigint, scale: number): string {
  if (scale === 0) return unscaled.toString();
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** Whether a text is bytes in hex. A pattern that repeats a group would overflow the pattern engine's stack for a text of some megabytes. */
export const isHex = (text: string): boolean => text.length % 2 === 0 && !/[^0-9a-f]/i.test(text);

export const uuidBytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll('-', ''), 'hex'));

/** Prints days since 1970 as `2024-02-29`, in the proleptic Gregorian calendar; years beyond 9999 keep all their digits. */
function dateText(days: bigint): string {
  const { year, month, day } = civilDate(Number(days));
  const sign = year < 0 ? '-' : '';
  return `${sign}${pad(Math.abs(year), 4)}-${pad(month, 2)}-${pad(day, 2)}`;
}

/** Returns the calendar date of a day number (Howard Hinnant's algorithm): exact for every int32, unlike `Date`. */
export function civilDate(days: number): { year: number; month: number; day: number } {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1,
  };
}

function timeText(units: bigint, fractionDigits: number): string {
  const perSecond = 10n ** BigInt(fractionDigits);
  const seconds = Number(units / perSecond);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60].map((n) => pad(n, 2));
  return `${clock.join(':')}.${(units % perSecond).toString().padStart(fractionDigits, '0')}`;
}

function timestampText(units: bigint, fractionDigits: number): string {
  const perDay = 86_400n * 10n ** BigInt(fractionDigits);
  const days = floorDivide(units, perDay);
  return `${dateText(days)}T${timeText(units - days * perDay, fractionDigits)}`;
}

/** Divides, rounding towards minus infinity. */
export function floorDivide(value: bigint, divisor: bigint): bigint {
  const quotient = value / divisor;
  return value % divisor < 0n ? quotient - 1n : quotient;
}

function decodeTimestamp(kind: string, bytes: Uint8Array): bigint | undefined {
  const value = littleEndian(bytes);
  if (value === undefined || bytes.length === 8) return value;
  return value * (kind.endsWith('_ns') ? MICROS_PER_DAY * 1000n : MICROS_PER_DAY);
}

function decodeFloat(bytes: Uint8Array): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length === 4) return view.getFloat32(0, true);
  return bytes.length === 8 ? view.getFloat64(0, true) : undefined;
}

function littleEndian(bytes: Uint8Array): bigint | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length === 4) return BigInt(view.getInt32(0, true));
  return bytes.length === 8 ? view.getBigInt64(0, true) : undefined;
}

/** Decodes UTF-8. Undefined for text that was cut inside a character: with a replacement character it would sort wrongly. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function withView(length: number, write: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(length);
  write(new DataView(bytes.buffer));
  return bytes;
}

function integer(value: Literal): bigint {
  if (typeof value === 'bigint') return value;
  throw invalid(`an integer was expected, not ${typeof value}`);
}

function bytesOf(value: Literal): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw invalid(`bytes were expected, not a ${typeof value}`);
}

const pad = (n: number, width: number): string => String(n).padStart(width, '0');
