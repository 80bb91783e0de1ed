import { must, unreachable } from '#shared/must.ts';
import type { Literal } from '#shared/iceberg/predicate.ts';
import { uuidBytes } from '#shared/iceberg/single-value.ts';
import type { Transform } from '#shared/iceberg/transform.ts';
import type { IcebergType } from '#shared/iceberg/type.ts';

/**
 * Prints a partition transform as DuckDB SQL over the column. The SQL yields text (or null) that `parsePartitionText` converts to the
 * partition value: integers, dates and times as their number, decimals unscaled, bytes in hex.
 */
export function transformSql(transform: Transform, source: IcebergType, column: string): string {
  const integer = isInteger(source) ? integerSql(source, column) : undefined;
  switch (transform.kind) {
    case 'identity':
      return integer === undefined ? plainSql(source, column) : text(integer);
    case 'void':
      return 'NULL::VARCHAR';
    case 'bucket':
      return text(bucketSql(transform.count, source, column));
    case 'truncate':
      return truncateSql(transform.width, source, integer, column);
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      return text(timeSql(transform.kind, source, column));
    case 'unknown':
      throw new Error(`invariant: the transform ${transform.text} was refused`);
    default:
      return unreachable(transform);
  }
}

/**
 * Prints SQL that is equal for two rows just when they are of one partition: the value itself where it is a number, otherwise a digest,
 * because the answer of RETURN_STATS has it, and the values may be long. Numbers cost a row much less than their text.
 */
export function partitionKeySql(transform: Transform, source: IcebergType, column: string): string {
  switch (transform.kind) {
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      return timeSql(transform.kind, source, column);
    case 'bucket':
      return bucketSql(transform.count, source, column);
    case 'identity':
      if (PLAIN.has(source.kind)) return column;
      if (source.kind !== 'decimal' && isInteger(source)) return integerSql(source, column);
      return `md5(${transformSql(transform, source, column)})`;
    case 'truncate':
    case 'void':
    case 'unknown':
      return `md5(${transformSql(transform, source, column)})`;
    default:
      return unreachable(transform);
  }
}

/** Types whose values are keys as they are. */
const PLAIN: ReadonlySet<string> = new Set(['boolean', 'int', 'long', 'decimal', 'uuid']);

const bucketSql = (count: number, source: IcebergType, column: string): string =>
  `(${hashSql(source, column)} & 2147483647) % ${count}`;

/** Parses the text of `transformSql` as a partition value of the transform's result type. */
export function parsePartitionText(type: IcebergType, value: string | null): Literal | null {
  if (value === null) return null;
  if (type.kind === 'string') return value;
  if (type.kind === 'boolean') return value === 'true';
  if (type.kind === 'float' || type.kind === 'double') return parseFloatText(value);
  if (type.kind === 'uuid') return uuidBytes(value);
  if (type.kind === 'binary' || type.kind === 'fixed') return Uint8Array.from(Buffer.from(value, 'hex'));
  return BigInt(value);
}

/** Parses a float in DuckDB's text form. */
export function parseFloatText(value: string): number {
  if (value === 'inf') return Infinity;
  if (value === '-inf') return -Infinity;
  return value === 'nan' ? Number.NaN : Number(value);
}

/** Names of the macros that `bucket` needs (`hash-macros.ts`); whoever opens the instance makes them. */
export const HASH_FUNCTIONS = {
  integer: 'skein_hash_integer',
  decimal: 'skein_hash_decimal',
  text: 'skein_hash_text',
  bytes: 'skein_hash_bytes',
} as const;

const text = (sql: string): string => `CAST(${sql} AS VARCHAR)`;

const INTEGERS = new Set(['int', 'long', 'decimal', 'date', 'time', 'timestamp', 'timestamptz', 'timestamp_ns']);
const isInteger = (type: IcebergType): boolean => INTEGERS.has(type.kind);

/** Prints SQL for the integer that represents a value in Iceberg: unscaled decimal, days, microseconds, nanoseconds. */
function integerSql(source: IcebergType, column: string): string {
  if (source.kind === 'decimal') return `CAST(replace(CAST(${column} AS VARCHAR), '.', '') AS HUGEINT)`;
  if (source.kind === 'date') return `(${column} - DATE '1970-01-01')`;
  if (source.kind === 'timestamp_ns') return `epoch_ns(${column})`;
  return source.kind === 'int' || source.kind === 'long' ? column : `epoch_us(${column})`;
}

function plainSql(source: IcebergType, column: string): string {
  return source.kind === 'binary' || source.kind === 'fixed' ? `hex(${column})` : text(column);
}

function hashSql(source: IcebergType, column: string): string {
  if (source.kind === 'string') return `${HASH_FUNCTIONS.text}(${column})`;
  if (source.kind === 'binary' || source.kind === 'fixed') return `${HASH_FUNCTIONS.bytes}(${column})`;
  if (source.kind === 'uuid') return `${HASH_FUNCTIONS.bytes}(unhex(replace(CAST(${column} AS VARCHAR), '-', '')))`;
  const integer = integerSql(source, column);
  if (source.kind === 'decimal') return `${HASH_FUNCTIONS.decimal}(${integer})`;
  // Nanoseconds hash like their microseconds.
  const hashed = source.kind === 'timestamp_ns' ? floorDivided(integer, 1_000) : integer;
  return `${HASH_FUNCTIONS.integer}((${hashed})::BIGINT)`;
}

function truncateSql(width: number, source: IcebergType, integer: string | undefined, column: string): string {
  if (source.kind === 'string') return `left(${column}, ${width})`;
  if (source.kind === 'binary') return `left(hex(${column}), ${width * 2})`;
  const value = `${must(integer, 'truncate takes integers, decimals, text and bytes')}::HUGEINT`;
  return text(`${value} - ((${value} % ${width} + ${width}) % ${width})`);
}

const MICROS_PER_HOUR = 3_600_000_000;
const MICROS_PER_DAY = 24 * MICROS_PER_HOUR;

/** Prints the quotient rounded towards minus infinity; DuckDB's `//` rounds towards zero. */
const floorDivided = (value: string, divisor: number): string =>
  `((${value}) - (((${value}) % ${divisor} + ${divisor}) % ${divisor})) // ${divisor}`;

function timeSql(unit: 'year' | 'month' | 'day' | 'hour', source: IcebergType, column: string): string {
  const isNanos = source.kind === 'timestamp_ns';
  const units = isNanos ? `epoch_ns(${column})` : `epoch_us(${column})`;
  if (unit === 'hour') return floorDivided(units, isNanos ? MICROS_PER_HOUR * 1_000 : MICROS_PER_HOUR);
  // The cast of nanoseconds to a date rounds towards zero.
  const nanoDays = floorDivided(units, MICROS_PER_DAY * 1_000);
  if (unit === 'day' && isNanos) return nanoDays;
  const date = isNanos
    ? `(DATE '1970-01-01' + CAST(${nanoDays} AS INTEGER))`
    : source.kind === 'timestamptz'
      ? `CAST(${column} AT TIME ZONE 'UTC' AS DATE)`
      : `CAST(${column} AS DATE)`;
  if (unit === 'day') return `(${date} - DATE '1970-01-01')`;
  return unit === 'year' ? `year(${date}) - 1970` : `(year(${date}) - 1970) * 12 + month(${date}) - 1`;
}
