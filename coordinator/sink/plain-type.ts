import { mapLeaves, type LeafType, type SqlType } from '../plan/sql-type.ts';
import { ARROW_SCALARS } from './arrow-scalars.ts';

const TEXT: SqlType = { kind: 'scalar', name: 'VARCHAR' };

/** HUGEINT, the type of `sum` over integers: what has more digits is a NUMERIC_OVERFLOW. */
const WHOLE: SqlType = { kind: 'decimal', width: 38, scale: 0 };

/**
 * The type as which a column's values are sent in Arrow. A type without a form that every client reads becomes text, as DuckDB prints it,
 * which keeps its values exact: UHUGEINT, BIGNUM, BIT, TIME WITH TIME ZONE, ENUM and others. Fields of a struct without names are
 * named by their positions, `1`, `2`, ....
 */
export const plainType = (type: SqlType): SqlType => mapLeaves(type, plainLeaf);

function plainLeaf(type: LeafType): SqlType {
  if (type.kind === 'decimal') return type;
  if (type.kind === 'enum') return TEXT;
  if (type.name === '"NULL"') return { kind: 'scalar', name: 'INTEGER' };
  if (type.name === 'HUGEINT') return WHOLE;
  return Object.hasOwn(ARROW_SCALARS, type.name) ? type : TEXT;
}
