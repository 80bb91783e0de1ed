import { SkeinError } from '#shared/error.ts';
import { schemaName } from '../../catalog-client/catalog-browser.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import type { TableName } from '../../binding/table-source.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { takeIfExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { loadMaterializedView } from './load-materialized-view.ts';
import { nameTaken, underName } from '../table/name-taken.ts';
import { qualify } from '../../operation/qualify.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { notOfViews, takePolicyEdit } from '../policy/table-policies.ts';
import { printTableName } from '../table/table-place.ts';
import { isAbsent, loadPlainView, viewPlace } from './view-place.ts';

type AlterView = {
  readonly isMaterialized: boolean;
  readonly ifExists: boolean;
  readonly name: ObjectName;
  readonly newName: ObjectName;
};

/** `ALTER [MATERIALIZED] VIEW [IF EXISTS] name RENAME TO name`; the table of a materialized view keeps its name */
export const alterView: Command<AlterView> = {
  words: ['ALTER VIEW', 'ALTER MATERIALIZED VIEW'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    const isMaterialized = reader.peekWord(1) === 'MATERIALIZED';
    reader.words(isMaterialized ? 3 : 2);
    const ifExists = takeIfExists(reader);
    const name = reader.name('a view', 3);
    if (takePolicyEdit(reader) !== null) throw notOfViews(name);
    if (!reader.takeWords('RENAME', 'TO')) throw reader.expected('RENAME TO');
    const newName = reader.name('a view', 3);
    checkIdentifier(newName.parts.at(-1) ?? '', newName.position);
    reader.end();
    return { isMaterialized, ifExists, name, newName };
  },
  action: () => 'view.rename',
  async run({ isMaterialized, ifExists, name, newName }, context) {
    const done = statusResult(isMaterialized ? 'ALTER MATERIALIZED VIEW' : 'ALTER VIEW');
    const found = isMaterialized
      ? loadMaterializedView(name, context)
      : withNamePosition(name, loadPlainView(context.tables, await qualify(name, context), context.signal));
    const view = await found.catch((error: unknown) => {
      if (!ifExists || !isAbsent(error)) throw error;
    });
    if (view !== undefined) await rename(view.name, newName, context);
    return context.answer(done);
  },
};

/** Renames a view, also into another schema of its catalog; a new name of one part stays in the view's schema. */
async function rename(from: TableName, newName: ObjectName, context: CommandContext): Promise<void> {
  const { catalog, namespace, table } = from;
  const { parts, position } = newName;
  const inCatalog =
    parts.length === 3 ? parts : [catalog, ...(parts.length === 2 ? [] : [schemaName(namespace)]), ...parts];
  const { name, loaded } = await withNamePosition(newName, viewPlace({ parts: inCatalog, position }, context));
  if (name.catalog !== catalog) throw new SkeinError('NOT_SUPPORTED', 'a view stays in its catalog', { position });
  if (loaded.kind !== 'missing' && printTableName(loaded.name) !== printTableName(from)) {
    throw nameTaken(loaded, newName);
  }
  const body = { source: { namespace, name: table }, destination: { namespace: name.namespace, name: name.table } };
  await underName(newName, changeCatalog(context, { id: 'renameView', params: { prefix: catalog }, body }));
}
