import { SkeinError } from '#shared/error.ts';
import { typedColumns } from '../../resolver/view/typed-columns.ts';
import { ownQuery } from '../../resolver/view/view-definition.ts';
import { viewError } from '../../resolver/view/expand-views.ts';
import type { LoadedView, TableName } from '../../resolver/table-source.ts';
import { must } from '#shared/must.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { atName } from '../at-name.ts';
import type { CommandContext, WriteOutcome } from '../command.ts';
import { qualify } from '../qualify.ts';
import { FORMAT_VERSION_DEFAULT, newTable } from '../table/new-table.ts';
import { createdTarget, replacedTarget } from '../table/new-target.ts';
import { queryColumns } from '../table/query-columns.ts';
import { printTableName } from '../table/table-place.ts';
import { loadView } from '../view/view-place.ts';

/** @throws as `loadView`, with the place of the name; WRONG_OBJECT_TYPE for a view without rows of its own */
export async function loadMaterializedView(name: ObjectName, context: CommandContext): Promise<LoadedView> {
  const wanted = await qualify(name, context);
  const loaded = await atName(name, loadView(context.tables, wanted, context.signal));
  if (loaded.view.storageTable !== null) return loaded;
  const message = `${printTableName(loaded.name)} is a view, not a materialized view`;
  throw new SkeinError('WRONG_OBJECT_TYPE', message, { position: name.position });
}

/** The table of the view's rows. */
function storageName({ name, view }: LoadedView): TableName {
  const { namespace, name: table } = must(view.storageTable, 'a materialized view has a table');
  return { catalog: name.catalog, namespace, table };
}

/**
 * Runs the view's query, and puts its rows in the place of those of the view's table, which is made when there is none: one commit, before
 * which readers see the rows of the last refresh. Names in the query mean what they meant when the view was made.
 * @throws as the query does, with the view's name; COMMIT_CONFLICT when another refresh came first
 */
export async function refresh(loaded: LoadedView, context: CommandContext, position: number): Promise<WriteOutcome> {
  const { view, name } = loaded;
  const storage = storageName(loaded);
  try {
    const query = { text: typedColumns(view, `(${ownQuery(view)}\n)`), offset: 0 };
    const names = { catalog: view.defaultCatalog ?? name.catalog, schema: view.defaultNamespace.join('.') };
    const [existing] = await context.tables.loadTables([storage], context.signal);
    const version = existing?.kind === 'found' && existing.metadata.formatVersion === 3 ? 3 : FORMAT_VERSION_DEFAULT;
    return await context.writes.createAs(
      query,
      (columns) => {
        const table = newTable(queryColumns(columns, 0), {}, version);
        return existing?.kind === 'found'
          ? replacedTarget(existing.name, table, context)
          : createdTarget({ name: storage, existing: undefined }, table, context);
      },
      names,
    );
  } catch (error) {
    throw viewError(error, printTableName(name), position);
  }
}
