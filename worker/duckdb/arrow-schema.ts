import {
  Binary,
  Bool,
  DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Dictionary,
  DurationMicrosecond,
  DurationMillisecond,
  DurationNanosecond,
  DurationSecond,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  IntervalDayTime,
  IntervalMonthDayNano,
  IntervalYearMonth,
  LargeBinary,
  LargeUtf8,
  List,
  Map_,
  Null,
  Schema,
  SparseUnion,
  Struct,
  TimeMicrosecond,
  TimeMillisecond,
  TimeNanosecond,
  TimeSecond,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
} from 'apache-arrow';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';

/**
 * A field of an Arrow schema. `format` is the format string of the Arrow C data interface; together with the children it determines the
 * type completely, so schemas are passed between threads in this form.
 */
export type ArrowField = {
  readonly name: string;
  readonly format: string;
  readonly nullable: boolean;
  readonly metadata: readonly (readonly [key: string, value: string])[];
  readonly children: readonly ArrowField[];
  /** The values of a dictionary-encoded field (DuckDB's ENUM); `format` is then that of the indices. */
  readonly dictionary: ArrowField | null;
};

/** Memory layout of a field's buffers (Arrow columnar format, Physical Memory Layout). */
export type Layout =
  | { readonly kind: 'null' | 'bits' | 'struct' | 'union' }
  | { readonly kind: 'fixed'; readonly bytes: number }
  /** Offsets of 4 or 8 bytes, then bytes. */
  | { readonly kind: 'bytes'; readonly offsetBytes: 4 | 8 }
  | { readonly kind: 'list'; readonly offsetBytes: 4 | 8 }
  | { readonly kind: 'fixedList'; readonly size: number };

/** Formats without an argument: bytes per value and the type of the Arrow library. */
const FIXED: Readonly<Record<string, readonly [bytes: number, type: () => DataType]>> = {
  c: [1, () => new Int8()],
  C: [1, () => new Uint8()],
  s: [2, () => new Int16()],
  S: [2, () => new Uint16()],
  i: [4, () => new Int32()],
  I: [4, () => new Uint32()],
  l: [8, () => new Int64()],
  L: [8, () => new Uint64()],
  e: [2, () => new Float16()],
  f: [4, () => new Float32()],
  g: [8, () => new Float64()],
  tdD: [4, () => new DateDay()],
  tdm: [8, () => new DateMillisecond()],
  tts: [4, () => new TimeSecond()],
  ttm: [4, () => new TimeMillisecond()],
  ttu: [8, () => new TimeMicrosecond()],
  ttn: [8, () => new TimeNanosecond()],
  tDs: [8, () => new DurationSecond()],
  tDm: [8, () => new DurationMillisecond()],
  tDu: [8, () => new DurationMicrosecond()],
  tDn: [8, () => new DurationNanosecond()],
  tiM: [4, () => new IntervalYearMonth()],
  tiD: [8, () => new IntervalDayTime()],
  tin: [16, () => new IntervalMonthDayNano()],
};

const TIMESTAMPS: Readonly<Record<string, (zone: string | null) => DataType>> = {
  s: (zone) => new TimestampSecond(zone),
  m: (zone) => new TimestampMillisecond(zone),
  u: (zone) => new TimestampMicrosecond(zone),
  n: (zone) => new TimestampNanosecond(zone),
};

const VARIABLE: Readonly<Record<string, readonly [layout: Layout, type: () => DataType]>> = {
  u: [{ kind: 'bytes', offsetBytes: 4 }, () => new Utf8()],
  U: [{ kind: 'bytes', offsetBytes: 8 }, () => new LargeUtf8()],
  z: [{ kind: 'bytes', offsetBytes: 4 }, () => new Binary()],
  Z: [{ kind: 'bytes', offsetBytes: 8 }, () => new LargeBinary()],
};

const unknown = (format: string): never => {
  throw new SkeinError('NOT_SUPPORTED', `a column has a type without an Arrow form (${format})`);
};

/** Parses `d:precision,scale[,bits]`. */
function decimalOf(format: string): { precision: number; scale: number; bits: number } | undefined {
  const match = /^d:(\d+),(-?\d+)(?:,(\d+))?$/.exec(format);
  if (match === null) return undefined;
  return { precision: Number(match[1]), scale: Number(match[2]), bits: Number(match[3] ?? 128) };
}

const argument = (format: string): number => Number(format.slice(format.indexOf(':') + 1));

export function layoutOf({ format }: ArrowField): Layout {
  const fixed = FIXED[format];
  if (fixed !== undefined) return { kind: 'fixed', bytes: fixed[0] };
  const variable = VARIABLE[format];
  if (variable !== undefined) return variable[0];
  if (format === 'n') return { kind: 'null' };
  if (format === 'b') return { kind: 'bits' };
  if (/^ts[smun]:/.test(format)) return { kind: 'fixed', bytes: 8 };
  if (format.startsWith('w:')) return { kind: 'fixed', bytes: argument(format) };
  if (format === '+s') return { kind: 'struct' };
  if (format === '+l' || format === '+m') return { kind: 'list', offsetBytes: 4 };
  if (format === '+L') return { kind: 'list', offsetBytes: 8 };
  if (format.startsWith('+w:')) return { kind: 'fixedList', size: argument(format) };
  if (format.startsWith('+us:')) return { kind: 'union' };
  const decimal = decimalOf(format);
  return decimal === undefined ? unknown(format) : { kind: 'fixed', bytes: decimal.bits / 8 };
}

/** Number of a field's own buffers, without those of its children. */
export function bufferCount(field: ArrowField): number {
  const { kind } = layoutOf(field);
  if (kind === 'null') return 0;
  if (kind === 'struct' || kind === 'fixedList' || kind === 'union') return 1;
  return kind === 'bytes' ? 3 : 2;
}

/** Builds the library's schema. Dictionary ids are assigned in pre-order, so that writer and reader number them alike. */
export function arrowSchema(fields: readonly ArrowField[]): Schema {
  let dictionaries = 0;
  const typeOf = (field: ArrowField): DataType => {
    if (field.dictionary !== null) {
      const id = dictionaries++;
      return new Dictionary(typeOf(field.dictionary), plainType(field) as Int32, id, false);
    }
    return plainType(field);
  };
  const plainType = (field: ArrowField): DataType => {
    const { format } = field;
    const simple = FIXED[format]?.[1] ?? VARIABLE[format]?.[1];
    if (simple !== undefined) return simple();
    if (format === 'n') return new Null();
    if (format === 'b') return new Bool();
    if (format.startsWith('w:')) return new FixedSizeBinary(argument(format));
    const timestamp = /^ts([smun]):(.*)$/.exec(format);
    if (timestamp !== null) return must(TIMESTAMPS[timestamp[1] ?? ''], 'a unit')(timestamp[2] || null);
    const decimal = decimalOf(format);
    if (decimal !== undefined) return new Decimal(decimal.scale, decimal.precision, decimal.bits);
    return nestedType(format, field.children.map(fieldOf));
  };
  const fieldOf = (field: ArrowField): Field =>
    new Field(field.name, typeOf(field), field.nullable, new Map(field.metadata));
  return new Schema(fields.map(fieldOf));
}

function nestedType(format: string, children: Field[]): DataType {
  const [child] = children;
  if (format === '+s') return new Struct(children);
  if (child === undefined) return unknown(format);
  if (format === '+l') return new List(child);
  if (format === '+m') return new Map_(child);
  if (format.startsWith('+w:')) return new FixedSizeList(argument(format), child);
  if (format.startsWith('+us:')) return new SparseUnion(format.slice(4).split(',').map(Number), children);
  return unknown(format);
}

/** The fields of a schema that `arrowSchema` made. @throws NOT_SUPPORTED for a type that it does not make. */
export const schemaFields = (schema: Schema): ArrowField[] => schema.fields.map(fieldOf);

function fieldOf({ name, nullable, type, metadata }: Field): ArrowField {
  const own = { name, nullable, metadata: [...metadata] };
  if (!DataType.isDictionary(type)) {
    const children = ((type as { children?: readonly Field[] | null }).children ?? []).map(fieldOf);
    return { ...own, format: formatOf(type), children, dictionary: null };
  }
  const values = fieldOf(new Field('', type.dictionary, true));
  return { ...own, format: formatOf(type.indices), children: [], dictionary: values };
}

/** Format string of the C data interface for a type of the Arrow library. */
function formatOf(type: DataType): string {
  if (DataType.isDecimal(type)) return `d:${type.precision},${type.scale},${type.bitWidth}`;
  if (DataType.isTimestamp(type)) return `ts${'smun'[type.unit]}:${type.timezone ?? ''}`;
  if (DataType.isFixedSizeBinary(type)) return `w:${type.byteWidth}`;
  if (DataType.isFixedSizeList(type)) return `+w:${type.listSize}`;
  if (DataType.isSparseUnion(type)) return `+us:${type.typeIds.join(',')}`;
  const nested = DataType.isStruct(type)
    ? '+s'
    : DataType.isList(type)
      ? '+l'
      : DataType.isMap(type)
        ? '+m'
        : undefined;
  return nested ?? SIMPLE_FORMATS.get(typeKey(type)) ?? unknown(`type ${type.typeId}`);
}

/** Formats of types without an argument, by a key that identifies the type. */
const SIMPLE_FORMATS: ReadonlyMap<string, string> = new Map(
  [
    ...Object.entries({ ...FIXED, ...VARIABLE }).map(([format, [, make]]) => [format, make()] as const),
    ['n', new Null()] as const,
    ['b', new Bool()] as const,
  ].map(([format, type]) => [typeKey(type), format]),
);

function typeKey(type: DataType): string {
  const {
    bitWidth = 0,
    isSigned = true,
    precision = 0,
    unit = 0,
  } = type as DataType & {
    readonly bitWidth?: number;
    readonly isSigned?: boolean;
    readonly precision?: number;
    readonly unit?: number;
  };
  return [type.typeId, bitWidth, isSigned, precision, unit].join(' ');
}
