import { SkeinError } from '#shared/error.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { takeIfExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';

type DropCatalog = { readonly ifExists: boolean; readonly name: ObjectName };

/** `DROP CATALOG [IF EXISTS] name`: it must hold no schemas */
export const dropCatalog: Command<DropCatalog> = {
  words: ['DROP CATALOG'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const ifExists = takeIfExists(reader);
    const name = reader.name('a catalog', 1);
    reader.end();
    return { ifExists, name };
  },
  action: () => 'catalog.drop',
  async run({ name, ifExists }, context) {
    const drop = async (): Promise<void> => {
      const catalog = await context.names.catalog(context.caller, name.parts.join('.'));
      const operation = { id: 'dropCatalog', params: { catalog } };
      await changeCatalog(context, operation);
    };
    await withNamePosition(name, drop()).catch((error: unknown) => {
      if (!ifExists || SkeinError.of(error).code !== 'CATALOG_NOT_FOUND') throw error;
    });
    return context.answer(statusResult('DROP CATALOG'));
  },
};
