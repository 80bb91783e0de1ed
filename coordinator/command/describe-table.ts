import type { Json } from '#shared/json.ts';
import { columnsOf, loadOneTable } from '../catalog-client/catalog-browser.ts';
import { sqlTypeName } from '../session/sql-type-name.ts';
import type { ObjectName } from '../statement/statement.ts';
import { textResult, type Answer } from './answer.ts';
import { atName } from './at-name.ts';
import type { CommandContext } from './command.ts';
import { qualify } from './qualify.ts';

/** The columns of a table. @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, TABLE_NOT_FOUND */
export async function describeTable(name: ObjectName, context: CommandContext): Promise<Answer> {
  const table = await qualify(name, context);
  const { metadata } = await atName(name, loadOneTable(context.tables, table, context.signal));
  const rows = columnsOf(metadata).map((field) => [
    field.name,
    sqlTypeName(field.type),
    field.required ? 'NO' : 'YES',
    defaultText(field.writeDefault),
  ]);
  return describeResult(rows);
}

/** `[name, type, 'YES' | 'NO', default]` for each column. */
export const describeResult = (rows: readonly (readonly Json[])[]): Answer =>
  textResult(['col_name', 'data_type', 'nullable', 'default'], rows);

const defaultText = (value: Json | undefined): string | null => {
  if (value === undefined || value === null) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};
