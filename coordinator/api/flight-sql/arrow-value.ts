import { DataType, Precision, TimeUnit, Type, type Data, type Field } from 'apache-arrow';
import { SkeinError } from '#shared/error.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { isUuid } from '../../arrival/arrived-type.ts';
import type { Parameter } from '../../statement/parameters.ts';

/** Elements of a list, which becomes text. */
const ELEMENTS_MAX = 100_000;

/**
 * A value of a bound column as the parameter of a statement. Texts have no type, as literals of SQL have none, so that they fit where a date
 * or a number is wanted; other values keep the type that the client has given them.
 * @throws NOT_SUPPORTED for a type that no column has
 */
export function parameterAt(field: Field, data: Data, row: number): Parameter {
  if (DataType.isNull(data.type) || !data.getValid(row)) return { type: null, value: null };
  if (isText(data.type)) return { type: null, value: textAt(data, row) };
  const digits = digitsAt(data, row);
  return { type: null, value: digits === undefined ? { literal: literalAt(field, data, row) } : { digits } };
}

const isText = (type: DataType): boolean => DataType.isUtf8(type) || DataType.isLargeUtf8(type);

/** A whole number or a decimal as it is written in SQL: queries that differ in such literals share a plan. */
function digitsAt(data: Data, row: number): string | undefined {
  const { type } = data;
  if (DataType.isInt(type)) return String((data.values as ArrayLike<number | bigint>)[row]);
  return DataType.isDecimal(type) ? decimalAt(data, row) : undefined;
}

/** A value as an SQL expression of its type. */
function literalAt(field: Field, data: Data, row: number): string {
  const { type } = data;
  if (DataType.isNull(type) || !data.getValid(row)) return 'NULL';
  if (isUuid(field)) return cast(`'${uuidAt(data, row)}'`, 'UUID');
  if (isText(type)) return quoteLiteral(textAt(data, row));
  if (DataType.isBool(type)) return bitAt(data.values as Uint8Array, data.offset + row) ? 'true' : 'false';
  if (DataType.isInt(type)) {
    const value = String((data.values as ArrayLike<number | bigint>)[row]);
    return cast(`'${value}'`, `${type.isSigned ? '' : 'U'}${INTEGERS[type.bitWidth] ?? 'BIGINT'}`);
  }
  if (DataType.isFloat(type)) return floatAt(data, row, type.precision);
  if (DataType.isDecimal(type)) return cast(`'${decimalAt(data, row)}'`, `DECIMAL(${type.precision}, ${type.scale})`);
  if (DataType.isBinary(type) || DataType.isLargeBinary(type) || DataType.isFixedSizeBinary(type)) {
    return `from_hex('${Buffer.from(bytesAt(data, row)).toString('hex')}')`;
  }
  return temporalAt(data, row) ?? nestedAt(data, row);
}

const cast = (text: string, type: string): string => `CAST(${text} AS ${type})`;
const INTEGERS: Readonly<Record<number, string>> = { 8: 'TINYINT', 16: 'SMALLINT', 32: 'INTEGER', 64: 'BIGINT' };

function floatAt(data: Data, row: number, precision: Precision): string {
  if (precision === Precision.HALF) throw notSupported(data.type);
  const value = Number((data.values as ArrayLike<number>)[row]);
  return cast(
    `'${Object.is(value, -0) ? '-0.0' : String(value)}'`,
    precision === Precision.SINGLE ? 'FLOAT' : 'DOUBLE',
  );
}

const DECIMAL_DIGITS_MAX = 38;

/** A decimal is a whole number in two's complement, least significant word first. */
function decimalAt(data: Data, row: number): string {
  const { type } = data;
  if (!DataType.isDecimal(type) || type.precision > DECIMAL_DIGITS_MAX) throw notSupported(type);
  const words = type.bitWidth / 32;
  const values = (data.values as Uint32Array).subarray(row * words, (row + 1) * words);
  const unsigned = values.reduceRight((sum, word) => (sum << 32n) | BigInt(word), 0n);
  const unscaled = BigInt.asIntN(type.bitWidth, unsigned);
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(type.scale + 1, '0');
  const point = digits.length - type.scale;
  const text = type.scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return `${unscaled < 0n ? '-' : ''}${text}`;
}

const PER_SECOND: Readonly<Record<TimeUnit, bigint>> = {
  [TimeUnit.SECOND]: 1n,
  [TimeUnit.MILLISECOND]: 1_000n,
  [TimeUnit.MICROSECOND]: 1_000_000n,
  [TimeUnit.NANOSECOND]: 1_000_000_000n,
};
const MICROS = 1_000_000n;

/** The count of microseconds, rounded down. */
function microsAt(data: Data, row: number, unit: TimeUnit): bigint {
  const value = BigInt((data.values as ArrayLike<number | bigint>)[row] ?? 0);
  const per = PER_SECOND[unit];
  return per <= MICROS
    ? value * (MICROS / per)
    : BigInt.asIntN(64, (value - (((value % 1_000n) + 1_000n) % 1_000n)) / 1_000n);
}

const MS_PER_DAY = 86_400_000n;
/** Days from 0001-01-01 to 9999-12-31, which are written with four digits of the year. */
const FIRST_DAY = -719_162n;
const LAST_DAY = 2_932_896n;
const DATE_LENGTH = 10;

/** Dates, times and intervals; undefined for another type. */
function temporalAt(data: Data, row: number): string | undefined {
  const { type } = data;
  if (DataType.isDate(type)) {
    const value = BigInt((data.values as ArrayLike<number | bigint>)[row] ?? 0);
    const days = data.values instanceof BigInt64Array ? value / MS_PER_DAY : value;
    if (days < FIRST_DAY || days > LAST_DAY) return `(DATE '1970-01-01' + ${cast(`'${days}'`, 'INTEGER')})`;
    return `DATE '${new Date(Number(days * MS_PER_DAY)).toISOString().slice(0, DATE_LENGTH)}'`;
  }
  if (DataType.isTime(type)) {
    return `(TIME '00:00:00' + to_microseconds(${cast(`'${microsAt(data, row, type.unit)}'`, 'BIGINT')}))`;
  }
  if (DataType.isTimestamp(type)) {
    if (type.unit === TimeUnit.NANOSECOND && !type.timezone) {
      return `make_timestamp_ns(${cast(`'${String((data.values as BigInt64Array)[row])}'`, 'BIGINT')})`;
    }
    const micros = cast(`'${microsAt(data, row, type.unit)}'`, 'BIGINT');
    return type.timezone ? `make_timestamptz(${micros})` : `make_timestamp(${micros})`;
  }
  if (DataType.isDuration(type)) {
    return `to_microseconds(${cast(`'${microsAt(data, row, type.unit)}'`, 'BIGINT')})`;
  }
  return undefined;
}

/** Lists and structs of values. */
function nestedAt(data: Data, row: number): string {
  const { type, children } = data;
  const [child] = children;
  if (DataType.isList(type) && child !== undefined) {
    const [from, to] = [Number(data.valueOffsets[row]), Number(data.valueOffsets[row + 1])];
    return listAt(type.valueField, child, { from, to });
  }
  if (DataType.isFixedSizeList(type) && child !== undefined) {
    return listAt(type.valueField, child, { from: row * type.listSize, to: (row + 1) * type.listSize });
  }
  if (DataType.isStruct(type)) {
    const fields = type.children.map((field, i) => {
      const column = children[i];
      if (column === undefined) throw notSupported(type);
      return `${quoteLiteral(field.name)}: ${literalAt(field, column, row)}`;
    });
    return `{${fields.join(', ')}}`;
  }
  throw notSupported(type);
}

function listAt(field: Field, child: Data, { from, to }: { readonly from: number; readonly to: number }): string {
  if (to - from > ELEMENTS_MAX) {
    throw new SkeinError(
      'PAYLOAD_TOO_LARGE',
      `a list that is bound to a parameter has at most ${ELEMENTS_MAX} elements`,
    );
  }
  return `[${Array.from({ length: to - from }, (_, i) => literalAt(field, child, from + i)).join(', ')}]`;
}

const notSupported = (type: DataType): SkeinError =>
  new SkeinError('NOT_SUPPORTED', `parameters of the Arrow type ${Type[type.typeId]} are not taken`);

const UUID_GROUPS = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;
const uuidAt = (data: Data, row: number): string =>
  Buffer.from(bytesAt(data, row)).toString('hex').replace(UUID_GROUPS, '$1-$2-$3-$4-$5');

const bitAt = (bits: Uint8Array, i: number): boolean => (((bits[i >> 3] ?? 0) >> (i & 7)) & 1) === 1;

function bytesAt(data: Data, row: number): Uint8Array {
  const values = data.values as Uint8Array;
  const { type } = data;
  if (DataType.isFixedSizeBinary(type)) return values.subarray(row * type.byteWidth, (row + 1) * type.byteWidth);
  return values.subarray(Number(data.valueOffsets[row]), Number(data.valueOffsets[row + 1]));
}

const textAt = (data: Data, row: number): string => Buffer.from(bytesAt(data, row)).toString('utf8');
