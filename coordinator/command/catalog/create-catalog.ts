import { SkeinError } from '#shared/error.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { takeIfNotExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';

type CreateCatalog = { readonly ifNotExists: boolean; readonly name: ObjectName; readonly location: string | null };

/** `CREATE CATALOG [IF NOT EXISTS] name [LOCATION 'uri']`; the location lies within the roots that the operator has set. */
export const createCatalog: Command<CreateCatalog> = {
  words: ['CREATE CATALOG'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const ifNotExists = takeIfNotExists(reader);
    const name = reader.name('a catalog', 1);
    const location = reader.takeWord('LOCATION') ? reader.takeString() : null;
    if (location === null && !reader.atEnd()) throw reader.expected("LOCATION 'uri'");
    reader.end();
    return { ifNotExists, name, location };
  },
  action: () => 'catalog.create',
  async run({ name, ifNotExists, location }, context) {
    const { claims } = context.caller;
    const own = name.parts.join('.');
    const create = async (): Promise<void> => {
      const existing = await context.names.findCatalog(claims, own);
      if (existing !== undefined) {
        if (ifNotExists) return;
        throw new SkeinError('ALREADY_EXISTS', `catalog ${existing} exists already`);
      }
      const body = { name: own, ...(location === null ? {} : { 'storage-profile': { location } }) };
      await changeCatalog(context, { id: 'createCatalog', params: {}, body });
    };
    await withNamePosition(name, create());
    return context.answer(statusResult('CREATE CATALOG'));
  },
};
