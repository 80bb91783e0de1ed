import { STORED_TYPE_NAMES, storedValue, type StoredType } from './argument-types.ts';
import { Choices } from './choices.ts';

/** A table of random columns; `id` numbers its rows, so that every order can be made whole by it. */
export type RandomTable = {
  readonly name: string;
  readonly columns: readonly { readonly name: string; readonly type: StoredType }[];
  readonly rows: number;
  readonly sql: string;
  /** PyIceberg writes it, and leaves NaN out of bounds. */
  readonly isForeign: boolean;
};

const SIZES = [0, 7, 30, 150, 900, 3_000] as const;
const COLUMNS_MAX = 9;
/** One table in so many has odd values, at which many functions fail. */
const ODD_EVERY = 3;

/** Values at the ends of their types, and those that are often wrong. */
const ODD_VALUES: Readonly<Record<StoredType, readonly string[]>> = {
  INTEGER: ['2147483647', '-2147483648'],
  BIGINT: ['9223372036854775807', '-9223372036854775808', '9007199254740993'],
  'DECIMAL(9,2)': ['9999999.99', '-9999999.99'],
  FLOAT: ["'nan'", "'infinity'", '1e-45', '3.4e38', "'-0.0'"],
  DOUBLE: ["'nan'", "'-infinity'", '5e-324', '1.7976931348623157e308', "'-0.0'"],
  BOOLEAN: ['true'],
  VARCHAR: ["'%'", "'_\\%'", "'👩‍👩‍👧 é'", "repeat('long ', 200)", 'chr(10) || chr(9)', "'null'", `'{"a": [1]}'`],
  BLOB: ["''", "unhex(repeat('00FF', 400))"],
  DATE: ["'0001-01-01'", "'9999-12-31'", "'1969-12-31'", "'1582-10-10'"],
  TIME: ["'00:00:00'", "'23:59:59.999999'"],
  TIMESTAMP: ["'0001-01-01 00:00:00'", "'9999-12-31 23:59:59.999999'", "'1969-12-31 23:59:59.999999'"],
  'TIMESTAMP WITH TIME ZONE': ["'0001-01-01 00:00:00+00'", "'2021-10-31 00:30:00+00'"],
  UUID: ["'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"],
  'INTEGER[]': ['[NULL]', 'range(300)'],
  'VARCHAR[]': ["['', NULL, '%']"],
  'DOUBLE[]': ["['nan'::DOUBLE, 'infinity'::DOUBLE, -1]", '[0, 0, 0]'],
  'STRUCT(a INTEGER, b VARCHAR)': ["{'a': NULL, 'b': NULL}", "{'a': -2147483648, 'b': ''}"],
  'MAP(VARCHAR, INTEGER)': ["MAP {'': NULL}"],
  'STRUCT(a INTEGER, b VARCHAR)[]': ['[NULL, NULL]', "[{'a': NULL, 'b': ''}, NULL, {'a': 5, 'b': NULL}]"],
};
/** One table in so many is written by PyIceberg, if it has values of all its types. */
const FOREIGN_EVERY = 2;
const isForeignType = (type: StoredType): boolean => type !== 'UUID';

/** Tables of all sizes, whose names begin with `prefix`; the same ones for the same numbers. */
export function randomTables(prefix: string, drawn: readonly number[]): readonly RandomTable[] {
  const choices = new Choices(drawn);
  return SIZES.map((rows, at) => randomTable(`${prefix}_${at}`, rows, choices));
}

function randomTable(name: string, rows: number, choices: Choices): RandomTable {
  const isOdd = choices.chance(ODD_EVERY);
  const columns = Array.from({ length: 2 + choices.below(COLUMNS_MAX - 1) }, (_, at) => ({
    name: `c${at}`,
    type: choices.pick(STORED_TYPE_NAMES),
    salt: choices.below(1_000_000),
    distinct: choices.pick([12, 3, 100, 1]),
    nulls: choices.pick([10, 10, 2, 1_000_000]),
  }));
  const texts = columns.map(({ name: column, type, salt, distinct, nulls }) => {
    const typical = storedValue(type, `(hash(r + ${salt}) % ${distinct})::INTEGER`);
    const odd = ODD_VALUES[type].map((value, i) => `WHEN ${i} THEN (${value})::${type} `);
    const value = isOdd ? `CASE hash(r + ${salt + 1}) % 15 ${odd.join('')}ELSE ${typical} END` : typical;
    return `CASE WHEN hash(r + ${salt + 2}) % ${nulls} = 0 THEN NULL ELSE ${value} END AS ${column}`;
  });
  const list = ['r::INTEGER AS id', ...texts].join(', ');
  const isForeign = choices.chance(FOREIGN_EVERY) && rows > 0 && columns.every(({ type }) => isForeignType(type));
  return { name, columns, rows, isForeign, sql: `CREATE TABLE ${name} AS SELECT ${list} FROM range(${rows}) t(r)` };
}
