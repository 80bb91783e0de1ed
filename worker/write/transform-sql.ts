import {
  BIGINT,
  BLOB,
  DuckDBBlobValue,
  DuckDBScalarFunction,
  INTEGER,
  VARCHAR,
  type DuckDBConnection,
  type DuckDBType,
} from '@duckdb/node-api';
import { must, unreachable } from '#shared/must.ts';
import { bytesOfInteger } from '#shared/iceberg/big-endian.ts';
import { murmur3 } from '#shared/iceberg/murmur3.ts';
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
      return text(`(${hashSql(source, column)} & 2147483647) % ${transform.count}`);
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

/** Registers the hash functions that `bucket` needs in one instance, because DuckDB has no Murmur3. */
export function registerHashes(connection: DuckDBConnection): void {
  const hashes: readonly (readonly [string, DuckDBType, (value: unknown) => Uint8Array])[] = [
    ['skein_hash_integer', BIGINT, (value) => littleEndian(value as bigint)],
    ['skein_hash_decimal', VARCHAR, (value) => bytesOfInteger(BigInt(value as string))],
    ['skein_hash_text', VARCHAR, (value) => Buffer.from(value as string)],
    ['skein_hash_bytes', BLOB, (value) => (value as DuckDBBlobValue).bytes],
  ];
  for (const [name, type, toBytes] of hashes) {
    connection.registerScalarFunction(
      DuckDBScalarFunction.create({
        name,
        parameterTypes: [type],
        returnType: INTEGER,
        mainFunction: (_info, input, output) => {
          const values = input.getColumnVector(0);
          for (let row = 0; row < input.rowCount; row++) {
            const value = values.getItem(row);
            output.setItem(row, value === null ? null : murmur3(toBytes(value)));
          }
          output.flush();
        },
      }),
    );
  }
}

function littleEndian(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value, true);
  return bytes;
}

const text = (sql: string): string => `CAST(${sql} AS VARCHAR)`;

const INTEGERS = new Set(['int', 'long', 'decimal', 'date', 'time', 'timestamp', 'timestamptz']);
const isInteger = (type: IcebergType): boolean => INTEGERS.has(type.kind);

/** Prints SQL for the integer that represents a value in Iceberg: unscaled decimal, days, microseconds. */
function integerSql(source: IcebergType, column: string): string {
  if (source.kind === 'decimal') return `CAST(replace(CAST(${column} AS VARCHAR), '.', '') AS HUGEINT)`;
  if (source.kind === 'date') return `(${column} - DATE '1970-01-01')`;
  return source.kind === 'int' || source.kind === 'long' ? column : `epoch_us(${column})`;
}

function plainSql(source: IcebergType, column: string): string {
  return source.kind === 'binary' || source.kind === 'fixed' ? `hex(${column})` : text(column);
}

function hashSql(source: IcebergType, column: string): string {
  if (source.kind === 'string') return `skein_hash_text(${column})`;
  if (source.kind === 'binary' || source.kind === 'fixed') return `skein_hash_bytes(${column})`;
  if (source.kind === 'uuid') return `skein_hash_bytes(unhex(replace(CAST(${column} AS VARCHAR), '-', '')))`;
  const integer = integerSql(source, column);
  return source.kind === 'decimal' ? `skein_hash_decimal(${text(integer)})` : `skein_hash_integer(${integer}::BIGINT)`;
}

function truncateSql(width: number, source: IcebergType, integer: string | undefined, column: string): string {
  if (source.kind === 'string') return `left(${column}, ${width})`;
  if (source.kind === 'binary') return `left(hex(${column}), ${width * 2})`;
  const value = `${must(integer, 'truncate takes integers, decimals, text and bytes')}::HUGEINT`;
  return text(`${value} - ((${value} % ${width} + ${width}) % ${width})`);
}

const MICROS_PER_HOUR = 3_600_000_000;

function timeSql(unit: 'year' | 'month' | 'day' | 'hour', source: IcebergType, column: string): string {
  if (unit === 'hour') {
    const micros = `epoch_us(${column})`;
    return `(${micros} - ((${micros} % ${MICROS_PER_HOUR} + ${MICROS_PER_HOUR}) % ${MICROS_PER_HOUR})) // ${MICROS_PER_HOUR}`;
  }
  const date = source.kind === 'timestamptz' ? `CAST(${column} AT TIME ZONE 'UTC' AS DATE)` : `CAST(${column} AS DATE)`;
  if (unit === 'day') return `(${date} - DATE '1970-01-01')`;
  return unit === 'year' ? `year(${date}) - 1970` : `(year(${date}) - 1970) * 12 + month(${date}) - 1`;
}
