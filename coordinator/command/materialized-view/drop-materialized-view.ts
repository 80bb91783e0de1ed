import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { skipDropBehaviour } from '../clause/drop-behaviour.ts';
import { takeIfExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';
import { isAbsent, viewParams } from '../view/view-place.ts';
import { loadMaterializedView } from '../view/load-materialized-view.ts';

type DropMaterializedView = { readonly ifExists: boolean; readonly name: ObjectName };

/** `DROP MATERIALIZED VIEW [IF EXISTS] name [CASCADE | RESTRICT]`: its rows go with it */
export const dropMaterializedView: Command<DropMaterializedView> = {
  words: ['DROP MATERIALIZED VIEW'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(3);
    const ifExists = takeIfExists(reader);
    const name = reader.name('a materialized view', 3);
    skipDropBehaviour(reader);
    reader.end();
    return { ifExists, name };
  },
  action: () => 'view.drop',
  async run({ ifExists, name }, context) {
    const view = await loadMaterializedView(name, context).catch((error: unknown) => {
      if (!ifExists || !isAbsent(error)) throw error;
    });
    if (view !== undefined) await changeCatalog(context, { id: 'dropView', params: viewParams(view.name) });
    return context.answer(statusResult('DROP MATERIALIZED VIEW'));
  },
};
