import { randomUUID } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import type { JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import type { LoadedView, TableName } from '../../binding/table-source.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { takeIfNotExists } from '../clause/exists.ts';
import { takeWithData } from '../clause/with-data.ts';
import type { Command } from '../command.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import type { WriteOutcome } from '../../operation/writes.ts';
import { isTaken, nameTaken, otherKind, underName } from '../table/name-taken.ts';
import {
  createViewOperation,
  newVersion,
  replaceViewBody,
  takeViewQuery,
  versionAs,
  type ViewQuery,
} from '../view/new-version.ts';
import { viewPlace } from '../view/view-place.ts';
import { planRefresh, refresh } from './refresh.ts';

type CreateMaterializedView = ViewQuery & {
  readonly orReplace: boolean;
  readonly ifNotExists: boolean;
  readonly name: ObjectName;
  /** Whether its rows are computed now; without them it cannot be read until it is refreshed. */
  readonly withData: boolean;
};

/**
 * `CREATE [OR REPLACE] MATERIALIZED VIEW [IF NOT EXISTS] name [(column [COMMENT 'text'], ...)] [COMMENT 'text'] AS query [WITH [NO] DATA]`:
 * a view with a table of the rows that its query had when it was last refreshed, first of all now. One commit makes or replaces both.
 */
export const createMaterializedView: Command<CreateMaterializedView> = {
  words: ['CREATE MATERIALIZED VIEW', 'CREATE OR REPLACE MATERIALIZED VIEW'],
  queryType: 'ctas',
  timeout: 'session',
  parse(reader) {
    const orReplace = reader.peekWord(1) === 'OR';
    reader.words(orReplace ? 5 : 3);
    const ifNotExists = takeIfNotExists(reader);
    if (ifNotExists && orReplace) throw reader.error('SYNTAX_ERROR', 'OR REPLACE and IF NOT EXISTS exclude each other');
    const name = reader.name('a view', 3);
    checkIdentifier(name.parts.at(-1) ?? '', name.position);
    const shown = takeViewQuery(reader);
    const { query, withData } = takeWithData(shown.query);
    if (orReplace && !withData) {
      const position = query.offset + query.text.length;
      throw new SkeinError('NOT_SUPPORTED', 'OR REPLACE puts rows in the place of those that are there', { position });
    }
    return { orReplace, ifNotExists, name, withData, ...shown, query };
  },
  action: ({ orReplace }) => (orReplace ? 'view.replace' : 'view.create'),
  answers: () => ({ kind: 'count' }),
  queryIn: ({ query }) => query,
  async run(input, context) {
    const { name, ifNotExists, orReplace } = input;
    const { name: wanted, loaded } = await withNamePosition(name, viewPlace(name, context));
    if (loaded.kind === 'found') throw orReplace ? otherKind(loaded, 'view', name) : nameTaken(loaded, name);
    if (loaded.kind === 'view' && !orReplace) {
      if (!ifNotExists) throw nameTaken(loaded, name);
      return context.answerCount(0);
    }
    if (loaded.kind === 'view' && loaded.view.storageTable === null) {
      throw otherKind(loaded, 'materialized view', name);
    }
    const made = loaded.kind === 'view' ? replace(input, loaded, context) : create(input, wanted, context);
    const { count, ...outcome } = await underName(name, made).catch((error: unknown) => {
      if (!ifNotExists || !isTaken(error)) throw error;
      return NOTHING_WRITTEN;
    });
    return { ...(await context.answerCount(count)), ...outcome };
  },
};

const NOTHING_WRITTEN: WriteOutcome = { count: 0, bytesScanned: 0, fragments: 0 };

/** Makes the view with its rows. @throws ALREADY_EXISTS, TABLE_EXISTS when the name is taken by now */
async function create(input: CreateMaterializedView, name: TableName, context: CommandContext): Promise<WriteOutcome> {
  const storage = { namespace: name.namespace, name: `${name.table}_storage_${randomUUID().slice(0, 8)}` };
  const version = { ...(await newVersion(input, 'materialized', context)), 'storage-table': storage };
  const operation = createViewOperation(name, version, { comment: input.comment, context });
  if (!input.withData) {
    await changeCatalog(context, operation);
    return NOTHING_WRITTEN;
  }
  const uuid = randomUUID();
  const view = versionAs(version, { name, uuid, versionId: 1 });
  const viewChange = { action: 'create', uuid, view: must(operation.body, 'a view is made from a body') };
  return withRows(view, viewChange, { input, context });
}

/** Gives the view another query, and its table the rows of that. */
async function replace(
  input: CreateMaterializedView,
  { name, view }: LoadedView,
  context: CommandContext,
): Promise<WriteOutcome> {
  const made = await newVersion(input, 'materialized', context);
  // Without something of its own the version could be an earlier one, under that one's id.
  const summary = { 'engine-name': 'skein', 'replaced-by': randomUUID() };
  const version = { ...made, summary, 'storage-table': view.storageTable };
  const body = replaceViewBody(view, version, input.comment);
  const next = versionAs(version, { name, uuid: view.uuid, versionId: view.lastVersionId + 1 });
  return withRows(next, { action: 'replace', view: body }, { input, context });
}

async function withRows(
  view: LoadedView,
  viewChange: JsonObject,
  { input, context }: { readonly input: CreateMaterializedView; readonly context: CommandContext },
): Promise<WriteOutcome> {
  const { offset } = input.query;
  return refresh({ ...(await planRefresh(view, context, offset)), viewChange }, context, offset);
}
