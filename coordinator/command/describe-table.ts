import { SkeinError } from '#shared/error.ts';
import type { Json } from '#shared/json.ts';
import { columnsOf, loadOneTable } from '../catalog-client/catalog-browser.ts';
import type { TableName } from '../resolver/table-source.ts';
import { sqlTypeName } from '../session/sql-type-name.ts';
import type { ObjectName } from '../statement/statement.ts';
import { textResult, type Answer } from './answer.ts';
import type { CommandContext } from './command.ts';

/** The columns of a table. @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND, TABLE_NOT_FOUND */
export async function describeTable(name: ObjectName, context: CommandContext): Promise<Answer> {
  const { claims } = context.caller;
  const current = await context.names.current(claims, context.session);
  const table = qualify(name.parts, current.catalog, current.schema);
  const { metadata } = await atName(name, loadOneTable(context.tables, table, context.signal));
  const rows = columnsOf(metadata).map((field) => [
    field.name,
    sqlTypeName(field.type),
    field.required ? 'NO' : 'YES',
    defaultText(field.writeDefault),
  ]);
  return describeResult(rows);
}

/** Gives the errors of `work` the name's position. */
async function atName<T>({ position }: ObjectName, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    const error = SkeinError.of(thrown);
    if (error.entry.kind !== 'user') throw error;
    throw new SkeinError(error.code, error.message, { position, cause: error.cause });
  }
}

/** `[name, type, 'YES' | 'NO', default]` for each column. */
export const describeResult = (rows: readonly (readonly Json[])[]): Answer =>
  textResult(['col_name', 'data_type', 'nullable', 'default'], rows);

const defaultText = (value: Json | undefined): string | null => {
  if (value === undefined || value === null) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** A name of one to three parts as `catalog.schema.table`. */
function qualify(parts: readonly string[], catalog: string, schema: readonly string[]): TableName {
  const [first = '', second, third] = parts;
  if (third !== undefined) return { catalog: first, namespace: (second ?? '').split('.'), table: third };
  if (second !== undefined) return { catalog, namespace: first.split('.'), table: second };
  return { catalog, namespace: schema, table: first };
}
