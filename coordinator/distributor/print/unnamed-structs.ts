import { must, unreachable } from '#shared/must.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { SqlField, SqlType } from '../../planner/sql-type.ts';
import { NotPrintable } from './not-printable.ts';

/**
 * The type of `row(1, 2)` cannot be written, and no table has such a column. Between fragments its fields have names:
 * ```
 * producer                                         reader
 *   CAST(r AS STRUCT("1" INTEGER, "2" INTEGER)) ->   row(struct_extract_at(c0, 1), struct_extract_at(c0, 2))
 * ```
 */
export function namedType(type: SqlType): SqlType {
  switch (type.kind) {
    case 'scalar':
    case 'decimal':
    case 'enum':
      return type;
    case 'list':
    case 'array':
      return { ...type, element: namedType(type.element) };
    case 'struct':
      return {
        ...type,
        fields: type.fields.map((field, i) => ({
          name: field.name === '' ? String(i + 1) : field.name,
          type: namedType(field.type),
        })),
      };
    case 'map':
      return { ...type, key: namedType(type.key), value: namedType(type.value) };
    case 'union':
      return { ...type, members: type.members.map((member) => ({ ...member, type: namedType(member.type) })) };
    default:
      return unreachable(type);
  }
}

export const namedFields = (fields: readonly SqlField[]): readonly SqlField[] =>
  fields.map((field) => (hasUnnamed(field.type) ? { ...field, type: namedType(field.type) } : field));

/** Whether a type is, or holds, a struct whose fields have no names. */
export function hasUnnamed(type: SqlType): boolean {
  switch (type.kind) {
    case 'scalar':
    case 'decimal':
    case 'enum':
      return false;
    case 'list':
    case 'array':
      return hasUnnamed(type.element);
    case 'struct':
      return type.fields.some((field) => field.name === '' || hasUnnamed(field.type));
    case 'map':
      return hasUnnamed(type.key) || hasUnnamed(type.value);
    case 'union':
      return type.members.some((member) => hasUnnamed(member.type));
    default:
      return unreachable(type);
  }
}

/** A value of `namedType(type)`, which `text` gives, as one of `type`. @throws NotPrintable for one inside of an ARRAY or a UNION */
export function withoutNames(type: SqlType, text: string, depth = 0): string {
  if (!hasUnnamed(type)) return text;
  switch (type.kind) {
    case 'struct': {
      const fields = type.fields.map((field, i) =>
        withoutNames(field.type, `struct_extract_at(${text}, ${i + 1})`, depth),
      );
      return `CASE WHEN ${text} IS NOT NULL THEN ${structOf(type, fields)} END`;
    }
    case 'list':
      return changedList(type.element, text, depth);
    case 'map': {
      const keys = changedList(type.key, `map_keys(${text})`, depth);
      return `map(${keys}, ${changedList(type.value, `map_values(${text})`, depth)})`;
    }
    case 'array':
    case 'union':
      throw new NotPrintable(`a struct whose fields have no names in a ${type.kind}`);
    case 'scalar':
    case 'decimal':
    case 'enum':
      throw new Error('invariant: a type without fields has none that lack a name');
    default:
      return unreachable(type);
  }
}

function changedList(element: SqlType, text: string, depth: number): string {
  if (!hasUnnamed(element)) return text;
  const item = `u${depth}`;
  return `list_transform(${text}, lambda ${item}: ${withoutNames(element, item, depth + 1)})`;
}

/** `struct_pack` by the fields' names, or `row` when they have none. */
export function structOf(type: Extract<SqlType, { kind: 'struct' }>, values: readonly string[]): string {
  if (type.fields.every(({ name }) => name === '')) return `row(${values.join(', ')})`;
  return `struct_pack(${type.fields.map(({ name }, i) => `${quoteIdentifier(name)} := ${must(values[i], 'a value of each field')}`).join(', ')})`;
}
