import { unreachable } from '#shared/must.ts';
import { innerTypes, mapLeaves, type SqlField, type SqlType } from '../../plan/sql-type.ts';
import { NotPrintable } from './not-printable.ts';
import { castType } from './print-sql-literal.ts';
import { hasUnnamed, structOf } from './unnamed-structs.ts';

const INTEGER: SqlType = { kind: 'scalar', name: 'INTEGER' };
const BIGINT: SqlType = { kind: 'scalar', name: 'BIGINT' };

/** The three numbers of an INTERVAL. Arrow counts its time in 64-bit nanoseconds, DuckDB in 64-bit microseconds. */
const INTERVAL_PARTS: SqlType = {
  kind: 'struct',
  fields: [
    { name: 'months', type: INTEGER },
    { name: 'days', type: INTEGER },
    { name: 'micros', type: BIGINT },
  ],
};

/**
 * The type as which values of a type go from fragment to fragment, for types that Arrow or SQL text cannot carry exactly. DuckDB multiplies
 * an INTERVAL's microseconds by 1,000 without a check; the type of `row(1, 2)` cannot be written, and no table has such a column.
 * ```
 * producer                                                reader
 *   struct_pack(months := ..., days := ..., micros := ...) -> to_months(...) + to_days(...) + to_microseconds(...)
 *   CAST(r AS STRUCT("1" INTEGER, "2" INTEGER))            -> row(struct_extract_at(c0, 1), struct_extract_at(c0, 2))
 * ```
 */
export const exchangeType = (type: SqlType): SqlType =>
  mapLeaves(type, (leaf) => (leaf.kind === 'scalar' && leaf.name === 'INTERVAL' ? INTERVAL_PARTS : leaf));

export const exchangeFields = (fields: readonly SqlField[]): readonly SqlField[] =>
  fields.map((field) => (changesForm(field.type) ? { ...field, type: exchangeType(field.type) } : field));

/** Whether `exchangeType` returns another type. */
export const changesForm = (type: SqlType): boolean => hasUnnamed(type) || hasInterval(type);

const hasInterval = (type: SqlType): boolean =>
  (type.kind === 'scalar' && type.name === 'INTERVAL') || innerTypes(type).some(hasInterval);

const holdsArray = (type: SqlType): boolean => type.kind === 'array' || innerTypes(type).some(holdsArray);

/** A value of `type`, which `text` gives, as one of `exchangeType(type)`. @throws NotPrintable for an INTERVAL inside of a UNION */
export function toExchange(type: SqlType, text: string): string {
  if (!hasInterval(type)) return changesForm(type) ? `CAST(${text} AS ${castType(exchangeType(type))})` : text;
  return rebuilt(type, text, { from: (one) => one, to: exchangeType, interval: partsOf }, 0);
}

/**
 * A value of `exchangeType(type)`, which `text` gives, as one of `type`.
 * @throws NotPrintable for an INTERVAL inside of a UNION, and for an unnamed struct inside of an ARRAY or a UNION
 */
export const fromExchange = (type: SqlType, text: string): string =>
  rebuilt(type, text, { from: exchangeType, to: (one) => one, interval: intervalOf }, 0);

/** DuckDB has no function for all months or all microseconds of an INTERVAL, so they are summed from its parts. */
function partsOf(interval: string): string {
  const months = `CAST(year(${interval}) * 12 + month(${interval}) AS INTEGER)`;
  const micros = `hour(${interval}) * 3600000000 + minute(${interval}) * 60000000 + microsecond(${interval})`;
  return `struct_pack(months := ${months}, days := CAST(day(${interval}) AS INTEGER), micros := ${micros})`;
}

/** NULL for a struct of NULLs. */
const intervalOf = (parts: string): string =>
  `(to_months(struct_extract(${parts}, 'months')) + to_days(struct_extract(${parts}, 'days')) + ` +
  `to_microseconds(struct_extract(${parts}, 'micros')))`;

/** A change of form: the type before and after it, and the SQL that converts an INTERVAL, or its parts. */
type Change = {
  readonly from: (type: SqlType) => SqlType;
  readonly to: (type: SqlType) => SqlType;
  readonly interval: (text: string) => string;
};

/** Rebuilds a value with its inner values in the new form; `depth` makes lambda parameter names unique. */
function rebuilt(type: SqlType, text: string, change: Change, depth: number): string {
  if (!changesForm(type)) return text;
  switch (type.kind) {
    case 'scalar':
      return change.interval(text);
    case 'struct': {
      const values = type.fields.map((field, i) =>
        rebuilt(field.type, `struct_extract_at(${text}, ${i + 1})`, change, depth),
      );
      const made = structOf(structType(change.to(type)), values);
      // DuckDB's CASE takes no ARRAY, nor a struct that holds one.
      return holdsArray(type)
        ? `list_extract([${made}], CASE WHEN ${text} IS NOT NULL THEN 1 END)`
        : `CASE WHEN ${text} IS NOT NULL THEN ${made} END`;
    }
    case 'list':
      return rebuiltList(type.element, text, change, depth);
    case 'array': {
      const list = castType(change.from({ kind: 'list', element: type.element }));
      const elements = rebuiltList(type.element, `CAST(${text} AS ${list})`, change, depth);
      return `CAST(${elements} AS ${castType(change.to(type))})`;
    }
    case 'map': {
      const keys = rebuiltList(type.key, `map_keys(${text})`, change, depth);
      return `map(${keys}, ${rebuiltList(type.value, `map_values(${text})`, change, depth)})`;
    }
    case 'union':
      throw new NotPrintable('a value in a UNION that is exchanged in another form');
    case 'decimal':
    case 'enum':
      throw new Error('invariant: a type that does not change is not rebuilt');
    default:
      return unreachable(type);
  }
}

function structType(type: SqlType): Extract<SqlType, { kind: 'struct' }> {
  if (type.kind !== 'struct') throw new Error('invariant: a struct stays a struct');
  return type;
}

function rebuiltList(element: SqlType, text: string, change: Change, depth: number): string {
  if (!changesForm(element)) return text;
  const item = `u${depth}`;
  return `list_transform(${text}, lambda ${item}: ${rebuilt(element, item, change, depth + 1)})`;
}
