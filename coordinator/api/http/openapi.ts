import { ERRORS, type ErrorCode } from '#shared/error.ts';
import { LIVE_STATES } from '../../query/live-query.ts';
import { LIMIT_DEFAULT, LIMIT_MAX } from './live-query-routes.ts';
import { ARROW_STREAM } from './arrow-result.ts';

type Schema = Readonly<Record<string, unknown>>;

const text = (description: string): Schema => ({ type: 'string', description });
const integer = (description: string): Schema => ({ type: 'integer', description });
const listOf = (items: Schema): Schema => ({ type: 'array', items });
const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

function object(properties: Readonly<Record<string, Schema>>, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((key) => !optional.includes(key));
  return { type: 'object', properties, required, additionalProperties: false };
}

const json = (schema: Schema, description: string, headers?: Schema): Schema => ({
  description,
  ...(headers === undefined ? {} : { headers }),
  content: { 'application/json': { schema } },
});

const CHALLENGE = {
  'WWW-Authenticate': { description: 'How to authenticate', schema: { type: 'string', const: 'Bearer' } },
};

/** The responses of the catalogue's errors, by HTTP status; `missing` are codes of things that a path names, with status 404. */
function errors(
  codes: readonly ErrorCode[],
  { missing = [], headers = {} }: { readonly missing?: readonly ErrorCode[]; readonly headers?: Schema } = {},
): Readonly<Record<string, Schema>> {
  const byStatus = new Map<number, ErrorCode[]>();
  const all: readonly ErrorCode[] = [...codes, 'UNAUTHENTICATED', 'CATALOG_UNAVAILABLE', 'INTERNAL_ERROR'];
  for (const code of all) byStatus.set(ERRORS[code].http, [...(byStatus.get(ERRORS[code].http) ?? []), code]);
  if (missing.length > 0) byStatus.set(404, [...(byStatus.get(404) ?? []), ...missing]);
  const describe = (code: ErrorCode): string => `\`${code}\` (${ERRORS[code].sqlState}): ${ERRORS[code].meaning}`;
  const headersOf = (status: number): Schema => (status === 401 ? { ...headers, ...CHALLENGE } : headers);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      String(status),
      json(ref('Error'), list.map(describe).join('\n\n'), headersOf(status)),
    ]),
  );
}

const STATEMENT_ERRORS: readonly ErrorCode[] = [
  'SYNTAX_ERROR',
  'INVALID_REQUEST',
  'TABLE_NOT_FOUND',
  'COLUMN_NOT_FOUND',
  'AMBIGUOUS_COLUMN',
  'FUNCTION_NOT_FOUND',
  'SCHEMA_NOT_FOUND',
  'CATALOG_NOT_FOUND',
  'TYPE_MISMATCH',
  'INVALID_CAST',
  'NUMERIC_OVERFLOW',
  'DIVISION_BY_ZERO',
  'CARDINALITY_VIOLATION',
  'INVALID_ARGUMENT',
  'NOT_SUPPORTED',
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
  'INVALID_TABLE_DATA',
  'OUT_OF_MEMORY',
  'MEMORY_EXHAUSTED',
  'SPILL_LIMIT',
  'STEP_TOO_LONG',
  'QUERY_KILLED',
  'STATEMENT_QUARANTINED',
  'PRINCIPAL_LIMITED',
];

const headerParameter = (name: string, description: string, schema: Schema): Schema => ({
  name,
  in: 'header',
  required: false,
  description,
  schema,
});
const pathParameter = (name: string, description: string, schema: Schema = { type: 'string' }): Schema => ({
  name,
  in: 'path',
  required: true,
  description,
  schema,
});
const queryParameter = (name: string, description: string, schema: Schema): Schema => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
});
const TIME = { type: 'string', format: 'date-time' };
const UUID = { type: 'string', format: 'uuid' };
const SESSION = headerParameter(
  'X-Skein-Session',
  'The session whose settings and current catalog apply; without it those of the token',
  UUID,
);

const QUERY_ID = { 'X-Skein-Query-Id': { description: 'Id of the query', schema: UUID } };

const liveQueries = {
  get: {
    operationId: 'listQueries',
    summary: 'The queries that wait or run now',
    description: 'A principal sees its own; an administrator (role `tenant_admin`) sees those of the tenant.',
    parameters: [
      queryParameter('state', 'Only those in this state', { type: 'string', enum: LIVE_STATES }),
      queryParameter('user_id', 'Only those of this principal', { type: 'string' }),
      queryParameter('limit', 'How many at most', {
        type: 'integer',
        minimum: 1,
        maximum: LIMIT_MAX,
        default: LIMIT_DEFAULT,
      }),
    ],
    responses: {
      200: json(
        object({ queries: listOf(ref('LiveQuery')), total: integer('How many there are') }),
        'The longest there first',
      ),
      ...errors(['INVALID_REQUEST', 'NOT_ACTIVE']),
    },
  },
};

const query = {
  post: {
    operationId: 'runQuery',
    summary: 'Run one SQL statement',
    description:
      'Rows are streamed. An error after the first 4 MiB breaks the connection, so a cut answer is never valid JSON. A client that ' +
      'disconnects cancels its statement.',
    parameters: [
      SESSION,
      headerParameter('X-Skein-Query-Id', 'Id of the query; made when it is left out', UUID),
      headerParameter('X-Skein-Source', 'What routing rules match as the source', { type: 'string', maxLength: 256 }),
    ],
    requestBody: { required: true, content: { 'application/json': { schema: ref('QueryRequest') } } },
    responses: {
      200: {
        description: 'The result, as an Arrow IPC stream for a request that accepts one',
        headers: QUERY_ID,
        content: {
          'application/json': { schema: ref('QueryResult') },
          [ARROW_STREAM]: { schema: { type: 'string', format: 'binary' } },
        },
      },
      ...errors(STATEMENT_ERRORS, { headers: QUERY_ID }),
    },
  },
};

const cancel = {
  delete: {
    operationId: 'cancelQuery',
    summary: 'Cancel a query that runs or waits',
    description: 'A principal cancels its own; an administrator (role `tenant_admin`) cancels any of the tenant.',
    parameters: [
      pathParameter('id', 'Id of the query', UUID),
      queryParameter('user_id', 'Whose it is, when several principals of the tenant have one of this id', {
        type: 'string',
      }),
    ],
    responses: {
      204: { description: 'It is being cancelled; its request answers 499' },
      ...errors(['INVALID_REQUEST', 'QUERY_NOT_FOUND', 'NOT_ACTIVE']),
    },
  },
};

const tables = {
  get: {
    operationId: 'listTables',
    summary: 'The tables of the current catalog',
    parameters: [SESSION],
    responses: {
      200: json(object({ tables: listOf(ref('TableEntry')) }), 'The tables'),
      ...errors(['INVALID_REQUEST', 'FORBIDDEN'], { missing: ['CATALOG_NOT_FOUND'] }),
    },
  },
};

const table = {
  get: {
    operationId: 'describeTable',
    summary: 'Metadata of a table',
    parameters: [
      pathParameter('catalog', 'Name of the catalog'),
      pathParameter('namespace', 'Levels of the namespace, joined by %1F or by dots'),
      pathParameter('table', 'Name of the table'),
    ],
    responses: {
      200: json(ref('TableMetadata'), 'The table'),
      ...errors(['FORBIDDEN'], { missing: ['CATALOG_NOT_FOUND', 'SCHEMA_NOT_FOUND', 'TABLE_NOT_FOUND'] }),
    },
  },
};

const quarantine = {
  get: {
    operationId: 'listQuarantine',
    summary:
      'The statements that are refused because one of their shape has cost a worker its process; for the operator',
    responses: {
      200: json(object({ quarantine: listOf(ref('QuarantineEntry')) }), 'Those of the tenant, the latest first'),
      ...errors(['FORBIDDEN', 'NOT_ACTIVE']),
    },
  },
};

const quarantineEntry = {
  delete: {
    operationId: 'liftQuarantine',
    summary: 'Take statements of that shape again; for the operator',
    parameters: [pathParameter('id', 'Id of the entry', UUID)],
    responses: {
      204: { description: 'They are taken again' },
      ...errors(['FORBIDDEN', 'NOT_ACTIVE'], { missing: ['NOT_FOUND'] }),
    },
  },
};

const STATUS = object({ status: { type: 'string' } });

const health = {
  get: {
    operationId: 'health',
    summary: 'Liveness',
    security: [],
    responses: { 200: json(STATUS, 'The process lives') },
  },
};
const ready = {
  get: {
    operationId: 'ready',
    summary: 'Readiness',
    security: [],
    responses: {
      200: json(STATUS, 'Queries are taken'),
      503: json(object({ status: { type: 'string' }, reason: { type: 'string' } }), 'They are not'),
    },
  },
};
const metrics = {
  get: {
    operationId: 'metrics',
    summary: 'Prometheus metrics',
    description: 'Needs a token unless it is asked from this machine, by nobody whose request a proxy passes on.',
    security: [{}, { bearer: [] }],
    responses: {
      200: { description: 'Metrics', content: { 'text/plain': { schema: { type: 'string' } } } },
      ...errors([]),
    },
  },
};
const openapi = {
  get: {
    operationId: 'openapi',
    summary: 'This document',
    security: [],
    responses: { 200: json({ type: 'object' }, 'OpenAPI 3.1') },
  },
};

const schemas = {
  QueryRequest: object(
    {
      sql: text('One SQL statement'),
      timeout_ms: {
        type: ['integer', 'null'],
        minimum: 1,
        description: 'Milliseconds from the arrival of the request to the answer, waiting and planning included',
      },
    },
    ['timeout_ms'],
  ),
  QueryResult: object({
    columns: listOf(text('Column name')),
    types: listOf(text('SQL type name, such as BIGINT or DECIMAL(15,2)')),
    rows: {
      type: 'array',
      description:
        'One array per row. DECIMAL, HUGEINT and 64-bit integers beyond 2^53 - 1 are strings, as are dates, times, intervals, UUID, ' +
        'ENUM, BIT and JSON; BLOB is base64.',
      items: { type: 'array' },
    },
    row_count: integer('Number of rows'),
    elapsed_ms: integer('Milliseconds from receipt to the last row'),
  }),
  LiveQuery: object({
    query_id: UUID,
    state: { type: 'string', enum: LIVE_STATES, description: 'cancelling: it was told to end, and its tasks have not' },
    sql: text('The statement, without secrets; a long one is cut; empty until it has been read'),
    user_id: text('Id of the principal'),
    username: text('Its name'),
    query_type: text('select, insert, ddl, ...'),
    source: { type: ['string', 'null'], description: 'Its X-Skein-Source' },
    resource_group: text('Path of the group that it was admitted to'),
    priority: integer('Higher means more important'),
    queued_at: TIME,
    started_at: { ...TIME, type: ['string', 'null'], description: 'null while it waits' },
    elapsed_ms: integer('Milliseconds since its request arrived'),
    rows_produced: integer('Rows sent so far'),
    bytes_scanned: integer('Bytes that its finished tasks have read'),
    tasks: integer('Tasks that are known by now: later stages add more'),
    tasks_running: integer('Tasks on workers now'),
    tasks_done: integer('Tasks that have finished'),
    workers: listOf(text('Name of a worker that runs tasks of it now')),
  }),
  TableEntry: object({
    catalog: text('Catalog'),
    schema: text('Namespace, levels joined by dots'),
    name: text('Table'),
  }),
  TableMetadata: object({
    name: text('Table'),
    schema: object({
      fields: listOf(object({ name: text('Column'), type: text('SQL type'), nullable: { type: 'boolean' } })),
    }),
    partition_spec: listOf(text('Column, or transform of one, such as month(ts)')),
    snapshot_count: integer('Snapshots'),
    record_count: integer('Rows of the current snapshot'),
  }),
  QuarantineEntry: object({
    id: UUID,
    user_id: text('Id of the principal whose statements are refused'),
    username: text('Its name'),
    fingerprint: text('Hash of the shape: the words of the statement without values, comments, case and spacing'),
    sql: text('The statement, without secrets; a long one is cut'),
    reason: text('What it did'),
    killed_at: TIME,
    until: TIME,
  }),
  Error: object({
    error: { type: 'string', enum: Object.keys(ERRORS), description: 'Code' },
    message: text('What is wrong, for people'),
    sql_state: { type: 'string', pattern: '^[0-9A-Z]{5}$', description: 'SQLSTATE' },
  }),
};

/** The document of the query HTTP API, OpenAPI 3.1; statuses and codes come from the error catalogue. */
export const openApiDocument = {
  openapi: '3.1.0',
  info: { title: 'Skein query API', version: '1', description: 'SQL over Iceberg tables.' },
  security: [{ bearer: [] }],
  paths: {
    '/api/query': { ...query, ...liveQueries },
    '/api/query/{id}': cancel,
    '/api/tables': tables,
    '/api/catalogs/{catalog}/namespaces/{namespace}/tables/{table}': table,
    '/api/quarantine': quarantine,
    '/api/quarantine/{id}': quarantineEntry,
    '/health': health,
    '/health/ready': ready,
    '/metrics': metrics,
    '/openapi.json': openapi,
  },
  components: {
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
    schemas,
  },
};
