import { SKEIN_RELEASE } from '#shared/release.ts';
import { unreachable } from '#shared/must.ts';
import type { ResultBatch } from '../../../sink/result-sink.ts';
import {
  booleans,
  columnBatch,
  denseUnion,
  int32s,
  int64s,
  lists,
  structs,
  texts,
  uint32s,
  type ColumnData,
} from '../../../binding/column-data.ts';

/** A value of SqlInfo, by the member of the union that it is. */
type InfoValue =
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'count'; readonly value: number }
  /** A word of bits, or a number of an enumeration. */
  | { readonly kind: 'bits'; readonly value: number }
  | { readonly kind: 'texts'; readonly value: readonly string[] }
  | { readonly kind: 'lists'; readonly value: readonly (readonly [number, readonly number[]])[] };

const text = (value: string): InfoValue => ({ kind: 'text', value });
const boolean = (value: boolean): InfoValue => ({ kind: 'boolean', value });
const count = (value: number): InfoValue => ({ kind: 'count', value });
const number = (value: number): InfoValue => ({ kind: 'bits', value });
/** The bits of these numbers. */
const bits = (...positions: readonly number[]): InfoValue =>
  number(positions.reduce((sum, position) => sum | (1 << position), 0));
const words = (list: string): InfoValue => ({ kind: 'texts', value: list.trim().split(/\s+/) });

/** The limits that SqlInfo tells. */
export type InfoLimits = {
  readonly statementTimeoutMs: number;
  readonly transactionTimeoutMs: number;
  readonly connectionsMax: number;
  readonly statementBytesMax: number;
};

/** Longest name of anything, in characters. */
const NAME_LENGTH = 255;
const UNKNOWN = count(0);
const YES = boolean(true);
const NO = boolean(false);

/** The release of the columnar format that streams have. */
const ARROW_FORMAT = '1.3.0';
const CASE_INSENSITIVE = 1;
const NULLS_AT_END = 3;
const FULL_OUTER_JOINS = 2;
const REPEATABLE_READ = 3;

/** Reserved words beyond those of SQL:2003. */
const KEYWORDS = `ANALYZE ANTI ASOF COLUMNS DESC DESCRIBE EXPLAIN GLOB ILIKE LAMBDA LIMIT MAP OFFSET PIVOT POSITIONAL QUALIFY SEMI SHOW
  SUMMARIZE TRY_CAST UNPIVOT USE`;
/** The functions that the escapes {fn ...} of ODBC and JDBC name. */
const NUMERIC_FUNCTIONS = `ABS ACOS ASIN ATAN ATAN2 CEILING COS COT DEGREES EXP FLOOR LOG LOG10 MOD PI POWER RADIANS ROUND SIGN SIN SQRT TAN`;
const STRING_FUNCTIONS = `ASCII CHR CHAR_LENGTH CHARACTER_LENGTH CONCAT LCASE LEFT LENGTH LOCATE LTRIM OCTET_LENGTH POSITION REPEAT REPLACE
  RIGHT RTRIM SUBSTRING UCASE`;
const SYSTEM_FUNCTIONS = `IFNULL CURRENT_USER`;
const DATETIME_FUNCTIONS = `CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DAYNAME DAYOFMONTH DAYOFWEEK DAYOFYEAR EXTRACT HOUR MINUTE MONTH
  MONTHNAME NOW QUARTER SECOND WEEK YEAR`;

/** The types that CAST takes, by their numbers in SqlSupportsConvert: every one becomes text, and text every one. */
const NUMBERS = [0, 5, 6, 7, 12, 13, 14, 17];
const TEXTS = [3, 11, 19];
const TIMES = [4, 15, 16];
const BYTES = [1, 10, 18];
const BIT = 2;
const CONVERSIONS = [
  ...NUMBERS.map((type) => [type, [...NUMBERS, BIT, ...TEXTS]] as const),
  ...TEXTS.map((type) => [type, [...NUMBERS, BIT, ...TIMES, ...BYTES, ...TEXTS]] as const),
  ...BYTES.map((type) => [type, [...BYTES, ...TEXTS]] as const),
  [BIT, [...NUMBERS, BIT, ...TEXTS]] as const,
  [4, [4, 16, ...TEXTS]] as const,
  [15, [15, ...TEXTS]] as const,
  [16, [...TIMES, ...TEXTS]] as const,
].toSorted(([a], [b]) => a - b);

/** The values that do not depend on the configuration. */
const CONSTANT_VALUES: readonly (readonly [number, InfoValue])[] = [
  // The server: its name, release, Arrow's release, read-only, SQL, Substrait, transactions (with savepoints), cancel, ingest.
  [0, text('Skein')],
  [1, text(SKEIN_RELEASE)],
  [2, text(ARROW_FORMAT)],
  [3, NO],
  [4, YES],
  [5, NO],
  [6, text('')],
  [7, text('')],
  [8, number(2)],
  [9, YES],
  [10, YES],
  [11, YES],
  // DDL of catalogs, schemas and tables; names keep their case and are found without it.
  [500, YES],
  [501, YES],
  [502, YES],
  [503, number(CASE_INSENSITIVE)],
  [504, text('"')],
  [505, number(CASE_INSENSITIVE)],
  [506, NO],
  [507, number(NULLS_AT_END)],
  [508, words(KEYWORDS)],
  [509, words(NUMERIC_FUNCTIONS)],
  [510, words(STRING_FUNCTIONS)],
  [511, words(SYSTEM_FUNCTIONS)],
  [512, words(DATETIME_FUNCTIONS)],
  [513, text('\\')],
  [514, text('')],
  // Aliases, NULL in concatenations, conversions, correlation names, ORDER BY, GROUP BY, ESCAPE, NOT NULL.
  [515, YES],
  [516, YES],
  [517, { kind: 'lists', value: CONVERSIONS }],
  [518, YES],
  [519, NO],
  [520, YES],
  [521, YES],
  [522, bits(0, 1)],
  [523, YES],
  [524, YES],
  [525, bits(0, 1, 2)],
  [526, bits(0, 1)],
  [527, NO],
  [528, number(FULL_OUTER_JOINS)],
  [529, text('schema')],
  [530, text('procedure')],
  [531, text('catalog')],
  [532, YES],
  [533, bits()],
  [534, bits()],
  [535, bits()],
  [536, NO],
  [537, NO],
  [538, bits(0, 1, 2, 3)],
  [539, YES],
  [540, bits(0, 1)],
  // Lengths and numbers; 0 is no limit, or an unknown one.
  ...[541, 542, 544, 546, 547, 548, 551, 555, 558, 560].map((id) => [id, UNKNOWN] as const),
  ...[543, 550, 552, 553, 554, 559, 561].map((id) => [id, count(NAME_LENGTH)] as const),
  [545, UNKNOWN],
  [556, YES],
  // Transactions read one snapshot.
  // The specification has 32 bits here; the JDBC driver takes 64 alone.
  [562, count(REPEATABLE_READ)],
  [563, YES],
  [564, bits(REPEATABLE_READ)],
  [565, NO],
  [566, NO],
  // Results are read forward and not changed.
  [567, bits(1)],
  [568, bits(1)],
  [569, bits(1)],
  [570, bits()],
  [571, bits()],
  [572, YES],
  [573, NO],
  [574, NO],
  [575, NO],
  [576, NO],
];

/** Every value that the specification names, because drivers fail on one that is missing. Ids as in FlightSql.proto. */
export const sqlInfo = (limits: InfoLimits): ReadonlyMap<number, InfoValue> =>
  new Map<number, InfoValue>([
    ...CONSTANT_VALUES,
    [100, number(limits.statementTimeoutMs)],
    [101, number(limits.transactionTimeoutMs)],
    [549, count(limits.connectionsMax)],
    [557, count(limits.statementBytesMax)],
  ]);

/** Rows of SqlInfo: those of `ids`, or all; an id that nobody knows has no row. */
export function sqlInfoBatch(info: ReadonlyMap<number, InfoValue>, ids: readonly number[]): ResultBatch {
  const asked = new Set(ids);
  const rows = [...info].filter(([id]) => asked.size === 0 || asked.has(id)).toSorted(([a], [b]) => a - b);
  const values = rows.map(([, value]) => value);
  const members = values.map(({ kind }) => MEMBERS.indexOf(kind));
  return columnBatch(rows.length, [
    uint32s(rows.map(([id]) => id)),
    denseUnion(
      members,
      MEMBERS.map((member) => memberColumn(member, values)),
    ),
  ]);
}

/** The members of the union in their order. */
const MEMBERS: readonly InfoValue['kind'][] = ['text', 'boolean', 'count', 'bits', 'texts', 'lists'];

/** The values of one member of the union. */
function memberColumn(member: InfoValue['kind'], values: readonly InfoValue[]): ColumnData {
  type Of<Kind> = Extract<InfoValue, { readonly kind: Kind }>;
  const of = <Kind extends InfoValue['kind']>(kind: Kind): Of<Kind>[] =>
    values.filter((value): value is Of<Kind> => value.kind === kind);
  switch (member) {
    case 'text':
      return texts(of('text').map(({ value }) => value));
    case 'boolean':
      return booleans(of('boolean').map(({ value }) => value));
    case 'count':
      return int64s(of('count').map(({ value }) => value));
    case 'bits':
      return int32s(of('bits').map(({ value }) => value));
    case 'texts':
      return lists(
        of('texts').map(({ value }) => value),
        texts,
      );
    case 'lists':
      return lists(
        of('lists').map(({ value }) => value),
        (entries) =>
          structs(entries.length, [
            int32s(entries.map(([key]) => key)),
            lists(
              entries.map(([, value]) => value),
              int32s,
            ),
          ]),
      );
    default:
      return unreachable(member);
  }
}
