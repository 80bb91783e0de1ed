import { offsetAt } from './zone-offset.ts';

/** Texts of scalars, as DuckDB casts them to VARCHAR. */

/** Powers of ten from which on, and below which, DuckDB writes an exponent. */
const EXPONENT_MIN = -4;
const EXPONENT_MAX = 16;

/** @param isSingle a FLOAT, which has fewer digits */
export function printFloat(value: number, isSingle: boolean): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0';
  const [mantissa = '', power = '0'] = (isSingle ? singleDigits(value) : value.toExponential()).split('e');
  const exponent = Number(power);
  if (exponent < EXPONENT_MIN || exponent >= EXPONENT_MAX) {
    const digits = String(Math.abs(exponent)).padStart(2, '0');
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
  }
  const sign = value < 0 ? '-' : '';
  const digits = mantissa.replace(/[-.]/g, '');
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`;
}

const SINGLE_DIGITS_MAX = 9;

/** The shortest digits that are this number among those of 32 bits. DuckDB prints a double where they lie half way to the next number. */
function singleDigits(value: number): string {
  for (let digits = 1; digits < SINGLE_DIGITS_MAX; digits += 1) {
    const text = value.toExponential(digits - 1);
    if (Math.fround(Number(text)) === value) return isHalfWay(Number(text), value) ? value.toExponential() : text;
  }
  return value.toExponential(SINGLE_DIGITS_MAX - 1);
}

function isHalfWay(near: number, value: number): boolean {
  const bits = new DataView(new ArrayBuffer(4));
  bits.setFloat32(0, value);
  const step = Math.abs(near) > Math.abs(value) ? 1 : -1;
  bits.setUint32(0, bits.getUint32(0) + step);
  return near === (value + bits.getFloat32(0)) / 2;
}

/** @param width its digits in all: where all of them are behind the point, no 0 stands before it */
export function printDecimal(scaled: bigint, scale: number, width: number): string {
  if (scale === 0) return String(scaled);
  const sign = scaled < 0n ? '-' : '';
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(width > scale ? scale + 1 : scale, '0');
  return `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

export function printBlob(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte <= 0x7e && byte !== 0x22 && byte !== 0x27 && byte !== 0x5c;
    text += isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}

/** The days that stand for infinity. */
const DAYS_INFINITE = 2_147_483_647;

export function printDate(days: number): string {
  if (Math.abs(days) === DAYS_INFINITE) return days > 0 ? 'infinity' : '-infinity';
  const { year, month, day } = civil(days);
  const isBefore = year <= 0;
  const date = `${String(isBefore ? 1 - year : year).padStart(4, '0')}-${two(month)}-${two(day)}`;
  return isBefore ? `${date} (BC)` : date;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** The date of a number of days since 1970, by the method of Howard Hinnant (`civil_from_days`). */
function civil(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

const DAY_S = 86_400n;

/** @param digits of a second that the number counts */
export function printTime(value: bigint, digits: number): string {
  const unit = 10n ** BigInt(digits);
  const seconds = Number(value / unit);
  const clock = `${two(Math.floor(seconds / 3_600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  const fraction = withoutZeros(String(value % unit).padStart(digits, '0'));
  return digits === 0 || fraction === '' ? clock : `${clock}.${fraction}`;
}

/** Digits without the zeros at their end. */
function withoutZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  return digits.slice(0, end);
}

/** The largest number of 64 bits stands for infinity. */
const INFINITE = 9_223_372_036_854_775_807n;

/** @param zone null for a timestamp without a zone */
export function printTimestamp(value: bigint, digits: number, zone: string | null): string {
  if (value === INFINITE || value === -INFINITE) return value > 0n ? 'infinity' : '-infinity';
  const unit = 10n ** BigInt(digits);
  const offsetS = zone === null ? 0 : offsetAt(zone, Number(floorDivide(value, unit)));
  const local = value + BigInt(offsetS) * unit;
  const days = floorDivide(local, DAY_S * unit);
  const date = printDate(Number(days));
  const time = printTime(local - days * DAY_S * unit, digits);
  const [day, era] = date.endsWith(' (BC)') ? [date.slice(0, -5), ' (BC)'] : [date, ''];
  return `${day}${era} ${time}${zone === null ? '' : offsetText(offsetS)}`;
}

const floorDivide = (value: bigint, by: bigint): bigint => {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
};

function offsetText(offsetS: number): string {
  const seconds = Math.abs(offsetS);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return `${offsetS < 0 ? '-' : '+'}${two(hours)}${minutes === 0 ? '' : `:${two(minutes)}`}`;
}

/** `1 year 2 months -3 days 04:05:06.7` */
export function printInterval(months: number, days: number, micros: bigint): string {
  const parts: string[] = [];
  const add = (count: number, unit: string): void => {
    if (count !== 0) parts.push(`${count} ${unit}${count === 1 || count === -1 ? '' : 's'}`);
  };
  add(Math.trunc(months / 12), 'year');
  add(months % 12, 'month');
  add(days, 'day');
  if (micros !== 0n || parts.length === 0) {
    parts.push(`${micros < 0n ? '-' : ''}${printTime(micros < 0n ? -micros : micros, 6)}`);
  }
  return parts.join(' ');
}
