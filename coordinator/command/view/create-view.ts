import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { takeIfNotExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';
import { isTaken, nameTaken, otherKind, underName } from '../table/name-taken.ts';
import { createViewOperation, newVersion, replaceViewBody, takeViewQuery, type ViewQuery } from './new-version.ts';
import { loadPlainView, viewParams, viewPlace } from './view-place.ts';

type CreateView = ViewQuery & {
  readonly orReplace: boolean;
  readonly ifNotExists: boolean;
  readonly name: ObjectName;
};

/** `CREATE [OR REPLACE] VIEW [IF NOT EXISTS] name [(column [COMMENT 'text'], ...)] [COMMENT 'text'] AS query` */
export const createView: Command<CreateView> = {
  words: ['CREATE VIEW', 'CREATE OR REPLACE VIEW'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    const orReplace = reader.peekWord(1) === 'OR';
    reader.words(orReplace ? 4 : 2);
    const ifNotExists = takeIfNotExists(reader);
    if (ifNotExists && orReplace) throw reader.error('SYNTAX_ERROR', 'OR REPLACE and IF NOT EXISTS exclude each other');
    const name = reader.name('a view', 3);
    checkIdentifier(name.parts.at(-1) ?? '', name.position);
    return { orReplace, ifNotExists, name, ...takeViewQuery(reader) };
  },
  action: ({ orReplace }) => (orReplace ? 'view.replace' : 'view.create'),
  async run(input, context) {
    const { name, orReplace, ifNotExists } = input;
    const done = statusResult('CREATE VIEW');
    const place = await withNamePosition(name, viewPlace(name, context));
    const { loaded } = place;
    if (loaded.kind === 'found') throw orReplace ? otherKind(loaded, 'view', name) : nameTaken(loaded, name);
    if (loaded.kind === 'view' && !orReplace) {
      if (!ifNotExists) throw nameTaken(loaded, name);
      return context.answer(done);
    }
    if (loaded.kind === 'view')
      await withNamePosition(name, loadPlainView(context.tables, loaded.name, context.signal));
    const version = await newVersion(input, 'plain', context);
    if (loaded.kind === 'view') {
      const body = replaceViewBody(loaded.view, version, input.comment);
      await changeCatalog(context, { id: 'replaceView', params: viewParams(loaded.name), body });
      return context.answer(done);
    }
    const operation = createViewOperation(place.name, version, { comment: input.comment, context });
    await underName(name, changeCatalog(context, operation)).catch((error: unknown) => {
      if (!ifNotExists || !isTaken(error)) throw error;
    });
    return context.answer(done);
  },
};
