import type { TableName } from '../binding/table-source.ts';
import type { ObjectName } from '../statement/statement.ts';
import type { CommandContext } from './command-context.ts';

/** A name of one to three parts as `catalog.schema.table`, with the session's catalog and schema for the parts that are absent. */
export async function qualify(
  { parts }: ObjectName,
  { names, caller, session }: Pick<CommandContext, 'names' | 'caller' | 'session'>,
): Promise<TableName> {
  const [first = '', second, third] = parts;
  if (third !== undefined) return { catalog: first, namespace: (second ?? '').split('.'), table: third };
  const { catalog, schema } = await names.current(caller, session);
  if (second !== undefined) return { catalog, namespace: first.split('.'), table: second };
  return { catalog, namespace: schema, table: first };
}
