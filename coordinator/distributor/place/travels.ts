import { unreachable } from '#shared/must.ts';
import type { SqlType } from '../../plan/sql-type.ts';

/**
 * Whether values of a type can be sent between workers as Arrow: not VARIANT, which has no Arrow form, not ENUM inside other types, and not
 * UNION, in which DuckDB's Arrow export loses NULLs.
 */
export function travels(type: SqlType): boolean {
  switch (type.kind) {
    case 'scalar':
      return !type.name.startsWith('VARIANT') && !type.name.startsWith('GEOMETRY');
    case 'decimal':
    case 'enum':
      return true;
    case 'list':
    case 'array':
      return inside(type.element);
    case 'struct':
      return type.fields.every((field) => inside(field.type));
    case 'map':
      return inside(type.key) && inside(type.value);
    case 'union':
      return false;
    default:
      return unreachable(type);
  }
}

const inside = (type: SqlType): boolean => type.kind !== 'enum' && travels(type);
