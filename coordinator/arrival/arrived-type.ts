import {
  Binary,
  DataType,
  Decimal,
  Field,
  FixedSizeList,
  Float32,
  List,
  Map_,
  Precision,
  Struct,
  TimestampMicrosecond,
  TimeUnit,
  Type,
  Utf8,
} from 'apache-arrow';
import { SkeinError } from '#shared/error.ts';
import type { SqlField, SqlType } from '../plan/sql-type.ts';

/** The type of a column of rows that a client sends: as its values travel in the engine, and as SQL names it. */
export type ArrivedType = { readonly arrow: DataType; readonly sql: SqlType };

/**
 * The unit of timestamps that come in nanoseconds. Those without a zone stay in nanoseconds (TIMESTAMP_NS), or become microseconds, which
 * must hold each value exactly. Those with a zone always become microseconds, because TIMESTAMPTZ has no other unit.
 */
export type Precise = 'nanoseconds' | 'microseconds';

/** Limit of nesting. */
const DEPTH_MAX = 50;
const DECIMAL_DIGITS_MAX = 38;
const DECIMAL_BITS = 128;
const DECIMAL_WIDTHS: ReadonlySet<number> = new Set([32, 64, 128, 256]);
const UUID_BYTES = 16;
/** Metadata key of a field whose type has a meaning beyond Arrow's. */
const EXTENSION_KEY = 'ARROW:extension:name';

/**
 * The type that a column of a client's rows has here. Dictionaries become their values, views and large forms the plain ones.
 * @throws NOT_SUPPORTED with the name of the column
 */
export function arrivedType(field: Field, precise: Precise): ArrivedType {
  const refuse = (type: DataType): never => {
    throw new SkeinError(
      'NOT_SUPPORTED',
      `column ${field.name}: rows of the Arrow type ${Type[type.typeId]} are not taken`,
    );
  };
  const visit = (type: DataType, depth: number): ArrivedType => {
    if (depth > DEPTH_MAX) return refuse(type);
    return (
      leaf(type) ?? temporal(type, precise) ?? nested(type, (child) => visitField(child, depth + 1)) ?? refuse(type)
    );
  };
  const visitField = (of: Field, depth: number): ArrivedType =>
    isUuid(of) ? { arrow: of.type, sql: scalar('UUID') } : visit(of.type, depth);
  return visitField(field, 0);
}

/** Whether the values of a field are UUIDs. */
export const isUuid = ({ type, metadata }: Field): boolean =>
  metadata.get(EXTENSION_KEY) === 'arrow.uuid' && DataType.isFixedSizeBinary(type) && type.byteWidth === UUID_BYTES;

/** A field of the engine's own schema; a UUID says that it is one. */
export const plainField = (name: string, { arrow, sql }: ArrivedType): Field => {
  const hasUuids = sql.kind === 'scalar' && sql.name === 'UUID';
  return new Field(name, arrow, true, hasUuids ? new Map([[EXTENSION_KEY, 'arrow.uuid']]) : undefined);
};

const scalar = (name: string): SqlType => ({ kind: 'scalar', name });

const INTEGERS: Readonly<Record<number, string>> = { 8: 'TINYINT', 16: 'SMALLINT', 32: 'INTEGER', 64: 'BIGINT' };

/** Types that hold no other; undefined for the rest. */
function leaf(type: DataType): ArrivedType | undefined {
  if (DataType.isNull(type) || isText(type)) return { arrow: new Utf8(), sql: scalar('VARCHAR') };
  if (isBytes(type)) return { arrow: new Binary(), sql: scalar('BLOB') };
  if (DataType.isFixedSizeBinary(type)) return type.byteWidth > 0 ? { arrow: type, sql: scalar('BLOB') } : undefined;
  if (DataType.isBool(type)) return { arrow: type, sql: scalar('BOOLEAN') };
  if (DataType.isInt(type)) {
    const name = INTEGERS[type.bitWidth];
    return name === undefined ? undefined : { arrow: type, sql: scalar(`${type.isSigned ? '' : 'U'}${name}`) };
  }
  if (DataType.isFloat(type)) {
    if (type.precision === Precision.DOUBLE) return { arrow: type, sql: scalar('DOUBLE') };
    return { arrow: new Float32(), sql: scalar('FLOAT') };
  }
  if (DataType.isDecimal(type)) {
    const { precision, scale, bitWidth } = type;
    if (!DECIMAL_WIDTHS.has(bitWidth) || precision < 1 || precision > DECIMAL_DIGITS_MAX) return undefined;
    if (scale < 0 || scale > precision) return undefined;
    return { arrow: new Decimal(scale, precision, DECIMAL_BITS), sql: { kind: 'decimal', width: precision, scale } };
  }
  return undefined;
}

/** Whether the values of a type come in nanoseconds and go on in microseconds. */
export const isNarrowed = (type: DataType, precise: Precise): boolean =>
  DataType.isTimestamp(type) &&
  type.unit === TimeUnit.NANOSECOND &&
  (precise === 'microseconds' || Boolean(type.timezone));

function temporal(type: DataType, precise: Precise): ArrivedType | undefined {
  if (DataType.isDate(type)) return { arrow: type, sql: scalar('DATE') };
  if (DataType.isTime(type)) return { arrow: type, sql: scalar('TIME') };
  if (DataType.isTimestamp(type)) {
    const arrow = isNarrowed(type, precise) ? new TimestampMicrosecond(type.timezone) : type;
    if (type.timezone) return { arrow, sql: scalar('TIMESTAMP WITH TIME ZONE') };
    return { arrow, sql: scalar(arrow.unit === TimeUnit.NANOSECOND ? 'TIMESTAMP_NS' : 'TIMESTAMP') };
  }
  return DataType.isDuration(type) || DataType.isInterval(type) ? { arrow: type, sql: scalar('INTERVAL') } : undefined;
}

export const isText = (type: DataType): boolean =>
  DataType.isUtf8(type) || DataType.isLargeUtf8(type) || type.typeId === Type.Utf8View;
const isBytes = (type: DataType): boolean =>
  DataType.isBinary(type) || DataType.isLargeBinary(type) || type.typeId === Type.BinaryView;

/** Types that hold others; undefined for those that are not taken. */
function nested(type: DataType, visit: (child: Field) => ArrivedType): ArrivedType | undefined {
  if (DataType.isDictionary(type)) return visit(new Field('', type.dictionary, true));
  if (DataType.isStruct(type)) {
    const fields = type.children.map((child) => ({ name: child.name, ...visit(child) }));
    return {
      arrow: new Struct(fields.map((one) => plainField(one.name, one))),
      sql: { kind: 'struct', fields: fields.map(({ name, sql }): SqlField => ({ name, type: sql })) },
    };
  }
  const [child] = (type as { children?: readonly Field[] | null }).children ?? [];
  if (child === undefined) return undefined;
  if (DataType.isList(type) || type.typeId === Type.LargeList) {
    const element = visit(child);
    return { arrow: new List(plainField('l', element)), sql: { kind: 'list', element: element.sql } };
  }
  if (DataType.isFixedSizeList(type)) {
    if (type.listSize < 1) return undefined;
    const element = visit(child);
    const arrow = new FixedSizeList(type.listSize, plainField('l', element));
    return { arrow, sql: { kind: 'array', element: element.sql, length: type.listSize } };
  }
  return DataType.isMap(type) ? mapOf(visit(child)) : undefined;
}

function mapOf({ arrow, sql }: ArrivedType): ArrivedType | undefined {
  if (!DataType.isStruct(arrow) || sql.kind !== 'struct') return undefined;
  const [key, value] = sql.fields;
  const [keys, values] = arrow.children;
  if (key === undefined || value === undefined || keys === undefined || values === undefined) return undefined;
  const entry = new Struct([
    new Field('key', keys.type, false, keys.metadata),
    new Field('value', values.type, true, values.metadata),
  ]);
  return {
    arrow: new Map_(new Field('entries', entry, false) as ConstructorParameters<typeof Map_>[0]),
    sql: { kind: 'map', key: key.type, value: value.type },
  };
}
