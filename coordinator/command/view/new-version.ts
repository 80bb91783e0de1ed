import { SkeinError } from '#shared/error.ts';
import type { JsonObject } from '#shared/json.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { CatalogOperation } from '../../catalog-client/catalog-client.ts';
import type { LoadedView, TableName } from '../../binding/table-source.ts';
import type { SqlField } from '../../plan/sql-type.ts';
import { printIntervals } from '../../binding/interval-columns.ts';
import { DIALECT, isOwnDialect, readViewDefinition, type ViewDefinition } from '../../binding/view-definition.ts';
import type { TextSpan } from '../../statement/statement.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import { takeComment } from '../clause/comment.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { startsQuery } from '../query-words.ts';
import { schemaJson } from '../table/new-table.ts';
import { queryColumns } from '../table/query-columns.ts';
import { viewParams } from './view-place.ts';

type ViewColumn = { readonly name: string; readonly comment: string | null };

/** The columns that a view shows: those of a query, perhaps under other names. */
export type ViewQuery = {
  /** Null = those of the query. */
  readonly columns: readonly ViewColumn[] | null;
  readonly comment: string | null;
  readonly query: TextSpan;
};

/** Columns that a statement may name. */
const COLUMNS_MAX = 10_000;

/** `[(column [COMMENT 'text'], ...)] [COMMENT 'text'] AS query` */
export function takeViewQuery(reader: StatementReader): ViewQuery {
  const columns = reader.peekSymbol('(') ? takeViewColumns(reader) : null;
  const comment = takeComment(reader);
  if (!reader.takeWord('AS')) throw reader.expected('AS and a query');
  if (!startsQuery(reader) && reader.peekWord() !== 'TABLE') throw reader.expected('a query');
  return { columns, comment, query: reader.takeRest() };
}

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

export type NewVersion = JsonObject & { readonly schema: JsonObject };

const VARCHAR = { kind: 'scalar', name: 'VARCHAR' } as const;
const isInterval = ({ type }: SqlField): boolean => type.kind === 'scalar' && type.name === 'INTERVAL';

/**
 * The version of the view, with its schema; its query gives the columns under their names.
 * @param kind a view may have columns that no table can hold, a materialized one not
 */
export async function newVersion(
  { columns, query }: ViewQuery,
  kind: 'plain' | 'materialized',
  context: CommandContext,
): Promise<NewVersion> {
  const found = await context.queries.columns(query);
  if (columns !== null && columns.length !== found.length) {
    const message = `the view names ${columns.length} columns, and its query has ${found.length}`;
    throw new SkeinError('SYNTAX_ERROR', message, { position: query.offset });
  }
  const named = found.map((column, i) => ({ ...column, name: columns?.[i]?.name ?? column.name }));
  const intervals = kind === 'plain' ? named.filter(isInterval).map(({ name }) => name) : [];
  const stored = named.map((column) =>
    kind === 'plain' && isInterval(column) ? { ...column, type: VARCHAR } : column,
  );
  const { fields } = queryColumns(stored, query.offset);
  const withComments = fields.map((field, i) => {
    const comment = columns?.[i]?.comment ?? null;
    return comment === null ? field : { ...field, doc: comment };
  });
  const { catalog, schema } = await context.names.current(context.caller, context.session);
  const text = query.text.trimEnd();
  const list = named.map(({ name }) => quoteIdentifier(name)).join(', ');
  return {
    schema: schemaJson({ fields: withComments, identifierFieldIds: [] }),
    'version-id': 1,
    'timestamp-ms': Date.now(),
    summary: { 'engine-name': 'skein', ...printIntervals(intervals) },
    ...(catalog === '' ? {} : { 'default-catalog': catalog }),
    'default-namespace': schema,
    representations: [
      { type: 'sql', dialect: DIALECT, sql: columns === null ? text : `SELECT * FROM (${text}\n) AS "v"(${list})` },
    ],
  };
}

/** The view that a version makes, before the catalog has it. */
export function versionAs(
  { schema, ...version }: NewVersion,
  { name, uuid, versionId }: { readonly name: TableName; readonly uuid: string; readonly versionId: number },
): LoadedView {
  const view = readViewDefinition({
    'view-uuid': uuid,
    'current-version-id': versionId,
    versions: [{ ...version, 'version-id': versionId, 'schema-id': 0 }],
    schemas: [{ ...schema, 'schema-id': 0 }],
  });
  return { kind: 'view', name, version: '', oid: 0, view, actions: new Set() };
}

/** The request that adds a version to a view and makes it the current one; the queries of its last version in other dialects stay. */
export function replaceViewBody(view: ViewDefinition, version: NewVersion, comment: string | null): JsonObject {
  const { schema, representations, ...rest } = version;
  const others = view.representations.filter((one) => !isOwnDialect(one));
  const all = [...(representations as readonly JsonObject[]), ...others];
  return {
    requirements: [{ type: 'assert-view-uuid', uuid: view.uuid }],
    updates: [...versionUpdates(schema, { ...rest, representations: all }), commentUpdate(comment)],
  };
}

/** The updates that make a version, with its columns, the current one. */
export const versionUpdates = (schema: JsonObject, version: JsonObject): readonly JsonObject[] => [
  { action: 'add-schema', schema },
  { action: 'add-view-version', 'view-version': { ...version, 'schema-id': -1 } },
  { action: 'set-current-view-version', 'view-version-id': -1 },
];

export const commentUpdate = (comment: string | null): JsonObject =>
  comment === null
    ? { action: 'remove-properties', removals: ['comment'] }
    : { action: 'set-properties', updates: { comment } };

/** The request that makes a view of its first version; its property `owner` is the user's name, as that of a table. */
export function createViewOperation(
  name: TableName,
  version: NewVersion,
  { comment, context }: { readonly comment: string | null; readonly context: Pick<CommandContext, 'caller'> },
): CatalogOperation {
  const { view, ...params } = viewParams(name);
  const { schema, ...viewVersion } = version;
  const owner = context.caller.claims.preferred_username;
  const properties = comment === null ? { owner } : { owner, comment };
  const body = { name: view ?? '', schema, 'view-version': { ...viewVersion, 'schema-id': 0 }, properties };
  return { id: 'createView', params, body };
}
