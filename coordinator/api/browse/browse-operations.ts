import { Type, type Static } from 'typebox';
import { errors, json } from '../http/operation-parts.ts';
import { PLACE_HEADER, SESSION, STATEMENT_ERRORS, type ParsedBody } from '../http/operations.ts';
import { PARAMETERS_MAX } from '../../statement/parameters.ts';
import { integer, orNull, record, text } from '../../profile/schema-parts.ts';

/** Objects of a page, and proposals of an answer, at most. */
const OBJECTS_MAX = 1_000;
const OBJECTS_DEFAULT = 100;
const NAME_LENGTH_MAX = 1_000;

const name = (description: string) => Type.Optional(Type.String({ maxLength: NAME_LENGTH_MAX, description }));

export type BrowsedObject = Static<typeof BrowsedObject>;
const BrowsedObject = record({
  kind: Type.Unsafe<'catalog' | 'schema' | 'table' | 'view' | 'materialized view' | 'stage' | 'column'>({
    type: 'string',
    description: 'catalog, schema, table, view, materialized view, stage or column',
  }),
  name: text('Its name'),
  catalog: orNull(Type.String(), 'The catalog that it lies in'),
  schema: orNull(Type.String(), 'The schema, levels joined by dots'),
  relation: orNull(Type.String(), 'The table or view of a column'),
  type: orNull(Type.String(), 'SQL type of a column'),
  comment: orNull(Type.String(), 'Its comment'),
  details: Type.Optional(
    record({
      owner: orNull(Type.String(), 'Owner'),
      created: orNull(Type.String(), 'When it was made, as its writer says'),
      changed: orNull(Type.String(), 'When it last changed; of a materialized view, when its rows did'),
      rows: orNull(Type.Number(), 'Rows by the current snapshot; null: unknown, or hidden by a policy'),
      bytes: orNull(Type.Number(), 'Bytes of its files; null as above'),
      has_policies: Type.Boolean({ description: 'Policies are bound to it' }),
    }),
  ),
});

export type BrowsedPage = Static<typeof BrowsedPage>;
const BrowsedPage = record({
  objects: Type.Array(BrowsedObject),
  next: orNull(Type.String(), 'Asks for the next page; null: this is the last one'),
  total: Type.Optional(integer('How many there are, with `sort`')),
});

/** Orders of a list of relations, beside that by name. */
const OBJECT_SORTS = ['name', 'owner', 'created', 'changed', 'rows', 'bytes'] as const;
export type ObjectSort = (typeof OBJECT_SORTS)[number];

export const LIST_OBJECTS = {
  operationId: 'listObjects',
  summary: 'The children of a place, or a search in a catalog',
  description:
    'Without `catalog` the catalogs, with it its schemas, with `schema` its tables, views and stages, with `relation` its columns. Nothing of it ' +
    'is in the history.',
  querystring: Type.Object({
    catalog: name('Catalog'),
    schema: name('Schema of the catalog'),
    relation: name('Table or view of the schema'),
    search: name(
      'Only those of the catalog whose name or comment contains this, in any case, and columns whose name does',
    ),
    sort: Type.Optional(
      Type.Unsafe<ObjectSort>({
        type: 'string',
        enum: [...OBJECT_SORTS],
        description: 'Order of the tables, views and stages of `schema`, which then come by `offset`',
      }),
    ),
    descending: Type.Optional(Type.Unsafe<'true' | 'false'>({ type: 'string', enum: ['true', 'false'] })),
    offset: Type.Optional(Type.Integer({ minimum: 0, description: 'How many of them are left out' })),
    after: Type.Optional(Type.String({ maxLength: 4 * NAME_LENGTH_MAX, description: '`next` of the page before' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: OBJECTS_MAX, default: OBJECTS_DEFAULT, description: 'How many at most' }),
    ),
  }),
  response: {
    200: json(BrowsedPage, 'A page, by name'),
    ...errors(['INVALID_REQUEST'], { missing: ['CATALOG_NOT_FOUND', 'SCHEMA_NOT_FOUND', 'TABLE_NOT_FOUND'] }),
  },
};

export type DescribeBody = Static<typeof DescribeBody>;
const DescribeBody = record({
  sql: text('One statement'),
  types: Type.Optional(
    Type.Array(Type.String({ maxLength: NAME_LENGTH_MAX }), {
      maxItems: PARAMETERS_MAX,
      description: 'SQL types of `$1`, `$2`, ..., as far as they are known',
    }),
  ),
});
export const DESCRIBE_BODY: ParsedBody = { parsedBody: DescribeBody };

const Typed = record({ name: text('Its name; of a parameter `1` for `$1` and the first `?`'), type: text('SQL type') });

export type DescribedEntry = Static<typeof Described>;
const Described = record({
  kind: Type.Unsafe<'rows' | 'count' | 'nothing'>({
    type: 'string',
    enum: ['rows', 'count', 'nothing'],
    description: 'rows; the number of changed rows; or neither',
  }),
  tag: text('The statement by its first words: SELECT, INSERT, CREATE TABLE'),
  columns: orNull(Type.Array(Typed), 'Columns of its rows; null: it has none, or they depend on data'),
  parameters: Type.Array(Typed, { description: 'A parameter whose type nothing decides is a VARCHAR' }),
});

export const DESCRIBE = {
  operationId: 'describe',
  summary: 'What a statement would answer, and of which types its parameters are',
  description: 'Nothing runs, and nothing of it is in the history.',
  headers: Type.Object(SESSION),
  response: {
    200: json(Described, 'The statement'),
    ...errors([...STATEMENT_ERRORS], { headers: PLACE_HEADER }),
  },
};

export type SessionEntry = Static<typeof Session>;
const Session = record({
  catalog: text('Current catalog'),
  schema: text('Current schema, levels joined by dots'),
  role: orNull(Type.String(), 'The one role that functions see; null: all that are granted'),
  settings: Type.Array(
    record({
      name: text('Setting'),
      value: text('Its value'),
      is_set: Type.Boolean({ description: 'The session has set it' }),
    }),
  ),
  transaction: orNull(
    record({
      state: Type.Unsafe<'open' | 'failed'>({
        type: 'string',
        enum: ['open', 'failed'],
        description: 'failed: it takes nothing but ROLLBACK',
      }),
      read_only: Type.Boolean({ description: 'It changes nothing' }),
    }),
    'The transaction that it is in',
  ),
});

export const GET_SESSION = {
  operationId: 'getSession',
  summary: 'The session as it is now: catalog, schema, settings, transaction',
  headers: Type.Object(SESSION),
  response: {
    200: json(Session, 'The session'),
    ...errors(['INVALID_REQUEST', 'NOT_ACTIVE'], { missing: ['CATALOG_NOT_FOUND'] }),
  },
};

/** Longest text that proposals are made for. */
export const COMPLETE_BYTES_MAX = 256 * 1024;

export type CompleteRequest = Static<typeof CompleteRequest>;
const CompleteRequest = record({
  sql: text('The text as it is, which need not be SQL yet'),
  position: integer('Offset of the cursor in UTF-16 units'),
});
export const COMPLETE_BODY: ParsedBody = { parsedBody: CompleteRequest };

export type CompletionEntry = Static<typeof Completion>;
const Completion = record({
  from: integer('Where the name begins that the proposals replace'),
  proposals: Type.Array(
    record({
      label: text('The name'),
      kind: text('catalog, schema, table, view, column, function or keyword'),
      detail: orNull(Type.String(), 'Type of a column, place of a relation'),
    }),
  ),
});

export const COMPLETE = {
  operationId: 'complete',
  summary: 'Names that may stand at a place of a text',
  description: 'Proposals come from the lists of the caller; nothing runs.',
  response: {
    200: json(Completion, 'Proposals, the best first'),
    ...errors(['INVALID_REQUEST', 'PAYLOAD_TOO_LARGE'], { missing: ['CATALOG_NOT_FOUND'] }),
  },
};
