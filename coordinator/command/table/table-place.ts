import { SkeinError } from '#shared/error.ts';
import type { LoadedTable, LoadedView, TableName } from '../../binding/table-source.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { schemaName } from '../../catalog-client/catalog-browser.ts';
import { namespaceParam } from '../schema/schema-place.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { qualify } from '../../operation/qualify.ts';
import { requireSchema } from '../require-schema.ts';
import { must } from '#shared/must.ts';

/** A place for a table: the name with catalog and schema as they are stored, and the table or view that stands there. */
export type TablePlace = {
  readonly name: TableName;
  readonly existing: Extract<LoadedTable, { kind: 'found' }> | undefined;
  readonly view: LoadedView | undefined;
};

/** @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND */
export async function tablePlace(object: ObjectName, context: CommandContext): Promise<TablePlace> {
  const { caller, names, signal } = context;
  const wanted = await qualify(object, context);
  if (wanted.catalog === '') throw new SkeinError('CATALOG_NOT_FOUND', 'there is no catalog');
  const catalog = await names.catalog(caller, wanted.catalog);
  const namespace = await requireSchema(context, catalog, schemaName(wanted.namespace));
  const name = { catalog, namespace, table: wanted.table };
  const [loaded] = await context.catalog.tablesFor(caller.claims).loadTables([name], signal);
  const found = must(loaded, 'one answer for one name');
  return {
    name,
    existing: found.kind === 'found' ? found : undefined,
    view: found.kind === 'view' ? found : undefined,
  };
}

/** The path of a REST operation on a table. */
export const tableParams = ({ catalog, namespace, table }: TableName): Readonly<Record<string, string>> => ({
  prefix: catalog,
  namespace: namespaceParam(namespace),
  table,
});

export const printTableName = ({ catalog, namespace, table }: TableName): string =>
  [catalog, ...namespace, table].join('.');
