import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { schemaName } from '../../catalog-client/catalog-browser.ts';
import type { LoadedTable, LoadedView, TableLoader, TableName } from '../../binding/table-source.ts';
import type { ObjectName } from '../../statement/statement.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { qualify } from '../../operation/qualify.ts';
import { requireSchema } from '../require-schema.ts';
import { namespaceParam } from '../schema/schema-place.ts';
import { printTableName } from '../table/table-place.ts';

/** A place for a view: the name with catalog and schema as they are stored, and what stands there. */
export type ViewPlace = { readonly name: TableName; readonly loaded: LoadedTable };

/** @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND */
export async function viewPlace(object: ObjectName, context: CommandContext): Promise<ViewPlace> {
  const { caller, names, signal } = context;
  const wanted = await qualify(object, context);
  if (wanted.catalog === '') throw new SkeinError('CATALOG_NOT_FOUND', 'there is no catalog');
  const catalog = await names.catalog(caller, wanted.catalog);
  const namespace = await requireSchema(context, catalog, schemaName(wanted.namespace));
  const name = { catalog, namespace, table: wanted.table };
  const [loaded] = await context.catalog.tablesFor(caller.claims).loadTables([name], signal);
  return { name, loaded: must(loaded, 'one answer for one name') };
}

/** @throws VIEW_NOT_FOUND, SCHEMA_NOT_FOUND, CATALOG_NOT_FOUND, WRONG_OBJECT_TYPE for a table */
export async function loadView(tables: TableLoader, name: TableName, signal: AbortSignal): Promise<LoadedView> {
  const loaded = must((await tables.loadTables([name], signal))[0], 'one answer for one name');
  if (loaded.kind === 'view') return loaded;
  if (loaded.kind === 'found') throw isTable(loaded.name);
  if (loaded.code !== 'TABLE_NOT_FOUND') {
    const schema = loaded.code === 'CATALOG_NOT_FOUND' ? '' : `schema ${schemaName([name.catalog, ...name.namespace])}`;
    throw new SkeinError(loaded.code, `${schema === '' ? `catalog ${name.catalog}` : schema} does not exist`);
  }
  throw new SkeinError('VIEW_NOT_FOUND', `view ${printTableName(name)} does not exist`);
}

/** A view that has no rows of its own. @throws as `loadView`, WRONG_OBJECT_TYPE for a materialized view */
export async function loadPlainView(...place: Parameters<typeof loadView>): Promise<LoadedView> {
  const loaded = await loadView(...place);
  if (loaded.view.storageTable === null) return loaded;
  throw new SkeinError('WRONG_OBJECT_TYPE', `${printTableName(loaded.name)} is a materialized view`);
}

const isTable = (name: TableName): SkeinError =>
  new SkeinError('WRONG_OBJECT_TYPE', `${printTableName(name)} is a table, not a view`);

/** The errors of `loadView` that IF EXISTS takes for an answer. */
export const isAbsent = (error: unknown): boolean => ABSENT.has(SkeinError.of(error).code);
const ABSENT: ReadonlySet<string> = new Set(['VIEW_NOT_FOUND', 'SCHEMA_NOT_FOUND', 'CATALOG_NOT_FOUND']);

/** The path of a REST operation on a view. */
export const viewParams = ({ catalog, namespace, table }: TableName): Readonly<Record<string, string>> => ({
  prefix: catalog,
  namespace: namespaceParam(namespace),
  view: table,
});
