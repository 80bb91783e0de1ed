import { randomUUID } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import type { TableName } from '../../resolver/table-source.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { atName } from '../at-name.ts';
import { takeIfNotExists } from '../clause/exists.ts';
import type { Command, CommandContext, WriteOutcome } from '../command.ts';
import { printTableName } from '../table/table-place.ts';
import { createViewOperation, newVersion, takeViewQuery, type ViewQuery } from '../view/new-version.ts';
import { isTable, loadView, viewParams, viewPlace } from '../view/view-place.ts';
import { planRefresh, refresh } from './refresh.ts';

type CreateMaterializedView = ViewQuery & { readonly ifNotExists: boolean; readonly name: ObjectName };

/**
 * `CREATE MATERIALIZED VIEW [IF NOT EXISTS] name [(column [COMMENT 'text'], ...)] [COMMENT 'text'] AS query`: a view with a table of the rows
 * that its query had when it was last refreshed, first of all now
 */
export const createMaterializedView: Command<CreateMaterializedView> = {
  words: ['CREATE MATERIALIZED VIEW'],
  queryType: 'ctas',
  timeout: 'session',
  parse(reader) {
    reader.words(3);
    const ifNotExists = takeIfNotExists(reader);
    const name = reader.name('a view', 3);
    checkIdentifier(name.parts.at(-1) ?? '', name.position);
    return { ifNotExists, name, ...takeViewQuery(reader) };
  },
  action: () => 'view.create',
  async run(input, context) {
    const { name, ifNotExists } = input;
    const place = await atName(name, viewPlace(name, context));
    if (place.loaded.kind === 'found') throw at(isTable(place.loaded.name), name);
    const isThere = place.loaded.kind === 'view';
    if (isThere && !ifNotExists) throw at(exists(place.name), name);
    const made = isThere ? null : await create(input, place.name, context);
    if (made === null) return context.answerCount(0);
    const { count, ...outcome } = made;
    return { ...(await context.answerCount(count)), ...outcome };
  },
};

/**
 * Makes the view, without rows, and then its rows; a view that gets none is dropped again. Null when there is one of this name by now, and
 * there may be.
 */
async function create(
  input: CreateMaterializedView,
  name: TableName,
  context: CommandContext,
): Promise<WriteOutcome | null> {
  // The statement may be stopped while the view has no rows.
  const stoppable = { ...context, beginCommit: () => undefined };
  const storage = { namespace: name.namespace, name: `${name.table}_storage_${randomUUID().slice(0, 8)}` };
  const version = { ...(await newVersion(input, context)), 'storage-table': storage };
  try {
    await changeCatalog(stoppable, createViewOperation(name, version, input.comment));
  } catch (error) {
    if (SkeinError.of(error).code !== 'ALREADY_EXISTS') throw error;
    if (input.ifNotExists) return null;
    throw at(exists(name), input.name);
  }
  try {
    const tables = context.catalog.tablesFor(context.caller.claims);
    const view = await loadView(tables, name, context.signal);
    return await refresh(await planRefresh(view, context, input.query.offset), context, input.query.offset);
  } catch (error) {
    if (SkeinError.of(error).code !== 'COMMIT_STATE_UNKNOWN') {
      await changeCatalog(stoppable, { id: 'dropView', params: viewParams(name) });
    }
    throw error;
  }
}

const exists = (name: TableName): SkeinError =>
  new SkeinError('ALREADY_EXISTS', `view ${printTableName(name)} exists already`);

const at = (error: SkeinError, { position }: ObjectName): SkeinError =>
  new SkeinError(error.code, error.message, { position });
