import { unreachable } from '#shared/must.ts';
import { bytesOfInteger } from './big-endian.ts';
import { murmur3 } from './murmur3.ts';
import type { Literal } from './predicate.ts';
import { civilDate, floorDivide } from './single-value.ts';
import type { IcebergType } from './type.ts';

/** Partition transforms. `unknown` is one that a newer specification may add: its values cannot be interpreted and prune nothing. */
export type Transform =
  | { readonly kind: 'identity' | TimeUnit | 'void' }
  | { readonly kind: 'bucket'; readonly count: number }
  | { readonly kind: 'truncate'; readonly width: number }
  | { readonly kind: 'unknown'; readonly text: string };

type TimeUnit = 'year' | 'month' | 'day' | 'hour';

export function parseTransform(text: string): Transform {
  if (/^(identity|year|month|day|hour|void)$/.test(text)) return { kind: text as 'identity' | TimeUnit | 'void' };
  const [, name, digits] = /^(bucket|truncate)\[(\d+)\]$/.exec(text) ?? [];
  const parameter = Number(digits);
  if (name === undefined || parameter < 1 || parameter > 2_147_483_647) return { kind: 'unknown', text };
  return name === 'bucket' ? { kind: 'bucket', count: parameter } : { kind: 'truncate', width: parameter };
}

export function printTransform(transform: Transform): string {
  if (transform.kind === 'bucket') return `bucket[${transform.count}]`;
  if (transform.kind === 'truncate') return `truncate[${transform.width}]`;
  return transform.kind === 'unknown' ? transform.text : transform.kind;
}

/** Returns the type of a transform's values over a source type; undefined for an unknown transform. */
export function resultType(transform: Transform, source: IcebergType): IcebergType | undefined {
  switch (transform.kind) {
    case 'identity':
    case 'truncate':
    case 'void':
      return source;
    case 'bucket':
    case 'year':
    case 'month':
    case 'hour':
      return { kind: 'int' };
    case 'day':
      return { kind: 'date' };
    case 'unknown':
      return undefined;
    default:
      return unreachable(transform);
  }
}

const TEMPORAL = new Set(['date', 'timestamp', 'timestamptz', 'timestamp_ns', 'timestamptz_ns']);
const INTEGERS = new Set(['int', 'long', 'decimal']);
const BUCKETED = new Set([...INTEGERS, ...TEMPORAL, 'time', 'string', 'uuid', 'fixed', 'binary']);
const UNORDERED = new Set(['struct', 'list', 'map', 'variant', 'unknown', 'geometry', 'geography']);

/** Whether the specification allows the transform over the type. */
export function isTransformable(transform: Transform, source: IcebergType): boolean {
  switch (transform.kind) {
    case 'identity':
      return !UNORDERED.has(source.kind);
    case 'void':
      return true;
    case 'bucket':
      return BUCKETED.has(source.kind);
    case 'truncate':
      return INTEGERS.has(source.kind) || source.kind === 'string' || source.kind === 'binary';
    case 'hour':
      return TEMPORAL.has(source.kind) && source.kind !== 'date';
    case 'year':
    case 'month':
    case 'day':
      return TEMPORAL.has(source.kind);
    case 'unknown':
      return false;
    default:
      return unreachable(transform);
  }
}

/** Returns the partition value of a column value; undefined when the transform is unknown or not defined over the type. */
export function applyTransform(transform: Transform, source: IcebergType, value: Literal): Literal | null | undefined {
  switch (transform.kind) {
    case 'identity':
      return value;
    case 'void':
      return null;
    case 'bucket':
      return bucket(transform.count, source, value);
    case 'truncate':
      return truncate(transform.width, value);
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      return typeof value === 'bigint' ? timeUnits(transform.kind, source, value) : undefined;
    case 'unknown':
      return undefined;
    default:
      return unreachable(transform);
  }
}

function bucket(count: number, source: IcebergType, value: Literal): bigint | undefined {
  const hash = bucketHash(source, value);
  return hash === undefined ? undefined : BigInt((hash & 0x7fffffff) % count);
}

/** Returns the hash of appendix B; undefined for types that are not hashed. */
export function bucketHash(source: IcebergType, value: Literal): number | undefined {
  if (typeof value === 'string') return murmur3(Buffer.from(value));
  if (value instanceof Uint8Array) return murmur3(value);
  if (typeof value !== 'bigint' || !BUCKETED.has(source.kind)) return undefined;
  if (source.kind === 'decimal') return murmur3(bytesOfInteger(value));
  return murmur3(longBytes(source.kind.endsWith('_ns') ? floorDivide(value, 1000n) : value));
}

/** Returns the bytes of an integer that are hashed: little endian, 8 of them. */
export function longBytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value, true);
  return bytes;
}

function truncate(width: number, value: Literal): Literal | undefined {
  if (typeof value === 'bigint') return floorDivide(value, BigInt(width)) * BigInt(width);
  if (typeof value === 'string') return firstCodePoints(value, width);
  return value instanceof Uint8Array ? value.subarray(0, width) : undefined;
}

/** Returns the first `count` code points of a text. */
export function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let i = 0; i < count && end < text.length; i++) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

/** Number of units of each temporal type in a day. */
const PER_DAY: Readonly<Record<string, bigint>> = {
  date: 1n,
  timestamp: 86_400_000_000n,
  timestamptz: 86_400_000_000n,
  timestamp_ns: 86_400_000_000_000n,
  timestamptz_ns: 86_400_000_000_000n,
};

function timeUnits(unit: TimeUnit, source: IcebergType, value: bigint): bigint | undefined {
  const perDay = PER_DAY[source.kind];
  if (perDay === undefined) return undefined;
  if (unit === 'hour') return source.kind === 'date' ? undefined : floorDivide(value, perDay / 24n);
  const days = floorDivide(value, perDay);
  if (unit === 'day') return days;
  const { year, month } = civilDate(Number(days));
  return BigInt(unit === 'year' ? year - 1970 : (year - 1970) * 12 + month - 1);
}
