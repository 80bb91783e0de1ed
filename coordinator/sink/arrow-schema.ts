import {
  Binary,
  Bool,
  DateDay,
  Decimal,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  IntervalMonthDayNano,
  List,
  Map_,
  Schema,
  SparseUnion,
  Struct,
  TimeMicrosecond,
  TimeNanosecond,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
  type DataType,
} from 'apache-arrow';
import { must, unreachable } from '#shared/must.ts';
import type { SqlField, SqlType } from '../planner/sql-type.ts';
import { plainType } from './plain-type.ts';
import type { ResultShape } from './result-sink.ts';

/** Metadata key of a field that holds the SQL type of its column, which `plainType` may have replaced. */
const SQL_TYPE_KEY = 'skein.type';

const DECIMAL_BITS = 128;

/** Arrow types of the scalar types that `plainType` leaves, as workers send them. */
const SCALARS: Readonly<Record<string, (timeZone: string) => DataType>> = {
  BOOLEAN: () => new Bool(),
  TINYINT: () => new Int8(),
  SMALLINT: () => new Int16(),
  INTEGER: () => new Int32(),
  BIGINT: () => new Int64(),
  UTINYINT: () => new Uint8(),
  USMALLINT: () => new Uint16(),
  UINTEGER: () => new Uint32(),
  UBIGINT: () => new Uint64(),
  FLOAT: () => new Float32(),
  DOUBLE: () => new Float64(),
  VARCHAR: () => new Utf8(),
  JSON: () => new Utf8(),
  UUID: () => new Utf8(),
  BLOB: () => new Binary(),
  DATE: () => new DateDay(),
  TIME: () => new TimeMicrosecond(),
  TIME_NS: () => new TimeNanosecond(),
  TIMESTAMP: () => new TimestampMicrosecond(null),
  TIMESTAMP_S: () => new TimestampSecond(null),
  TIMESTAMP_MS: () => new TimestampMillisecond(null),
  TIMESTAMP_NS: () => new TimestampNanosecond(null),
  'TIMESTAMP WITH TIME ZONE': (timeZone) => new TimestampMicrosecond(timeZone),
  INTERVAL: () => new IntervalMonthDayNano(),
};

/** The Arrow schema of a result, by the names and types that planning fixed. */
export const arrowSchema = ({ columns, timeZone }: ResultShape): Schema =>
  new Schema(
    columns.map(
      ({ name, type, typeName }) =>
        new Field(name, arrowType(plainType(type), timeZone), true, new Map([[SQL_TYPE_KEY, typeName]])),
    ),
  );

function arrowType(type: SqlType, timeZone: string): DataType {
  const fieldOf = ({ name, type: own }: SqlField): Field => new Field(name, arrowType(own, timeZone), true);
  switch (type.kind) {
    case 'scalar':
      return must(SCALARS[type.name], 'plainType leaves types that have an Arrow form')(timeZone);
    case 'decimal':
      return new Decimal(type.scale, type.width, DECIMAL_BITS);
    case 'enum':
      throw new Error('invariant: plainType leaves no ENUM');
    case 'list':
      return new List(fieldOf({ name: 'l', type: type.element }));
    case 'array':
      return new FixedSizeList(type.length, fieldOf({ name: 'l', type: type.element }));
    case 'struct':
      return new Struct(type.fields.map(fieldOf));
    case 'map': {
      const entry = new Struct([
        new Field('key', arrowType(type.key, timeZone), false),
        fieldOf({ name: 'value', type: type.value }),
      ]);
      return new Map_(new Field('entries', entry, false));
    }
    case 'union':
      return new SparseUnion(
        type.members.map((_, i) => i),
        type.members.map(fieldOf),
      );
    default:
      return unreachable(type);
  }
}
