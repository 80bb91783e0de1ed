import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import type { Command } from '../command.ts';
import { nameTaken, underName } from './name-taken.ts';
import { tableParams, tablePlace } from './table-place.ts';
import { SkeinError } from '#shared/error.ts';

type UndropTable = { readonly name: ObjectName; readonly newName: ObjectName | null };

/** `UNDROP TABLE name [AS name]`: the table that was last dropped under the name, within the catalog's UNDROP window */
export const undropTable: Command<UndropTable> = {
  words: ['UNDROP TABLE'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const name = reader.name('a table', 3);
    const newName = reader.takeWord('AS') ? reader.name('a table', 3) : null;
    reader.end();
    return { name, newName };
  },
  action: () => 'table.create',
  async run({ name, newName }, context) {
    const from = await withNamePosition(name, tablePlace(name, context));
    const target = newName ?? name;
    const to = newName === null ? from : await withNamePosition(newName, tablePlace(newName, context));
    const taken = to.existing ?? to.view;
    if (taken !== undefined) throw nameTaken(taken, target);
    if (to.name.catalog !== from.name.catalog) {
      throw new SkeinError('NOT_SUPPORTED', 'a table stays in its catalog', { position: target.position });
    }
    const { namespace, table } = to.name;
    const operation = {
      id: 'undropTable',
      params: tableParams(from.name),
      body: { destination: { namespace, name: table } },
    };
    await underName(target, withNamePosition(name, changeCatalog(context, operation)));
    return context.answer(statusResult('UNDROP TABLE'));
  },
};
