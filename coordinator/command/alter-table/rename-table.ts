import { SkeinError } from '#shared/error.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import { loadOneTable, schemaName } from '../../catalog-client/catalog-browser.ts';
import { requireTableAction, type TableName } from '../../binding/table-source.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { nameTaken, underName } from '../table/name-taken.ts';
import { printTableName, tablePlace } from '../table/table-place.ts';

/** Renames a table, also into another schema of its catalog; a new name of one part stays in the table's schema. */
export async function renameTable(from: TableName, newName: ObjectName, context: CommandContext): Promise<void> {
  const source = await loadOneTable(context.tables, from, context.signal);
  requireTableAction(source, 'table.rename');
  const { catalog, namespace, table } = source.name;
  const { parts, position } = newName;
  const inCatalog =
    parts.length === 3 ? parts : [catalog, ...(parts.length === 2 ? [] : [schemaName(namespace)]), ...parts];
  const { name, existing, view } = await withNamePosition(newName, tablePlace({ parts: inCatalog, position }, context));
  if (name.catalog !== catalog) throw new SkeinError('NOT_SUPPORTED', 'a table stays in its catalog', { position });
  const taken = existing ?? view;
  if (taken !== undefined && printTableName(taken.name) !== printTableName(source.name)) {
    throw nameTaken(taken, newName);
  }
  const body = { source: { namespace, name: table }, destination: { namespace: name.namespace, name: name.table } };
  const operation = { id: 'renameTable', params: { prefix: catalog }, body };
  await underName(newName, changeCatalog(context, operation));
}
