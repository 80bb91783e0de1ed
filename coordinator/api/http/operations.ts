import { Type, type TSchema } from 'typebox';
import type { ErrorCode } from '#shared/error.ts';
import { ARROW_STREAM } from './arrow-result.ts';
import { RECORDS_DEFAULT, RECORDS_MAX } from '../../history/history-request.ts';
import { QUERY_TYPES } from '../../statement/query-type.ts';
import {
  HistoryList,
  LiveQueryList,
  LiveStateSchema,
  NotReady,
  RECORD_STATUSES,
  QuarantineList,
  QueryStateEntry,
  ref,
  StatusBody,
  TableList,
  Whoami,
} from './api-types.ts';
import { byId, errors, json } from './operation-parts.ts';
import { UUID } from '../../profile/schema-parts.ts';

/**
 * The operations of the query HTTP API as fastify schemas, by which requests are checked and the OpenAPI document is printed. Statuses and
 * codes of errors come from the catalogue.
 */

/** Longest `X-Skein-Source`. */
const SOURCE_LENGTH_MAX = 256;

/** The rules of headers in words, for the error of a request that breaks one. */
export const HEADER_RULES: Readonly<Record<string, string>> = {
  'x-skein-session': 'X-Skein-Session must be a UUID',
  'x-skein-query-id': 'X-Skein-Query-Id must be a UUID',
  'x-skein-source': `X-Skein-Source must be at most ${SOURCE_LENGTH_MAX} characters`,
};

/**
 * The `config` of a route that parses its body itself: the document has this schema for it, and the route checks what it has parsed
 * with `validateInput`.
 */
export type ParsedBody = { readonly parsedBody: TSchema };

const STATEMENT_ERRORS: readonly ErrorCode[] = [
  'SYNTAX_ERROR',
  'NAME_TOO_LONG',
  'INVALID_REQUEST',
  'TABLE_NOT_FOUND',
  'COLUMN_NOT_FOUND',
  'AMBIGUOUS_COLUMN',
  'FUNCTION_NOT_FOUND',
  'SCHEMA_NOT_FOUND',
  'CATALOG_NOT_FOUND',
  'TYPE_MISMATCH',
  'UNDEFINED_PARAMETER',
  'WRONG_PARAMETER_COUNT',
  'PREPARED_STATEMENT_NOT_FOUND',
  'QUERY_NOT_FOUND',
  'PREPARED_STATEMENT_EXISTS',
  'TOO_MANY_PREPARED_STATEMENTS',
  'INVALID_CAST',
  'NUMERIC_OVERFLOW',
  'DIVISION_BY_ZERO',
  'CARDINALITY_VIOLATION',
  'INVALID_ARGUMENT',
  'NOT_SUPPORTED',
  'ENGINE_FAULT',
  'STATEMENT_TOO_COMPLEX',
  'FORBIDDEN',
  'QUERY_TIMEOUT',
  'QUERY_CANCELLED',
  'PAYLOAD_TOO_LARGE',
  'RESULT_TOO_LARGE',
  'QUEUE_FULL',
  'NOT_ACTIVE',
  'NO_WORKERS',
  'WORKER_LOST',
  'STORAGE_ERROR',
  'STORAGE_FULL',
  'INVALID_TABLE_DATA',
  'OUT_OF_MEMORY',
  'MEMORY_KILLED',
  'MEMORY_EXHAUSTED',
  'SPILL_LIMIT',
  'STEP_TOO_LONG',
  'QUERY_KILLED',
  'STATEMENT_QUARANTINED',
  'PRINCIPAL_LIMITED',
  'COLUMN_EXISTS',
  'COLUMN_IN_USE',
  'NOT_NULL_VIOLATION',
  'SNAPSHOT_NOT_FOUND',
  'TABLE_EXISTS',
  'SCHEMA_EXISTS',
  'RESERVED_NAME',
  'SCHEMA_NOT_EMPTY',
  'CATALOG_NOT_EMPTY',
  'ALREADY_EXISTS',
  'PROTECTED',
  'COMMIT_CONFLICT',
  'COMMIT_STATE_UNKNOWN',
  'TRANSACTION_FAILED',
  'TRANSACTION_TIMEOUT',
  'TRANSACTION_TOO_LARGE',
  'TRANSACTION_BUSY',
  'NO_TRANSACTION',
  'IN_TRANSACTION',
  'READ_ONLY_TRANSACTION',
  'TABLE_DATA_TOO_COMPLEX',
  'TABLE_METADATA_MISSING',
];

/** Names of headers are lower-case, as Node gives them. */
const SESSION = {
  'x-skein-session': Type.Optional(
    Type.String({
      ...UUID,
      description: 'The session whose settings and current catalog apply; without it those of the token',
    }),
  ),
};

const QUERY_ID = { 'X-Skein-Query-Id': { ...UUID, description: 'Id of the query' } };

export const RUN_QUERY = {
  operationId: 'runQuery',
  summary: 'Run one SQL statement',
  description:
    'Rows are streamed. An error after the first 4 MiB breaks the connection, so a cut answer is never valid JSON. A client that ' +
    'disconnects cancels its statement.',
  headers: Type.Object({
    ...SESSION,
    'x-skein-query-id': Type.Optional(
      Type.String({ ...UUID, description: 'Id of the query; made when it is left out' }),
    ),
    'x-skein-source': Type.Optional(
      Type.String({ maxLength: SOURCE_LENGTH_MAX, description: 'What routing rules match as the source' }),
    ),
    traceparent: Type.Optional(
      Type.String({ description: 'The span that the statement’s trace belongs to; anything else is ignored' }),
    ),
  }),
  response: {
    200: {
      description: 'The result, as an Arrow IPC stream for a request that accepts one',
      headers: QUERY_ID,
      content: {
        'application/json': { schema: ref('QueryResult') },
        [ARROW_STREAM]: { schema: Type.String({ format: 'binary' }) },
      },
    },
    ...errors(STATEMENT_ERRORS, { headers: QUERY_ID }),
  },
};

/** The body of `RUN_QUERY`. */
export const QUERY_BODY: ParsedBody = { parsedBody: ref('QueryRequest') };

/** Deepest page of the history: what lies further back is reached by `to`. */
const OFFSET_MAX = 1_000_000;
/** Longest text that is looked for in statements, and name in another filter. */
const SEARCH_LENGTH_MAX = 1_000;
const DAY_MS = 86_400_000;

const filter = (description: string) => Type.Optional(Type.String({ maxLength: SEARCH_LENGTH_MAX, description }));
const moment = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }));

/** The word that a filter may have instead of being left out. */
export const NO_FILTER = 'all';
const onlyOr = (values: readonly string[]) =>
  Type.Optional(
    Type.Unsafe<string>({
      type: 'string',
      enum: [NO_FILTER, ...values],
      default: NO_FILTER,
      description: 'Only those',
    }),
  );

export const LIST_HISTORY = {
  operationId: 'listHistory',
  summary: 'The query history, the newest first',
  description:
    'A principal sees its own statements; an administrator (role `tenant_admin`) sees those of the tenant. Statements that wait or run are ' +
    'among them. The link to the next page leaves out what has come since this one.',
  querystring: Type.Object({
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: RECORDS_MAX, default: RECORDS_DEFAULT, description: 'How many at most' }),
    ),
    offset: Type.Optional(
      Type.Integer({ minimum: 0, maximum: OFFSET_MAX, default: 0, description: 'How many of the newest to leave out' }),
    ),
    status: onlyOr(RECORD_STATUSES),
    user_id: filter('Only those of the principal with this id or name'),
    query_type: onlyOr(QUERY_TYPES),
    resource_group: filter('Only those of this group, as the record names it'),
    min_duration_ms: Type.Optional(
      Type.Integer({ minimum: 0, maximum: DAY_MS, description: 'Only those that ran at least so long' }),
    ),
    text: filter('Only those whose text contains this, whatever the case'),
    from: moment('Only those that were received then or later'),
    to: moment('Only those that were received before then'),
  }),
  response: {
    200: json(HistoryList, 'The records; a full page has the header `Link` with the next one (`rel="next"`)'),
    ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'QUEUE_FULL', 'QUERY_TIMEOUT']),
  },
};

export const GET_RECORD = {
  operationId: 'getRecord',
  summary: 'The last record of a query id that the caller may see',
  params: byId('query'),
  response: {
    200: json(ref('HistoryRecord'), 'The record'),
    ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'QUERY_NOT_FOUND', 'QUEUE_FULL', 'QUERY_TIMEOUT']),
  },
};

export const GET_PROFILE = {
  operationId: 'getProfile',
  summary: 'How a query ran: its plan, stages and tasks, and where its time went',
  description: 'Whoever may see the record may see it. A standby knows of a query that runs only its times.',
  params: byId('query'),
  response: {
    200: json(
      ref('QueryProfile'),
      'The profile, so far while it runs; a statement that planned no query, and one whose profile was dropped, has times alone',
    ),
    ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'QUERY_NOT_FOUND', 'QUEUE_FULL', 'QUERY_TIMEOUT']),
  },
};

/** Queries of one answer, as of a page of the history. */
export const QUERIES_DEFAULT = RECORDS_DEFAULT;
const QUERIES_MAX = RECORDS_MAX;

export const LIST_QUERIES = {
  operationId: 'listQueries',
  summary: 'The queries that wait or run now',
  description: 'A principal sees its own; an administrator (role `tenant_admin`) sees those of the tenant.',
  querystring: Type.Object({
    state: Type.Optional(LiveStateSchema('Only those in this state')),
    user_id: Type.Optional(Type.String({ description: 'Only those of this principal' })),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: QUERIES_MAX, default: QUERIES_DEFAULT, description: 'How many at most' }),
    ),
  }),
  response: {
    200: json(LiveQueryList, 'The longest there first'),
    ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'NOT_ACTIVE']),
  },
};

export const GET_QUERY = {
  operationId: 'getQuery',
  summary: 'A query that waits or runs now: where, since when, and why it waits',
  description: 'A principal sees its own; an administrator (role `tenant_admin`) sees those of the tenant.',
  params: byId('query'),
  querystring: Type.Object({
    user_id: Type.Optional(
      Type.String({ description: 'Whose it is, when several principals of the tenant have one of this id' }),
    ),
  }),
  response: {
    200: json(QueryStateEntry, 'The query'),
    ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'QUERY_NOT_FOUND', 'NOT_ACTIVE']),
  },
};

export const CANCEL_QUERY = {
  operationId: 'cancelQuery',
  summary: 'Cancel a query that runs or waits',
  description: 'A principal cancels its own; an administrator (role `tenant_admin`) cancels any of the tenant.',
  params: byId('query'),
  querystring: Type.Object({
    user_id: Type.Optional(
      Type.String({ description: 'Whose it is, when several principals of the tenant have one of this id' }),
    ),
  }),
  response: {
    204: { type: 'null', description: 'It is being cancelled; its request answers 499' },
    ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'QUERY_NOT_FOUND', 'NOT_ACTIVE']),
  },
};

export const END_SESSION = {
  operationId: 'endSession',
  summary: 'End the session that X-Skein-Session names',
  description: 'Its transaction is rolled back; its settings and prepared statements are gone. It need not exist.',
  headers: Type.Object({ 'x-skein-session': Type.String({ ...UUID, description: 'The session' }) }),
  response: {
    204: { type: 'null', description: 'It has ended' },
    ...errors(['INVALID_REQUEST', 'NOT_ACTIVE']),
  },
};

export const LIST_TABLES = {
  operationId: 'listTables',
  summary: 'The tables of the current catalog',
  headers: Type.Object(SESSION),
  response: {
    200: json(TableList, 'The tables'),
    ...errors(['INVALID_REQUEST', 'FORBIDDEN'], { missing: ['CATALOG_NOT_FOUND'] }),
  },
};

export const DESCRIBE_TABLE = {
  operationId: 'describeTable',
  summary: 'Metadata of a table',
  params: Type.Object({
    catalog: Type.String({ description: 'Name of the catalog' }),
    namespace: Type.String({ description: 'Levels of the namespace, joined by %1F or by dots' }),
    table: Type.String({ description: 'Name of the table' }),
  }),
  response: {
    200: json(ref('TableMetadata'), 'The table'),
    ...errors(['FORBIDDEN'], { missing: ['CATALOG_NOT_FOUND', 'SCHEMA_NOT_FOUND', 'TABLE_NOT_FOUND'] }),
  },
};

export const LIST_QUARANTINE = {
  operationId: 'listQuarantine',
  summary: 'The statements that are refused because one of their shape has cost a worker its process; for the operator',
  response: {
    200: json(QuarantineList, 'Those of the tenant, the latest first'),
    ...errors(['FORBIDDEN', 'NOT_ACTIVE']),
  },
};

export const LIFT_QUARANTINE = {
  operationId: 'liftQuarantine',
  summary: 'Take statements of that shape again; for the operator',
  params: byId('entry'),
  response: {
    204: { type: 'null', description: 'They are taken again' },
    ...errors(['FORBIDDEN', 'NOT_ACTIVE'], { missing: ['NOT_FOUND'] }),
  },
};

export const HEALTH = {
  operationId: 'health',
  summary: 'Liveness',
  security: [],
  response: { 200: json(StatusBody, 'The process lives') },
};

export const READY = {
  operationId: 'ready',
  summary: 'Readiness',
  security: [],
  response: { 200: json(StatusBody, 'Queries are taken'), 503: json(NotReady, 'They are not') },
};

export const METRICS = {
  operationId: 'metrics',
  summary: 'Prometheus metrics',
  description: 'Needs a token unless it is asked from this machine, by nobody whose request a proxy passes on.',
  security: [{}, { bearer: [] }],
  response: {
    200: { description: 'Metrics', content: { 'text/plain': { schema: Type.String() } } },
    ...errors([]),
  },
};

export const OPENAPI = {
  operationId: 'openapi',
  summary: 'This document',
  security: [],
  response: { 200: json(Type.Object({}), 'OpenAPI 3.1') },
};

export const WHOAMI = {
  operationId: 'whoami',
  summary: 'The principal of the token, and what it may do',
  response: { 200: json(Whoami, 'The principal'), ...errors([]) },
};
