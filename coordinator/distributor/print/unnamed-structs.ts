import { must } from '#shared/must.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { innerTypes, type SqlType } from '../../plan/sql-type.ts';

/** Whether a type is, or holds, a struct whose fields have no names. */
export const hasUnnamed = (type: SqlType): boolean =>
  (type.kind === 'struct' && type.fields.some(({ name }) => name === '')) || innerTypes(type).some(hasUnnamed);

/** Prints a struct of values: `struct_pack` by the fields' names, or `row` when they have none. */
export function structOf(type: Extract<SqlType, { kind: 'struct' }>, values: readonly string[]): string {
  if (type.fields.every(({ name }) => name === '')) return `row(${values.join(', ')})`;
  return `struct_pack(${type.fields.map(({ name }, i) => `${quoteIdentifier(name)} := ${must(values[i], 'a value of each field')}`).join(', ')})`;
}
