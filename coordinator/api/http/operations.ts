import { Type, type TSchema } from 'typebox';
import type { ErrorCode } from '#shared/error.ts';
import { ARROW_STREAM } from './arrow-result.ts';
import { RECORDS_DEFAULT, RECORDS_MAX } from '../../history/history-request.ts';
import {
  LiveQueryList,
  LiveStateSchema,
  NotReady,
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

export const STATEMENT_ERRORS: readonly ErrorCode[] = [
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
  'SETTING_NOT_FOUND',
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
  'SAVEPOINT_NOT_FOUND',
  'CURSOR_NOT_FOUND',
  'CURSOR_EXISTS',
  'CURSOR_FORWARD_ONLY',
  'TOO_MANY_CURSORS',
  'IN_TRANSACTION',
  'READ_ONLY_TRANSACTION',
  'TABLE_DATA_TOO_COMPLEX',
  'TABLE_METADATA_MISSING',
];

/** Names of headers are lower-case, as Node gives them. */
export const SESSION = {
  'x-skein-session': Type.Optional(
    Type.String({
      ...UUID,
      description: 'The session whose settings and current catalog apply; without it those of the token',
    }),
  ),
};

const QUERY_ID = { 'X-Skein-Query-Id': { ...UUID, description: 'Id of the query' } };

const RESULT_HEADERS = {
  ...QUERY_ID,
  'X-Skein-Cut': {
    type: 'string',
    const: 'true',
    description:
      'There are more rows than `row_limit`; absent when there are not, and in an answer of more than 4 MiB that is sent as it comes',
  },
};

const RESULT = {
  description: 'The result, as an Arrow IPC stream for a request that accepts one',
  headers: RESULT_HEADERS,
  content: {
    'application/json': { schema: ref('QueryResult') },
    [ARROW_STREAM]: { schema: Type.String({ format: 'binary' }) },
  },
};

export const PLACE_HEADER = {
  'X-Skein-Position': {
    type: 'string',
    description: 'Place of the error in the statement, in characters from 1; absent when it has none',
  },
};
const ERROR_HEADERS = { ...QUERY_ID, ...PLACE_HEADER };

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
    200: RESULT,
    ...errors(STATEMENT_ERRORS, { headers: ERROR_HEADERS }),
  },
};

export const GET_RESULT = {
  operationId: 'getResult',
  summary: 'The result of a statement that was sent with keep, from its first row',
  description:
    'For the principal that sent it. Waits while the statement runs. An error of the statement is answered as to the one who sent it.',
  params: byId('query'),
  response: {
    200: RESULT,
    ...errors(STATEMENT_ERRORS, { headers: PLACE_HEADER }),
  },
};

export const DROP_RESULT = {
  operationId: 'dropResult',
  summary: 'Forget the result of a statement that was sent with keep',
  description: 'A statement that still runs is cancelled.',
  params: byId('query'),
  response: {
    204: { type: 'null', description: 'It is forgotten' },
    ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'QUERY_NOT_FOUND']),
  },
};

/** The body of `RUN_QUERY`. */
export const QUERY_BODY: ParsedBody = { parsedBody: ref('QueryRequest') };

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

export const PROTECTED_RESOURCE = {
  operationId: 'protectedResource',
  summary: 'The catalog at which people sign in (RFC 9728)',
  security: [],
  response: {
    200: json(
      Type.Object({
        resource: Type.String(),
        authorization_servers: Type.Array(Type.String()),
        bearer_methods_supported: Type.Array(Type.String()),
        scopes_supported: Type.Array(Type.String()),
      }),
      'Its address',
    ),
  },
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
