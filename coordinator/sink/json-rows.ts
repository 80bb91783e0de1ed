import type { SqlText } from '#shared/task/sql-text.ts';
import { unreachable } from '#shared/must.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import type { SqlType } from '../plan/sql-type.ts';

/**
 * Wraps a query so that DuckDB prints each row as the JSON text of the HTTP result, in its one column `json` of type VARCHAR: a comma
 * and an array, `,[1,"a",null]`, so that a response is the texts one after the other without the first byte. Order is kept; names may
 * repeat.
 *
 * Values: 64-bit integers beyond 2^53 - 1, wider ones and decimals are strings, other numbers numbers, NaN and infinities strings;
 * dates, times, intervals, UUIDs and bits strings as DuckDB prints them; blobs base64; JSON a string; lists and arrays arrays; structs
 * objects, or arrays when their fields have no names; maps objects when their keys are strings, else arrays of `{key, value}`; unions
 * their value. Moments of Skein's own are in ISO 8601 (`OutputColumn`).
 *
 * `expected` says how many rows the query will give. The text for many prints common rows in a faster way, and takes DuckDB longer to bind.
 */
export function jsonRows(sql: SqlText, columns: readonly JsonColumn[], expected: 'few' | 'many'): SqlText {
  const names = columns.map((_, i) => `c${i}`);
  const values = columns.map((column, i) => columnValue(column, `c${i}`));
  const guards = expected === 'few' ? [] : values.flatMap(({ guard }) => (guard === null ? [] : [guard]));
  const any = `json_array(${values.map((value) => value.any).join(', ')})`;
  const common = `json_array(${values.map((value) => value.common).join(', ')})`;
  const row = guards.length === 0 ? any : `CASE WHEN ${guards.join(' AND ')} THEN ${common} ELSE ${any} END`;
  return [`SELECT ',' || ${row} AS json FROM (`, ...sql, `\n) AS t(${names.join(', ')})`];
}

/**
 * A column's value. `common` is the fast form, right for the rows that meet `guard` (null: for all); `any` is right for every row. A
 * whole chunk without a big integer or a NaN takes the fast form.
 */
type ColumnValue = { readonly common: string; readonly any: string; readonly guard: string | null };

/** Two members of an `OutputColumn`. */
type JsonColumn = { readonly type: SqlType; readonly isMoment?: true };

/** As `Date.toISOString` prints it. */
const momentText = (column: string): string => `strftime(timezone('UTC', ${column}), '%Y-%m-%dT%H:%M:%S.%gZ')`;

const SAFE = '9007199254740991';

function columnValue({ type, isMoment }: JsonColumn, column: string): ColumnValue {
  const any = isMoment === true ? momentText(column) : value(type, column, 0);
  if (type.kind === 'scalar' && BIG_INTEGERS.has(type.name)) {
    return { common: column, any, guard: `(${column} BETWEEN -${SAFE} AND ${SAFE} OR ${column} IS NULL)` };
  }
  if (type.kind === 'scalar' && FLOATS.has(type.name)) {
    return { common: floatNumber(type.name, column), any, guard: `(isfinite(${column}) OR ${column} IS NULL)` };
  }
  return { common: any, any, guard: null };
}

const BIG_INTEGERS: ReadonlySet<string> = new Set(['BIGINT', 'UBIGINT']);
const FLOATS: ReadonlySet<string> = new Set(['FLOAT', 'DOUBLE']);
/** Types whose values DuckDB's JSON functions already print in the result's form. */
const AS_IS: ReadonlySet<string> = new Set([
  'BOOLEAN',
  'TINYINT',
  'SMALLINT',
  'INTEGER',
  'UTINYINT',
  'USMALLINT',
  'UINTEGER',
  'VARCHAR',
  '"NULL"',
]);

/** Prints a FLOAT by its own shortest digits: 0.1, not the double 0.10000000149011612. */
const floatNumber = (name: string, input: string): string =>
  name === 'FLOAT' ? `CAST(CAST(${input} AS VARCHAR) AS DOUBLE)` : input;

/** A value as one text of JSON; that of a NULL is not NULL. */
export const jsonText = (type: SqlType, input: string): string => `CAST(to_json(${value(type, input, 0)}) AS VARCHAR)`;

/** Makes an expression that DuckDB's JSON functions print in the result's form; `depth` makes lambda parameter names unique. */
function value(type: SqlType, input: string, depth: number): string {
  switch (type.kind) {
    case 'scalar':
      return scalar(type.name, input);
    case 'decimal':
    case 'enum':
      return `CAST(${input} AS VARCHAR)`;
    case 'list':
    case 'array':
      return listValue(type.element, input, depth);
    case 'struct':
      return structValue(type, input, depth);
    case 'map':
      return mapValue(type, input, depth);
    case 'union': {
      const members = type.members.map(({ name, type: member }) => {
        const extracted = value(member, `union_extract(${input}, ${quoteLiteral(name)})`, depth);
        return `WHEN ${quoteLiteral(name)} THEN to_json(${extracted})`;
      });
      return `CASE CAST(union_tag(${input}) AS VARCHAR) ${members.join(' ')} END`;
    }
    default:
      return unreachable(type);
  }
}

/** The word Infinity in two parts: `shared/sql/unsound-optimizers.ts` switches DuckDB's rewriter of expressions off for a text that has it whole. */
const INFINITY = `'Infi' || 'nity'`;

function scalar(name: string, input: string): string {
  if (AS_IS.has(name)) return input;
  if (name === 'BLOB') return `base64(${input})`;
  const text = `CAST(${input} AS VARCHAR)`;
  if (BIG_INTEGERS.has(name)) {
    return `CASE WHEN ${input} BETWEEN -${SAFE} AND ${SAFE} THEN to_json(${input}) ELSE to_json(${text}) END`;
  }
  if (FLOATS.has(name)) {
    const number = `to_json(${floatNumber(name, input)})`;
    return (
      `CASE WHEN isfinite(${input}) THEN ${number} WHEN isnan(${input}) THEN to_json('NaN') ` +
      `ELSE to_json(replace(${text}, 'inf', ${INFINITY})) END`
    );
  }
  return text;
}

function listValue(element: SqlType, input: string, depth: number): string {
  const item = `x${depth}`;
  const printed = value(element, item, depth + 1);
  return printed === item ? input : `list_transform(${input}, lambda ${item}: ${printed})`;
}

/** Reads a struct's fields by position: names may contain anything, or be missing. */
function structValue({ fields }: Extract<SqlType, { kind: 'struct' }>, input: string, depth: number): string {
  const values = fields.map(({ type }, i) => value(type, `struct_extract_at(${input}, ${i + 1})`, depth));
  const isNamed = fields.some(({ name }) => name !== '');
  const printed = isNamed
    ? `json_object(${fields.map(({ name }, i) => `${quoteLiteral(name)}, ${values[i]}`).join(', ')})`
    : `json_array(${values.join(', ')})`;
  return `CASE WHEN ${input} IS NOT NULL THEN ${printed} END`;
}

function mapValue({ key, value: element }: Extract<SqlType, { kind: 'map' }>, input: string, depth: number): string {
  const item = `x${depth}`;
  if (key.kind === 'scalar' && key.name === 'VARCHAR') {
    const printed = value(element, item, depth + 1);
    if (printed === item) return `to_json(${input})`;
    return `to_json(map(map_keys(${input}), list_transform(map_values(${input}), lambda ${item}: to_json(${printed}))))`;
  }
  const entry = `json_object('key', ${value(key, `${item}.key`, depth + 1)}, 'value', ${value(element, `${item}.value`, depth + 1)})`;
  return `list_transform(map_entries(${input}), lambda ${item}: ${entry})`;
}
