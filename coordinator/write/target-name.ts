import { quoteIdentifier } from '#shared/sql/quote.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import type { WriteTarget } from '../operation/writes.ts';
import type { TableName } from '../binding/table-source.ts';

/** The name under which queries read what is there before a write: that of the table, at its branch. */
export const readName = ({ name, branch }: Pick<WriteTarget, 'name' | 'branch'>): TableName =>
  branch === undefined ? name : { ...name, table: `${name.table}@${branch}` };

/**
 * The table of a statement in FROM, and the name by which columns refer to it. Without an alias it stands as in a query, so that columns may
 * name its schema and catalog, too.
 */
export function targetSource(
  target: Pick<WriteTarget, 'name' | 'branch'>,
  alias: string | null,
): { readonly source: string; readonly qualifier: string } {
  const table = tableText(readName(target));
  if (alias === null) return { source: table, qualifier: table };
  const qualifier = quoteIdentifier(alias);
  return { source: `${table} AS ${qualifier}`, qualifier };
}

/** The name of a table in SQL. */
export const tableText = ({ catalog, namespace, table }: TableName): string =>
  [catalog, schemaName(namespace), table].map(quoteIdentifier).join('.');
