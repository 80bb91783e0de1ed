import { tooComplex } from '#shared/iceberg/decode-limits.ts';
import { corrupt, THRIFT, type ThriftCursor } from './thrift-cursor.ts';

/** One element of a Parquet schema, which is a tree written depth first (apache/parquet-format, `SchemaElement`). */
export type SchemaElement = {
  readonly name: string;
  /** Physical type; present for leaves only. */
  readonly type?: PhysicalType;
  readonly children: number;
  readonly fieldId?: number;
  /** The deprecated annotation `ConvertedType`. */
  readonly converted?: string;
  readonly logical?: LogicalType;
  readonly scale: number;
  readonly precision: number;
};

type LogicalType =
  | { readonly kind: 'TIMESTAMP'; readonly isAdjustedToUtc: boolean; readonly unit: TimeUnit }
  | { readonly kind: 'INTEGER'; readonly isSigned: boolean }
  | { readonly kind: Exclude<(typeof LOGICAL)[number], 'TIMESTAMP' | 'INTEGER'> };

type PhysicalType = (typeof PHYSICAL)[number];
type TimeUnit = (typeof UNITS)[number];

const PHYSICAL = [
  'BOOLEAN',
  'INT32',
  'INT64',
  'INT96',
  'FLOAT',
  'DOUBLE',
  'BYTE_ARRAY',
  'FIXED_LEN_BYTE_ARRAY',
] as const;
const UNITS = ['MILLIS', 'MICROS', 'NANOS'] as const;
const CONVERTED = (
  'UTF8 MAP MAP_KEY_VALUE LIST ENUM DECIMAL DATE TIME_MILLIS TIME_MICROS TIMESTAMP_MILLIS TIMESTAMP_MICROS ' +
  'UINT_8 UINT_16 UINT_32 UINT_64 INT_8 INT_16 INT_32 INT_64 JSON BSON INTERVAL'
).split(' ');
/** Logical types, indexed by field number in the union `LogicalType` minus 1; there is no field 9. */
const LOGICAL = [
  'STRING',
  'MAP',
  'LIST',
  'ENUM',
  'DECIMAL',
  'DATE',
  'TIME',
  'TIMESTAMP',
  'UNKNOWN',
  'INTEGER',
  'NULL',
  'JSON',
  'BSON',
  'UUID',
  'FLOAT16',
  'VARIANT',
  'GEOMETRY',
  'GEOGRAPHY',
] as const;

/** Longest column name in bytes, equal to the limit for identifiers. */
const NAME_BYTES_MAX = 1_024;

/** @throws INVALID_TABLE_DATA, TABLE_DATA_TOO_COMPLEX */
export function readSchemaElement(cursor: ThriftCursor): SchemaElement {
  const made: { -readonly [K in keyof SchemaElement]: SchemaElement[K] } = {
    name: '',
    children: 0,
    scale: 0,
    precision: 0,
  };
  cursor.readStruct((id, type) => {
    if (id === 4 && type === THRIFT.binary) made.name = nameOf(cursor.readBinary());
    else if (id === 10 && type === THRIFT.struct) made.logical = readLogicalType(cursor);
    else if (type !== THRIFT.int32) return false;
    else readNumber(made, id, cursor.readInt());
    return true;
  });
  if (made.children < 0) throw corrupt('a group has a negative number of fields');
  return made;
}

function readNumber(made: { -readonly [K in keyof SchemaElement]: SchemaElement[K] }, id: number, value: number): void {
  if (id === 1) made.type = PHYSICAL[value] ?? unknownType();
  else if (id === 5) made.children = value;
  else if (id === 6 && CONVERTED[value] !== undefined) made.converted = CONVERTED[value];
  else if (id === 7) made.scale = value;
  else if (id === 8) made.precision = value;
  else if (id === 9) made.fieldId = value;
}

function nameOf(bytes: Buffer): string {
  if (bytes.length > NAME_BYTES_MAX) throw tooComplex(`a column's name is longer than ${NAME_BYTES_MAX} bytes`);
  return bytes.toString();
}

function unknownType(): never {
  throw corrupt('a column has an unknown type');
}

function readLogicalType(cursor: ThriftCursor): LogicalType {
  let made: LogicalType = { kind: 'UNKNOWN' };
  cursor.readStruct((id, type) => {
    if (type !== THRIFT.struct) return false;
    const kind = LOGICAL[id - 1] ?? 'UNKNOWN';
    if (kind === 'TIMESTAMP') made = readTimestamp(cursor);
    else if (kind === 'INTEGER') made = { kind, isSigned: readFlag(cursor, 2) };
    else {
      cursor.skip(type);
      made = { kind };
    }
    return true;
  });
  return made;
}

function readTimestamp(cursor: ThriftCursor): LogicalType {
  let isAdjustedToUtc = false;
  let unit: TimeUnit = 'MICROS';
  cursor.readStruct((id, type) => {
    if (id === 1) isAdjustedToUtc = type === THRIFT.true;
    if (id !== 2 || type !== THRIFT.struct) return false;
    cursor.readStruct((which) => {
      unit = UNITS[which - 1] ?? unit;
      return false;
    });
    return true;
  });
  return { kind: 'TIMESTAMP', isAdjustedToUtc, unit };
}

/** Reads one boolean field of a struct. */
function readFlag(cursor: ThriftCursor, wanted: number): boolean {
  let flag = false;
  cursor.readStruct((id, type) => {
    if (id === wanted) flag = type === THRIFT.true;
    return false;
  });
  return flag;
}

/** The name of a column's logical type, from the newer annotation if present, else from the older one. */
export const annotationOf = ({ logical, converted }: SchemaElement): string | undefined => logical?.kind ?? converted;
