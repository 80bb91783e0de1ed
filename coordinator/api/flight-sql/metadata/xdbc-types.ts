import type { ResultBatch } from '../../../sink/result-sink.ts';
import { booleans, columnBatch, int32s, lists, texts } from '../../../binding/column-data.ts';

/** A type that a column can have, as ODBC and JDBC describe types. */
type XdbcType = {
  readonly name: string;
  /** Its number in XdbcDataType. */
  readonly type: number;
  readonly size: number | null;
  readonly prefix: string | null;
  readonly params: readonly string[] | null;
  readonly isText: boolean;
  /** Whether it is a number: with a sign, exact to a digit (10) or a bit (2). */
  readonly radix: 2 | 10 | null;
  readonly scaleMax: number | null;
  /** The subcode of dates and times. */
  readonly subcode: number | null;
};

const DATETIME = 9;
const plain = { size: null, prefix: null, params: null, isText: false, radix: null, scaleMax: null, subcode: null };
const whole = (name: string, type: number, size: number): XdbcType => ({
  ...plain,
  name,
  type,
  size,
  radix: 10,
  scaleMax: 0,
});
const quoted = (name: string, type: number, size: number | null): XdbcType => ({
  ...plain,
  name,
  type,
  size,
  prefix: "'",
});
const time = (name: string, type: number, size: number, subcode: number): XdbcType => ({
  ...quoted(name, type, size),
  subcode,
});

const BIGINT = -5;
const BIT = -7;
const VARBINARY = -3;
const DECIMAL = 3;
const INTEGER = 4;
const REAL = 7;
const DOUBLE = 8;
const VARCHAR = 12;
const DATE = 91;
const TIME = 92;
const TIMESTAMP = 93;

/** In the order that the specification wants: by number, then by name. */
const TYPES: readonly XdbcType[] = [
  { ...plain, name: 'BOOLEAN', type: BIT, size: 1 },
  whole('BIGINT', BIGINT, 19),
  quoted('BINARY', VARBINARY, null),
  {
    ...plain,
    name: 'DECIMAL',
    type: DECIMAL,
    size: 38,
    params: ['precision', 'scale'],
    radix: 10 as const,
    scaleMax: 38,
  },
  whole('INT', INTEGER, 10),
  { ...plain, name: 'FLOAT', type: REAL, size: 24, radix: 2 as const },
  { ...plain, name: 'DOUBLE', type: DOUBLE, size: 53, radix: 2 as const },
  { ...quoted('UUID', VARCHAR, 36) },
  { ...quoted('VARCHAR', VARCHAR, null), isText: true },
  time('DATE', DATE, 10, 1),
  time('TIME', TIME, 15, 2),
  time('TIMESTAMP', TIMESTAMP, 26, 3),
  time('TIMESTAMP WITH TIME ZONE', TIMESTAMP, 32, 5),
  time('TIMESTAMP_NS', TIMESTAMP, 29, 3),
];

const NULLABLE = 1;
const SEARCHABLE_ANY = 3;
const SEARCHABLE_BASIC = 2;

/** Rows of XdbcTypeInfo, of one type or all. */
export function xdbcTypesBatch(type: number | undefined): ResultBatch {
  const rows = TYPES.filter((one) => type === undefined || one.type === type);
  const column = <T>(of: (row: XdbcType) => T): T[] => rows.map(of);
  const isNumber = ({ radix }: XdbcType): boolean => radix !== null;
  return columnBatch(rows.length, [
    texts(column(({ name }) => name)),
    int32s(column((row) => row.type)),
    int32s(column(({ size }) => size)),
    texts(column(({ prefix }) => prefix)),
    texts(column(({ prefix }) => prefix)),
    lists(
      column(({ params }) => params),
      texts,
    ),
    int32s(column(() => NULLABLE)),
    booleans(column(({ isText }) => isText)),
    int32s(column(({ isText }) => (isText ? SEARCHABLE_ANY : SEARCHABLE_BASIC))),
    booleans(column((row) => (isNumber(row) ? false : null))),
    booleans(column(({ radix, scaleMax }) => radix === 10 && scaleMax === 0)),
    booleans(column((row) => (isNumber(row) ? false : null))),
    texts(column(({ name }) => name)),
    int32s(column(({ scaleMax }) => (scaleMax === null ? null : 0))),
    int32s(column(({ scaleMax }) => scaleMax)),
    int32s(column((row) => (row.subcode === null ? row.type : DATETIME))),
    int32s(column(({ subcode }) => subcode)),
    int32s(column(({ radix }) => radix)),
    int32s(column(() => null)),
  ]);
}
