import type { Action } from '#shared/authorization/action.ts';
import { changeCatalog } from '../catalog-client/change-catalog.ts';
import type { ObjectName } from '../statement/statement.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import { changeField } from './alter-table/change-fields.ts';
import { changeOf, draftOf } from './alter-table/table-draft.ts';
import { statusResult } from '../operation/answer.ts';
import { withNamePosition } from '../operation/with-name-position.ts';
import type { Command } from './command.ts';
import type { CommandContext } from '../operation/command-context.ts';
import { loadMaterializedView } from './view/load-materialized-view.ts';
import { qualify } from '../operation/qualify.ts';
import { requireSchema } from './require-schema.ts';
import { namespaceParam, schemaPlace } from './schema/schema-place.ts';
import { changeTable } from '../operation/change-table.ts';
import { findColumn } from '../operation/find-column.ts';
import { commentOnView, commentOnViewColumn } from './view/comment-on-view.ts';
import { loadPlainView } from './view/view-place.ts';

/** Kinds of objects that may have a comment, with the parts of its longest name, and its word for errors. */
const KINDS = {
  TABLE: { partsMax: 3, what: 'a table' },
  COLUMN: { partsMax: 4, what: 'a column' },
  SCHEMA: { partsMax: 2, what: 'a schema' },
  VIEW: { partsMax: 3, what: 'a view' },
  'MATERIALIZED VIEW': { partsMax: 3, what: 'a materialized view' },
} as const;
type Kind = keyof typeof KINDS;

/** `text` is null to take a comment away. */
type CommentOn = { readonly on: Kind; readonly name: ObjectName; readonly text: string | null };

/** `COMMENT ON TABLE name | COLUMN table.column | SCHEMA name | [MATERIALIZED] VIEW name IS 'text' | NULL`; a column may be a view's */
export const commentOn: Command<CommentOn> = {
  words: ['COMMENT ON'],
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const on = takeKind(reader);
    const name = reader.name(KINDS[on].what, KINDS[on].partsMax);
    if (on === 'COLUMN' && name.parts.length === 1) throw reader.error('SYNTAX_ERROR', 'expected table.column');
    if (!reader.takeWord('IS')) throw reader.expected('IS');
    const text = takeText(reader);
    reader.end();
    return { on, name, text };
  },
  inTransaction: ({ on }) => on === 'TABLE' || on === 'COLUMN',
  action: ({ on }) => ACTION[on],
  async run(input, context) {
    await withNamePosition(input.name, COMMENT[input.on](input, context));
    return context.answer(statusResult('COMMENT'));
  },
};

const ACTION = {
  TABLE: 'table.commit',
  COLUMN: 'table.commit',
  SCHEMA: 'schema.alter',
  VIEW: 'view.replace',
  'MATERIALIZED VIEW': 'view.replace',
} as const satisfies Readonly<Record<Kind, Action>>;

function takeKind(reader: StatementReader): Kind {
  const kind = (Object.keys(KINDS) as Kind[]).find((one) => reader.takeWords(...one.split(' ')));
  if (kind === undefined) throw reader.expected('TABLE, COLUMN, SCHEMA, VIEW or MATERIALIZED VIEW');
  return kind;
}

function takeText(reader: StatementReader): string | null {
  if (reader.takeWord('NULL')) return null;
  const text = reader.takeString();
  if (text === null) throw reader.expected('a text in quotes or NULL');
  return text;
}

type Run = (input: CommentOn, context: CommandContext) => Promise<void>;

const onTable: Run = async ({ name, text }, context) =>
  changeTable(context, await qualify(name, context), ({ properties }) => {
    if (text !== null) return { updates: [{ action: 'set-properties', updates: { comment: text } }] };
    const isThere = Object.hasOwn(properties, 'comment');
    return { updates: isThere ? [{ action: 'remove-properties', removals: ['comment'] }] : [] };
  });

const onColumn: Run = async ({ name: { parts, position }, text }, context) => {
  const table = await qualify({ parts: parts.slice(0, -1), position }, context);
  const [loaded] = await context.tables.loadTables([table], context.signal);
  if (loaded?.kind === 'view') return commentOnViewColumn(loaded, { name: parts.at(-1) ?? '', text }, context);
  await changeTable(context, table, (base) => {
    const draft = draftOf(base);
    const { field } = findColumn(draft.fields, { parts: parts.slice(-1), position });
    const fields = changeField(draft.fields, field.id, ({ doc: _doc, ...one }) =>
      text === null ? one : { ...one, doc: text },
    );
    return changeOf({ ...draft, fields });
  });
};

const onSchema: Run = async ({ name, text }, context) => {
  const { catalog, schema } = await schemaPlace(name, context);
  const levels = await requireSchema(context, catalog, schema);
  const body = text === null ? { removals: ['comment'], updates: {} } : { updates: { comment: text } };
  const params = { prefix: catalog, namespace: namespaceParam(levels) };
  await changeCatalog(context, { id: 'updateProperties', params, body });
};

const onView: Run = async ({ name, text }, context) =>
  commentOnView(await loadPlainView(context.tables, await qualify(name, context), context.signal), text, context);

const onMaterializedView: Run = async ({ name, text }, context) =>
  commentOnView(await loadMaterializedView(name, context), text, context);

const COMMENT: Readonly<Record<Kind, Run>> = {
  TABLE: onTable,
  COLUMN: onColumn,
  SCHEMA: onSchema,
  VIEW: onView,
  'MATERIALIZED VIEW': onMaterializedView,
};
