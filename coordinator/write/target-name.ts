import { quoteIdentifier } from '#shared/sql/quote.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import type { WriteTarget } from '../command/command.ts';
import type { TableName } from '../resolver/table-source.ts';

/** The name under which queries read what is there before a write: that of the table, at its branch. */
export const readName = ({ name, branch }: Pick<WriteTarget, 'name' | 'branch'>): TableName =>
  branch === undefined ? name : { ...name, table: `${name.table}@${branch}` };

/** The name of a table in SQL. */
export const tableText = ({ catalog, namespace, table }: TableName): string =>
  [catalog, schemaName(namespace), table].map(quoteIdentifier).join('.');
