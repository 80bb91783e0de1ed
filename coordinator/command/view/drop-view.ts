import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { skipDropBehaviour } from '../clause/drop-behaviour.ts';
import { takeIfExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';
import { qualify } from '../../operation/qualify.ts';
import { isAbsent, loadPlainView, viewParams } from './view-place.ts';

type DropView = { readonly ifExists: boolean; readonly name: ObjectName };

/** `DROP VIEW [IF EXISTS] name [CASCADE | RESTRICT]` */
export const dropView: Command<DropView> = {
  words: ['DROP VIEW'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const ifExists = takeIfExists(reader);
    const name = reader.name('a view', 3);
    skipDropBehaviour(reader);
    reader.end();
    return { ifExists, name };
  },
  action: () => 'view.drop',
  async run({ ifExists, name }, context) {
    const drop = async (): Promise<void> => {
      const view = await loadPlainView(context.tables, await qualify(name, context), context.signal);
      await changeCatalog(context, { id: 'dropView', params: viewParams(view.name) });
    };
    await withNamePosition(name, drop()).catch((error: unknown) => {
      if (!ifExists || !isAbsent(error)) throw error;
    });
    return context.answer(statusResult('DROP VIEW'));
  },
};
