import { SkeinError } from '#shared/error.ts';
import type { TableRows } from '../binding/table-rows.ts';
import { travels } from '../distributor/place/travels.ts';
import { printSqlType, type SqlField } from '../plan/sql-type.ts';

/** A column of the rows that leave a table below policies; it has no name in the table, because only the number of rows is wanted. */
export const NO_COLUMN: SqlField = { name: '@row', type: { kind: 'scalar', name: 'BOOLEAN' } };

/**
 * The rows of a table below policies, of which nobody knows the number before they are made.
 * @throws NOT_SUPPORTED for a column of a type that does not travel from task to task
 */
export function policedRows(title: string, columns: readonly SqlField[]): TableRows {
  const stays = columns.find(({ type }) => !travels(type));
  if (stays !== undefined) {
    const type = printSqlType(stays.type);
    throw new SkeinError('NOT_SUPPORTED', `table ${title} has policies, and its column ${stays.name} is a ${type}`);
  }
  return { title, columns: columns.length === 0 ? [NO_COLUMN] : columns, rowCount: 0, bytes: 0, messages: [] };
}
