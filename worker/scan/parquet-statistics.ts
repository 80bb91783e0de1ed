import { integerOfBytes } from '#shared/iceberg/big-endian.ts';
import type { ColumnStats } from '#shared/iceberg/may-match.ts';
import { unreachable } from '#shared/must.ts';
import type { Literal } from '#shared/iceberg/predicate.ts';
import { annotationOf, type SchemaElement } from './parquet-schema.ts';
import { THRIFT, type ThriftCursor } from './thrift-cursor.ts';

/** The struct `Statistics` of a column chunk, bounds undecoded. */
type RawStatistics = {
  nullCount?: number;
  /** The deprecated bounds, which compare bytes as signed. */
  oldMin?: Buffer;
  oldMax?: Buffer;
  min?: Buffer;
  max?: Buffer;
};

const BINARY_FIELDS = { 1: 'oldMax', 2: 'oldMin', 5: 'max', 6: 'min' } as const;

/** Statistics as `mayMatch` wants them. @throws INVALID_TABLE_DATA */
export function readStatistics(cursor: ThriftCursor, element: SchemaElement, rows: number): ColumnStats {
  const raw: RawStatistics = {};
  cursor.readStruct((id, type) => {
    if (type === THRIFT.binary && id in BINARY_FIELDS) {
      raw[BINARY_FIELDS[id as keyof typeof BINARY_FIELDS]] = cursor.readBinary();
      return true;
    }
    if (id !== 3 || type !== THRIFT.int64) return false;
    raw.nullCount = cursor.readInt();
    return true;
  });
  const isTextual = element.type === 'BYTE_ARRAY' || element.type === 'FIXED_LEN_BYTE_ARRAY';
  const lower = raw.min ?? (isTextual ? undefined : raw.oldMin);
  const upper = raw.max ?? (isTextual ? undefined : raw.oldMax);
  return {
    lower: lower && boundOf(lower, element),
    upper: upper && boundOf(upper, element),
    nullCount: raw.nullCount !== undefined && raw.nullCount >= 0 ? raw.nullCount : undefined,
    valueCount: rows,
  };
}

/** Longer text bounds are ignored: the file's writer controls their length and how often they are decoded. */
const TEXT_BYTES_MAX = 4_096;
/** Longest decimal of a table, in bytes. */
const DECIMAL_BYTES_MAX = 16;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The bound as a literal of the Iceberg type; undefined when it may not be trusted or is of a type without bounds here. */
function boundOf(bytes: Buffer, element: SchemaElement): Literal | undefined {
  const annotation = annotationOf(element);
  if (annotation === 'TIME' || annotation === 'TIME_MILLIS') return undefined;
  switch (element.type) {
    case 'BOOLEAN':
      return bytes.length === 1 ? bytes[0] === 1 : undefined;
    case 'INT32':
      if (bytes.length !== 4) return undefined;
      return BigInt(isUnsigned(element) ? bytes.readUInt32LE() : bytes.readInt32LE());
    case 'INT64':
      return bytes.length === 8 ? int64Bound(bytes, element) : undefined;
    case 'FLOAT':
      return bytes.length === 4 ? bytes.readFloatLE() : undefined;
    case 'DOUBLE':
      return bytes.length === 8 ? bytes.readDoubleLE() : undefined;
    case 'FIXED_LEN_BYTE_ARRAY': {
      const isDecimal = annotation === 'DECIMAL' && bytes.length > 0 && bytes.length <= DECIMAL_BYTES_MAX;
      return isDecimal ? integerOfBytes(bytes) : undefined;
    }
    case 'BYTE_ARRAY':
      // Unannotated bytes, and decimals, about whose order writers disagree, have no bound.
      return annotation === undefined || annotation === 'DECIMAL' ? undefined : textBound(bytes);
    case 'INT96':
    case undefined:
      return undefined;
    default:
      return unreachable(element.type);
  }
}

function int64Bound(bytes: Buffer, element: SchemaElement): bigint {
  if (isUnsigned(element)) return bytes.readBigUInt64LE();
  const value = bytes.readBigInt64LE();
  const { logical, converted } = element;
  const isMillis = logical?.kind === 'TIMESTAMP' ? logical.unit === 'MILLIS' : converted === 'TIMESTAMP_MILLIS';
  return isMillis ? value * 1000n : value;
}

const isUnsigned = ({ logical, converted }: SchemaElement): boolean =>
  logical?.kind === 'INTEGER' ? !logical.isSigned : converted?.startsWith('UINT_') === true;

/** A text bound; undefined when it is too long or was cut inside a character. */
function textBound(bytes: Buffer): string | undefined {
  if (bytes.length > TEXT_BYTES_MAX) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
