import { SkeinError } from '#shared/error.ts';
import type { JsonObject } from '#shared/json.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { changeCatalog } from '../../catalog-client/change-catalog.ts';
import { DIALECT, isOwnDialect, type ViewDefinition } from '../../resolver/view/view-definition.ts';
import type { ObjectName, TextSpan } from '../../statement/statement.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import { statusResult } from '../answer.ts';
import { atName } from '../at-name.ts';
import { takeComment } from '../clause/comment.ts';
import { takeIfNotExists } from '../clause/exists.ts';
import type { Command, CommandContext } from '../command.ts';
import { startsQuery } from '../query-words.ts';
import { schemaJson } from '../table/new-table.ts';
import { queryColumns } from '../table/query-columns.ts';
import { printTableName } from '../table/table-place.ts';
import { isTable, viewParams, viewPlace, type ViewPlace } from './view-place.ts';

type ViewColumn = { readonly name: string; readonly comment: string | null };

type CreateView = {
  readonly orReplace: boolean;
  readonly ifNotExists: boolean;
  readonly name: ObjectName;
  /** Null = those of the query. */
  readonly columns: readonly ViewColumn[] | null;
  readonly comment: string | null;
  readonly query: TextSpan;
};

/** Columns that a statement may name. */
const COLUMNS_MAX = 10_000;

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
    const columns = reader.peekSymbol('(') ? takeViewColumns(reader) : null;
    const comment = takeComment(reader);
    if (!reader.takeWord('AS')) throw reader.expected('AS and a query');
    if (!startsQuery(reader) && reader.peekWord() !== 'TABLE') throw reader.expected('a query');
    return { orReplace, ifNotExists, name, columns, comment, query: reader.rest() };
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
    const version = await newVersion(input, context);
    if (loaded.kind === 'view') {
      await replace(loaded.view, { ...place, name: loaded.name }, { input, version }, context);
      return context.answer(done);
    }
    const { view, ...params } = viewParams(place.name);
    const properties = input.comment === null ? {} : { comment: input.comment };
    const { schema, ...viewVersion } = version;
    const body = { name: view ?? '', schema, 'view-version': { ...viewVersion, 'schema-id': 0 }, properties };
    await changeCatalog(context, { id: 'createView', params, body }).catch((error: unknown) => {
      if (SkeinError.of(error).code !== 'ALREADY_EXISTS') throw error;
      if (!ifNotExists) throw exists(place, name);
    });
    return context.answer(done);
  },
};

function takeViewColumns(reader: StatementReader): readonly ViewColumn[] {
  reader.takeSymbol('(');
  const columns: ViewColumn[] = [];
  do {
    if (columns.length === COLUMNS_MAX) {
      throw reader.error('STATEMENT_TOO_COMPLEX', `a view has at most ${COLUMNS_MAX} columns`);
    }
    const name = reader.takeName();
    if (name === null || name === '') throw reader.expected('the name of a column');
    columns.push({ name, comment: takeComment(reader) });
  } while (reader.takeSymbol(','));
  if (!reader.takeSymbol(')')) throw reader.expected("',' or ')'");
  return columns;
}

type NewVersion = JsonObject & { readonly schema: JsonObject };

/** The version of the view, with its schema; its query gives the columns under their names. */
async function newVersion({ columns, query }: CreateView, context: CommandContext): Promise<NewVersion> {
  const found = await context.queries.columns(query);
  if (columns !== null && columns.length !== found.length) {
    const message = `the view names ${columns.length} columns, and its query has ${found.length}`;
    throw new SkeinError('SYNTAX_ERROR', message, { position: query.offset });
  }
  const named = found.map((column, i) => ({ ...column, name: columns?.[i]?.name ?? column.name }));
  const { fields } = queryColumns(named, query.offset);
  const withComments = fields.map((field, i) => {
    const comment = columns?.[i]?.comment ?? null;
    return comment === null ? field : { ...field, doc: comment };
  });
  const { catalog, schema } = await context.names.current(context.caller.claims, context.session);
  const text = query.text.trimEnd();
  const list = named.map(({ name }) => quoteIdentifier(name)).join(', ');
  return {
    schema: schemaJson({ fields: withComments, identifierFieldIds: [] }),
    'version-id': 1,
    'timestamp-ms': Date.now(),
    summary: { 'engine-name': 'skein' },
    ...(catalog === '' ? {} : { 'default-catalog': catalog }),
    'default-namespace': schema,
    representations: [
      { type: 'sql', dialect: DIALECT, sql: columns === null ? text : `SELECT * FROM (${text}\n) AS "v"(${list})` },
    ],
  };
}

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
