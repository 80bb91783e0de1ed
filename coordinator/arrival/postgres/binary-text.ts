import { isUtf8 } from 'node:buffer';
import { badBytes, BadValue, type ScalarKind } from './value-kind.ts';

/** Values that clients send in binary, as the texts that the engine reads. */

/** @throws BadValue for bytes that are no value of the kind */
export function binaryText(kind: ScalarKind, bytes: Buffer): string {
  const sized = (length: number): Buffer => {
    if (bytes.length !== length) throw badBytes();
    return bytes;
  };
  switch (kind) {
    case 'bool':
      return sized(1)[0] === 0 ? 'false' : 'true';
    case 'int2':
      return String(sized(2).readInt16BE());
    case 'int4':
      return String(sized(4).readInt32BE());
    case 'int8':
      return String(sized(8).readBigInt64BE());
    case 'oid':
      return String(sized(4).readUInt32BE());
    case 'float4':
      return String(sized(4).readFloatBE());
    case 'float8':
      return floatText(sized(8).readDoubleBE());
    case 'numeric':
      return numericText(bytes);
    case 'text':
      return textOf(bytes);
    case 'jsonb':
      // The binary form of jsonb has its version before the text.
      return textOf(bytes[0] === JSONB_VERSION ? bytes.subarray(1) : bytes);
    case 'bytea':
      return `\\x${bytes.toString('hex')}`;
    case 'date':
      return dateText(sized(4).readInt32BE());
    case 'time':
      return timeText(sized(8).readBigInt64BE());
    case 'timestamp':
      return timestampText(sized(8).readBigInt64BE(), '');
    case 'timestamptz':
      return timestampText(sized(8).readBigInt64BE(), '+00');
    case 'interval':
      return intervalText(sized(16));
    case 'uuid':
      return sized(16)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }
}

const JSONB_VERSION = 1;

function textOf(bytes: Buffer): string {
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString();
  throw new BadValue('invalid byte sequence for encoding "UTF8"', '22021');
}

/** A number that is not negative zero has the sign that it prints. */
const floatText = (value: number): string => (Object.is(value, -0) ? '-0.0' : String(value));

const [POSITIVE, NEGATIVE, NAN, INFINITE, MINUS_INFINITE] = [0, 0x40_00, 0xc0_00, 0xd0_00, 0xf0_00];
const HEAD_BYTES = 8;
const GROUP_DIGITS = 4;

/** Groups of four digits around the point. */
function numericText(bytes: Buffer): string {
  if (bytes.length < HEAD_BYTES) throw badBytes();
  const [count, weight, sign, scale] = [
    bytes.readUInt16BE(),
    bytes.readInt16BE(2),
    bytes.readUInt16BE(4),
    bytes.readUInt16BE(6),
  ];
  if (sign === NAN) return 'NaN';
  if (sign === INFINITE) return 'Infinity';
  if (sign === MINUS_INFINITE) return '-Infinity';
  if ((sign !== POSITIVE && sign !== NEGATIVE) || bytes.length !== HEAD_BYTES + 2 * count) throw badBytes();
  if (weight > NUMERIC_GROUPS_MAX || scale > GROUP_DIGITS * NUMERIC_GROUPS_MAX)
    throw new BadValue('value overflows numeric format', '22003');
  const group = (i: number): string => {
    const value = i >= 0 && i < count ? bytes.readUInt16BE(HEAD_BYTES + 2 * i) : 0;
    if (value > 9_999) throw badBytes();
    return String(value).padStart(GROUP_DIGITS, '0');
  };
  let whole = '';
  for (let i = 0; i <= weight; i += 1) whole += group(i);
  let part = '';
  for (let i = weight + 1; part.length < scale; i += 1) part += group(i);
  const digits = whole.replace(/^0+(?=\d)/, '') || '0';
  return `${sign === NEGATIVE ? '-' : ''}${digits}${scale > 0 ? `.${part.slice(0, scale)}` : ''}`;
}

/** Groups before the point, or behind it, of the longest number. */
const NUMERIC_GROUPS_MAX = 250;

/** Days from 1970-01-01 to 2000-01-01. */
const EPOCH_DAYS = 10_957;
const [INT32_MAX, INT32_MIN] = [0x7f_ff_ff_ff, -0x80_00_00_00];
const [INT64_MAX, INT64_MIN] = [2n ** 63n - 1n, -(2n ** 63n)];
const DAY_MICROS = 86_400_000_000n;

function dateText(days: number): string {
  if (days === INT32_MAX) return 'infinity';
  if (days === INT32_MIN) return '-infinity';
  return civil(days + EPOCH_DAYS);
}

/** A day of the Gregorian calendar, in all of Postgres' years (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms"). */
function civil(daysFrom1970: number): string {
  const shifted = daysFrom1970 + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const text = `${String(year > 0 ? year : 1 - year).padStart(4, '0')}-${two(month)}-${two(day)}`;
  return year > 0 ? text : `${text} (BC)`;
}

const two = (value: number): string => String(value).padStart(2, '0');

function timeText(micros: bigint): string {
  if (micros < 0n || micros > DAY_MICROS) throw badBytes();
  const seconds = Number(micros / 1_000_000n);
  const part = String(micros % 1_000_000n).padStart(6, '0');
  return `${two(Math.floor(seconds / 3_600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}.${part}`;
}

function timestampText(micros: bigint, zone: string): string {
  if (micros === INT64_MAX) return 'infinity';
  if (micros === INT64_MIN) return '-infinity';
  const inDay = ((micros % DAY_MICROS) + DAY_MICROS) % DAY_MICROS;
  return `${civil(Number((micros - inDay) / DAY_MICROS) + EPOCH_DAYS)} ${timeText(inDay)}${zone}`;
}

const intervalText = (bytes: Buffer): string =>
  `${bytes.readInt32BE(12)} months ${bytes.readInt32BE(8)} days ${bytes.readBigInt64BE()} microseconds`;

/** The elements of an array of one dimension. @throws BadValue */
export function binaryElements(bytes: Buffer): readonly (Buffer | null)[] {
  if (bytes.length < 12) throw badBytes();
  const dimensions = bytes.readInt32BE();
  if (dimensions === 0) return [];
  if (dimensions !== 1) throw manyDimensions();
  if (bytes.length < 20) throw badBytes();
  const count = bytes.readInt32BE(12);
  if (count < 0 || count > bytes.length / 4) throw badBytes();
  const elements: (Buffer | null)[] = [];
  let at = 20;
  for (let i = 0; i < count; i += 1) {
    if (at + 4 > bytes.length) throw badBytes();
    const length = bytes.readInt32BE(at);
    at += 4;
    if (at + length > bytes.length) throw badBytes();
    elements.push(length < 0 ? null : bytes.subarray(at, at + length));
    at += Math.max(length, 0);
  }
  if (at !== bytes.length) throw badBytes();
  return elements;
}

export const manyDimensions = (): BadValue => new BadValue('arrays have one dimension', '0A000');
