import { SkeinError } from '#shared/error.ts';
import type { JsonObject } from '#shared/json.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import { isOwnDialect, type ViewDefinition } from '../../resolver/view/view-definition.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../answer.ts';
import { atName } from '../at-name.ts';
import { takeIfNotExists } from '../clause/exists.ts';
import type { Command, CommandContext } from '../command.ts';
import { printTableName } from '../table/table-place.ts';
import { createViewOperation, newVersion, takeViewQuery, type NewVersion, type ViewQuery } from './new-version.ts';
import { isTable, loadPlainView, viewParams, viewPlace, type ViewPlace } from './view-place.ts';

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
    const place = await atName(name, viewPlace(name, context));
    const { loaded } = place;
    if (loaded.kind === 'found') throw at(isTable(loaded.name), name);
    if (loaded.kind === 'view' && !orReplace) {
      if (!ifNotExists) throw exists(place, name);
      return context.answer(done);
    }
    if (loaded.kind === 'view') await atName(name, loadPlainView(context.tables, loaded.name, context.signal));
    const version = await newVersion(input, context);
    if (loaded.kind === 'view') {
      await replace(loaded.view, { ...place, name: loaded.name }, { input, version }, context);
      return context.answer(done);
    }
    const operation = createViewOperation(place.name, version, input.comment);
    await changeCatalog(context, operation).catch((error: unknown) => {
      if (SkeinError.of(error).code !== 'ALREADY_EXISTS') throw error;
      if (!ifNotExists) throw exists(place, name);
    });
    return context.answer(done);
  },
};

/** Adds a version to a view; the queries of its last version in other dialects stay. */
async function replace(
  view: ViewDefinition,
  { name }: ViewPlace,
  { input, version }: { readonly input: CreateView; readonly version: NewVersion },
  context: CommandContext,
): Promise<void> {
  const { schema, representations, ...rest } = version;
  const others = view.representations.filter((one) => !isOwnDialect(one));
  const all = [...(representations as readonly JsonObject[]), ...others];
  const comment =
    input.comment === null
      ? { action: 'remove-properties', removals: ['comment'] }
      : { action: 'set-properties', updates: { comment: input.comment } };
  const body = {
    requirements: [{ type: 'assert-view-uuid', uuid: view.uuid }],
    updates: [
      { action: 'add-schema', schema },
      { action: 'add-view-version', 'view-version': { ...rest, 'schema-id': -1, representations: all } },
      { action: 'set-current-view-version', 'view-version-id': -1 },
      comment,
    ],
  };
  await changeCatalog(context, { id: 'replaceView', params: viewParams(name), body });
}

const exists = ({ name }: ViewPlace, object: ObjectName): SkeinError =>
  at(new SkeinError('ALREADY_EXISTS', `view ${printTableName(name)} exists already`), object);

const at = (error: SkeinError, { position }: ObjectName): SkeinError =>
  new SkeinError(error.code, error.message, { position });
