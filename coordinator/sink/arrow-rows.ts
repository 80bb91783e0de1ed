import type { SqlText } from '#shared/task/sql-text.ts';
import { unreachable } from '#shared/must.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import { printSqlType, type SqlType } from '../plan/sql-type.ts';
import { plainType } from './plain-type.ts';

/**
 * Wraps a query so that its columns have the types of `plainType`, and fails for an INTERVAL that Arrow cannot hold; a query that needs
 * neither stays as it is. Order is kept; names may repeat.
 * ```
 * SELECT a, h FROM t  ->  SELECT c0, CAST(c1 AS VARCHAR) AS c1 FROM (SELECT a, h FROM t) AS t(c0, c1)
 * ```
 */
export function arrowRows(sql: SqlText, types: readonly SqlType[]): SqlText {
  const columns = types.map((type, i) => {
    const [is, wanted] = [printSqlType(type), printSqlType(plainType(type))];
    return is === wanted ? `c${i}` : `CAST(c${i} AS ${wanted}) AS c${i}`;
  });
  const names = types.map((_, i) => `c${i}`);
  const isTooLong = anyOf(types.map((type, i) => longInterval(type, `c${i}`, 0)));
  if (isTooLong === null && columns.every((column, i) => column === names[i])) return sql;
  const where = isTooLong === null ? '' : ` WHERE CASE WHEN ${isTooLong} THEN ${FAILURE} ELSE true END`;
  return [`SELECT ${columns.join(', ')} FROM (`, ...sql, `\n) AS t(${names.join(', ')})${where}`];
}

/** Largest number of microseconds of an INTERVAL whose nanoseconds fit Arrow's 64 bits. DuckDB multiplies them without a check. */
const INTERVAL_MICROS_MAX = '9223372036854775';
/** `shared/duckdb-error.ts` makes this a NUMERIC_OVERFLOW. */
const TOO_LONG =
  'an INTERVAL of more than 2562047 hours is out of range for Arrow, which counts its nanoseconds in 64 bits; cast it to VARCHAR';
const FAILURE = `CAST(system.main.error(${quoteLiteral(TOO_LONG)}) AS BOOLEAN)`;

/** A condition that holds for a value which is or holds an INTERVAL that Arrow cannot hold; null for a type without INTERVAL. */
function longInterval(type: SqlType, text: string, depth: number): string | null {
  switch (type.kind) {
    case 'scalar': {
      if (type.name !== 'INTERVAL') return null;
      const micros = `hour(${text}) * 3600000000 + minute(${text}) * 60000000 + microsecond(${text})`;
      return `(${micros} NOT BETWEEN -${INTERVAL_MICROS_MAX} AND ${INTERVAL_MICROS_MAX})`;
    }
    case 'decimal':
    case 'enum':
      return null;
    case 'list':
    case 'array':
      return longInList(type.element, text, depth);
    case 'struct':
      return anyOf(
        type.fields.map((field, i) => longInterval(field.type, `struct_extract_at(${text}, ${i + 1})`, depth)),
      );
    case 'map':
      return anyOf([
        longInList(type.key, `map_keys(${text})`, depth),
        longInList(type.value, `map_values(${text})`, depth),
      ]);
    case 'union':
      return anyOf(
        type.members.map(({ name, type: member }) =>
          longInterval(member, `union_extract(${text}, ${quoteLiteral(name)})`, depth),
        ),
      );
    default:
      return unreachable(type);
  }
}

function longInList(element: SqlType, text: string, depth: number): string | null {
  const item = `x${depth}`;
  const condition = longInterval(element, item, depth + 1);
  return condition === null ? null : `list_bool_or(list_transform(${text}, lambda ${item}: ${condition}))`;
}

function anyOf(conditions: readonly (string | null)[]): string | null {
  const present = conditions.filter((condition) => condition !== null);
  return present.length === 0 ? null : `(${present.join(' OR ')})`;
}
