import { SkeinError } from '#shared/error.ts';
import { changeCatalog, RENAME_TIMEOUT_MS } from '../../catalog-client/change-catalog.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { takeIfExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';

type AlterCatalog = { readonly ifExists: boolean; readonly name: ObjectName; readonly newName: ObjectName };

/** `ALTER CATALOG [IF EXISTS] name RENAME TO name` */
export const alterCatalog: Command<AlterCatalog> = {
  words: ['ALTER CATALOG'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const ifExists = takeIfExists(reader);
    const name = reader.name('a catalog', 1);
    if (!reader.takeWords('RENAME', 'TO')) throw reader.expected('RENAME TO');
    const newName = reader.name('a catalog', 1);
    reader.end();
    return { ifExists, name, newName };
  },
  action: () => 'catalog.rename',
  async run({ ifExists, name, newName }, context) {
    const find = context.names.catalog(context.caller, name.parts.join('.'));
    const catalog = await withNamePosition(name, find).catch((error: unknown) => {
      if (!ifExists || SkeinError.of(error).code !== 'CATALOG_NOT_FOUND') throw error;
    });
    if (catalog !== undefined) await withNamePosition(newName, rename(catalog, newName.parts.join('.'), context));
    return context.answer(statusResult('ALTER CATALOG'));
  },
};

async function rename(catalog: string, to: string, context: CommandContext): Promise<void> {
  const taken = await context.names.findCatalog(context.caller.claims, to);
  if (taken !== undefined && taken !== catalog) {
    throw new SkeinError('ALREADY_EXISTS', `catalog ${taken} exists already`);
  }
  const params = { catalog };
  await changeCatalog(context, { id: 'renameCatalog', params, body: { name: to }, timeoutMs: RENAME_TIMEOUT_MS });
}
