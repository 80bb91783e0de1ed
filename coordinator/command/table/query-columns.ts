import { SkeinError } from '#shared/error.ts';
import { FieldIds, withFreshIds } from '#shared/iceberg/field-ids.ts';
import { tableTypeOfSql } from '#shared/iceberg/type-names.ts';
import type { Field, IcebergType } from '#shared/iceberg/type.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { unreachable } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { printSqlType, type SqlField, type SqlType } from '../../plan/sql-type.ts';
import { columnExists } from '../../operation/find-column.ts';
import type { NewColumns } from './new-table.ts';

/**
 * The columns of a table that is made of a query.
 * @throws COLUMN_EXISTS for two columns of one name, NOT_SUPPORTED naming a column whose type Iceberg does not have
 */
export function queryColumns(columns: readonly SqlField[], position: number): NewColumns {
  const names = new Set<string>();
  const fields = columns.map(({ name, type }) => {
    checkIdentifier(name, position);
    if (names.has(foldIdentifier(name))) throw columnExists(name, position);
    names.add(foldIdentifier(name));
    return fieldOf(name, type, { column: name, position });
  });
  return { fields: withFreshIds(fields, new FieldIds()), identifierFieldIds: [] };
}

type Place = { readonly column: string; readonly position: number };

const fieldOf = (name: string, type: SqlType, place: Place, required = false): Field => ({
  id: 0,
  name,
  required,
  type: typeOf(type, place),
});

function typeOf(type: SqlType, place: Place): IcebergType {
  switch (type.kind) {
    case 'scalar': {
      // DuckDB, too, makes a column of integers of one that is NULL in every row.
      if (type.name === '"NULL"') return { kind: 'int' };
      const found = tableTypeOfSql(type.name);
      if (found !== undefined && 'type' in found) return found.type;
      if (found !== undefined) throw refused(place, type, `: ${found.hint}`);
      break;
    }
    case 'decimal':
      return { kind: 'decimal', precision: type.width, scale: type.scale };
    case 'enum':
      return { kind: 'string' };
    case 'list':
    case 'array':
      return { kind: 'list', element: fieldOf('element', type.element, place) };
    case 'struct':
      if (type.fields.every(({ name }) => name !== '')) {
        return { kind: 'struct', fields: type.fields.map((field) => fieldOf(field.name, field.type, place)) };
      }
      break;
    case 'map':
      return { kind: 'map', key: fieldOf('key', type.key, place, true), value: fieldOf('value', type.value, place) };
    case 'union':
      break;
    default:
      return unreachable(type);
  }
  throw refused(place, type, '');
}

const refused = ({ column, position }: Place, type: SqlType, hint: string): SkeinError =>
  new SkeinError('NOT_SUPPORTED', `column ${column}: a table has no type ${printSqlType(type)}${hint}`, { position });
