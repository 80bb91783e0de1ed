import { SkeinError } from '#shared/error.ts';
import type { ValueKind } from './postgres-type.ts';

/** Days and microseconds count from 2000-01-01. */
const EPOCH_DAYS = 10_957;
const DAY_MS = 86_400_000;
const MICROS_PER_DAY = 86_400_000_000n;

/** A value in Postgres' binary form, from the text that Postgres would print. @throws NOT_SUPPORTED */
export function valueBinary(text: string, kind: ValueKind): Buffer {
  switch (kind) {
    case 'bool':
      return Buffer.from([text === 't' ? 1 : 0]);
    case 'int2':
    case 'int4':
      return integer(Number(text), kind === 'int2' ? 2 : 4);
    case 'int8':
      return int64(BigInt(text));
    case 'float4':
      return written(4, (bytes) => bytes.writeFloatBE(Number(text)));
    case 'float8':
      return written(8, (bytes) => bytes.writeDoubleBE(Number(text)));
    case 'text':
      return Buffer.from(text);
    case 'jsonb':
      return Buffer.concat([Buffer.from([1]), Buffer.from(text)]);
    case 'bytea':
      return Buffer.from(text.slice(2), 'hex');
    case 'uuid':
      return Buffer.from(text.replaceAll('-', ''), 'hex');
    case 'date':
      return date(text);
    case 'time':
      return int64(timeMicros(text));
    case 'timestamp':
    case 'timestamptz':
      return int64(timestampMicros(text));
    case 'numeric':
      return numeric(text);
    case 'interval':
    case 'array':
      throw new SkeinError('NOT_SUPPORTED', `values of type ${kind} have no binary form here; ask for them as text`);
  }
}

function written(length: number, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(length);
  write(bytes);
  return bytes;
}

const integer = (value: number, length: number): Buffer =>
  written(length, (bytes) => bytes.writeIntBE(value, 0, length));
const int64 = (value: bigint): Buffer => written(8, (bytes) => bytes.writeBigInt64BE(value));

const DATE = /^(\d+)-(\d\d)-(\d\d)(?: (\d\d:\d\d:\d\d(?:\.\d+)?)(?:([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?)?)?( BC)?$/;

function daysOf(year: number, month: number, day: number): number {
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  return Math.round(at.getTime() / DAY_MS) - EPOCH_DAYS;
}

function readDate(text: string): { readonly days: number; readonly micros: bigint } {
  const [, year, month, day, time, sign, hours, minutes, seconds, bc] = DATE.exec(text) ?? [];
  if (year === undefined) throw new SkeinError('NOT_SUPPORTED', `the date ${text} has no binary form`);
  const zone = Number(hours ?? 0) * 3_600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0);
  const offset = BigInt(sign === '-' ? -zone : zone) * 1_000_000n;
  const ownYear = bc === undefined ? Number(year) : 1 - Number(year);
  return {
    days: daysOf(ownYear, Number(month), Number(day)),
    micros: (time === undefined ? 0n : timeMicros(time)) - offset,
  };
}

function timeMicros(text: string): bigint {
  const [hours, minutes, seconds = '0'] = text.split(':');
  const [whole, fraction = ''] = seconds.split('.');
  const micros = BigInt(fraction.slice(0, 6).padEnd(6, '0'));
  return BigInt((Number(hours) * 60 + Number(minutes)) * 60 + Number(whole)) * 1_000_000n + micros;
}

function date(text: string): Buffer {
  if (text === 'infinity') return integer(0x7f_ff_ff_ff, 4);
  if (text === '-infinity') return integer(-0x80_00_00_00, 4);
  return integer(readDate(text).days, 4);
}

function timestampMicros(text: string): bigint {
  if (text === 'infinity') return 0x7f_ff_ff_ff_ff_ff_ff_ffn;
  if (text === '-infinity') return -0x80_00_00_00_00_00_00_00n;
  const { days, micros } = readDate(text);
  return BigInt(days) * MICROS_PER_DAY + micros;
}

const NEGATIVE = 0x40_00;

/** Digits in groups of four around the point: count, weight of the first, sign, scale, groups. */
function numeric(text: string): Buffer {
  const isNegative = text.startsWith('-');
  const [whole = '', fraction = ''] = text.replace('-', '').split('.');
  const digits =
    whole.padStart(Math.ceil(whole.length / 4) * 4, '0') + fraction.padEnd(Math.ceil(fraction.length / 4) * 4, '0');
  let groups = (digits.match(/\d{4}/g) ?? []).map(Number);
  let weight = Math.ceil(whole.length / 4) - 1;
  const first = groups.findIndex((group) => group !== 0);
  weight = first < 0 ? 0 : weight - first;
  groups = first < 0 ? [] : groups.slice(first, groups.findLastIndex((group) => group !== 0) + 1);
  return written(8 + 2 * groups.length, (bytes) => {
    bytes.writeInt16BE(groups.length, 0);
    bytes.writeInt16BE(weight, 2);
    bytes.writeUInt16BE(isNegative && groups.length > 0 ? NEGATIVE : 0, 4);
    bytes.writeUInt16BE(fraction.length, 6);
    for (const [i, group] of groups.entries()) bytes.writeInt16BE(group, 8 + 2 * i);
  });
}
