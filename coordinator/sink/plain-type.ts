import { unreachable } from '#shared/must.ts';
import type { SqlType } from '../planner/sql-type.ts';

/** Types that have an Arrow form which every Arrow client reads. */
const PLAIN: ReadonlySet<string> = new Set([
  'BOOLEAN',
  'TINYINT',
  'SMALLINT',
  'INTEGER',
  'BIGINT',
  'UTINYINT',
  'USMALLINT',
  'UINTEGER',
  'UBIGINT',
  'FLOAT',
  'DOUBLE',
  'VARCHAR',
  'BLOB',
  'JSON',
  'UUID',
  'DATE',
  'TIME',
  'TIME_NS',
  'TIMESTAMP',
  'TIMESTAMP_S',
  'TIMESTAMP_MS',
  'TIMESTAMP_NS',
  'TIMESTAMP WITH TIME ZONE',
  'INTERVAL',
]);

const TEXT: SqlType = { kind: 'scalar', name: 'VARCHAR' };

/**
 * The type as which a column's values are sent in Arrow. A type without a form that every client reads becomes text, as DuckDB prints it,
 * which keeps its values exact: 128-bit integers, BIGNUM, BIT, TIME WITH TIME ZONE, ENUM and others. Fields of a struct without names are
 * named by their positions, `1`, `2`, ....
 */
export function plainType(type: SqlType): SqlType {
  switch (type.kind) {
    case 'scalar':
      if (type.name === '"NULL"') return { kind: 'scalar', name: 'INTEGER' };
      return PLAIN.has(type.name) ? type : TEXT;
    case 'decimal':
      return type;
    case 'enum':
      return TEXT;
    case 'list':
    case 'array':
      return { ...type, element: plainType(type.element) };
    case 'struct':
      return {
        ...type,
        fields: type.fields.map(({ name, type: field }, i) => ({
          name: name === '' ? String(i + 1) : name,
          type: plainType(field),
        })),
      };
    case 'map':
      return { ...type, key: plainType(type.key), value: plainType(type.value) };
    case 'union':
      return { ...type, members: type.members.map(({ name, type: member }) => ({ name, type: plainType(member) })) };
    default:
      return unreachable(type);
  }
}
