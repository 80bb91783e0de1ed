import { unreachable } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import type { SqlType } from '../plan/sql-type.ts';

/**
 * Whether values of one type can be stored in a column of another, as DuckDB's own INSERT does it: by a cast, which may refuse single
 * values. Types that share no form are refused before the statement runs.
 * @param mayLack structs may lack members that are NULL then, and have others, which are left out; they share one, as a cast needs it
 */
export function isAssignable(from: SqlType, to: SqlType, mayLack = false): boolean {
  if (isNull(from) || isText(from) || isText(to)) return true;
  switch (to.kind) {
    case 'list':
      return (from.kind === 'list' || from.kind === 'array') && isAssignable(from.element, to.element, mayLack);
    case 'map':
      return (
        from.kind === 'map' && isAssignable(from.key, to.key, mayLack) && isAssignable(from.value, to.value, mayLack)
      );
    case 'struct': {
      if (from.kind !== 'struct') return false;
      const isNamed = from.fields.every(({ name }) => name !== '');
      const sources = to.fields.map((field, i) =>
        isNamed ? from.fields.find(({ name }) => foldIdentifier(name) === foldIdentifier(field.name)) : from.fields[i],
      );
      const found = sources.filter((source) => source !== undefined).length;
      const isEnough =
        mayLack && isNamed ? found > 0 : found === to.fields.length && from.fields.length === to.fields.length;
      return (
        isEnough &&
        to.fields.every(({ type }, i) => sources[i] === undefined || isAssignable(sources[i].type, type, mayLack))
      );
    }
    case 'scalar':
    case 'decimal':
      return FAMILIES.some((family) => family.has(nameOf(from)) && family.has(nameOf(to)));
    case 'array':
    case 'enum':
    case 'union':
      return false;
    default:
      return unreachable(to);
  }
}

const isNull = (type: SqlType): boolean => type.kind === 'scalar' && type.name === '"NULL"';
const isText = (type: SqlType): boolean => type.kind === 'scalar' && type.name === 'VARCHAR';

/** Decimals of any precision count as one type. */
const nameOf = (type: SqlType): string =>
  type.kind === 'scalar' ? type.name : type.kind === 'decimal' ? 'DECIMAL' : '';

/** Types between which DuckDB casts. */
const FAMILIES: readonly ReadonlySet<string>[] = [
  new Set(
    `BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT BIGNUM FLOAT DOUBLE DECIMAL`.split(
      ' ',
    ),
  ),
  new Set(['DATE', 'TIMESTAMP', 'TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP_NS', 'TIMESTAMP WITH TIME ZONE']),
  new Set(['TIME', 'TIME WITH TIME ZONE', 'TIME_NS', 'TIMESTAMP', 'TIMESTAMP WITH TIME ZONE']),
  new Set(['BLOB', 'BIT']),
  new Set(['BIT', 'TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'FLOAT', 'DOUBLE']),
  new Set(['UUID', 'HUGEINT', 'UHUGEINT', 'BLOB']),
];
