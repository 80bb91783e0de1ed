// long file: one table of the bodies of the API
import { Type, type Static, type TSchema } from 'typebox';
import { ERRORS, type ErrorCode } from '#shared/error.ts';
import { LEVELS } from '#shared/mlfq-spec.ts';
import { QUERY_TYPES, type QueryType } from '../../statement/query-type.ts';
import { PARAMETERS_MAX } from '../../statement/parameters.ts';
import { LIVE_STATES, type LiveState as State } from '../../operation/live-query.ts';
import { WORKER_STATES, type WorkerView } from '../../observe/cluster-view.ts';
import { SCHEDULING_POLICIES, type SchedulingPolicy } from '../../workload/workload.ts';
import { PROFILE } from '../../profile/profile-types.ts';
import { integer, orNull, record, text, TIME, UUID } from '../../profile/schema-parts.ts';

/**
 * The bodies of the query HTTP API. Each is a schema that the OpenAPI document names, that requests are checked against, and whose
 * TypeScript type the code uses.
 */

export const LiveStateSchema = (description: string) =>
  Type.Unsafe<State>({ type: 'string', enum: LIVE_STATES, description });

/** Columns that a request orders its rows by. */
export const ORDERS_MAX = 100;
const ROW_LIMIT_MAX = 2_147_483_646;

export type QueryRequest = Static<typeof QueryRequest>;
export const QueryRequest = record(
  {
    // A blank text is refused by the parser, because a long one is parsed in a thread.
    sql: text('One SQL statement'),
    // Read where the body is parsed, because a double would lose digits.
    parameters: Type.Optional(
      Type.Unknown({
        description:
          'Values for `?` and `$1` (a list), or for `$name` (an object): JSON values, or `{"type": "DATE", "value": "2024-02-29"}`; at ' +
          `most ${PARAMETERS_MAX}`,
      }),
    ),
    timeout_ms: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
        description: 'Milliseconds from the arrival of the request to the answer, waiting and planning included',
      }),
    ),
    row_limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: ROW_LIMIT_MAX,
        description: 'Rows of the answer at most, whatever the statement; an answer that is cut says so',
      }),
    ),
    order_by: Type.Optional(
      Type.Array(
        record({
          column: text('Name of a column of the result'),
          descending: Type.Optional(Type.Boolean({ description: 'The largest first', default: false })),
        }),
        {
          maxItems: ORDERS_MAX,
          description: 'Order of all rows of the result, before `row_limit` cuts; for statements that only read',
        },
      ),
    ),
    keep: Type.Optional(
      Type.Boolean({
        description:
          'The statement goes on when the client disconnects, and its result can be read again, from its first row, by ' +
          '`GET /api/query/{id}/result`. Sent again under its id it runs once. Rows that may hold secrets are never kept.',
        default: false,
      }),
    ),
  },
  { examples: [{ sql: 'SELECT o_orderstatus, count(*) FROM tpch.orders GROUP BY ALL', timeout_ms: 10_000 }] },
);

const QueryResult = record(
  {
    columns: Type.Array(text('Column name')),
    types: Type.Array(text('SQL type name, such as BIGINT or DECIMAL(15,2)')),
    rows: Type.Array(Type.Array(Type.Unknown()), {
      description:
        'One array per row. DECIMAL, HUGEINT and 64-bit integers beyond 2^53 - 1 are strings, as are dates, times, intervals, UUID, ' +
        'ENUM, BIT and JSON; BLOB is base64.',
    }),
    row_count: integer('Number of rows'),
    elapsed_ms: integer('Milliseconds from receipt to the last row'),
    cut: Type.Optional(Type.Literal(true, { description: 'The statement gives more rows than these: `row_limit`' })),
  },
  { examples: [{ columns: ['s', 'n'], types: ['VARCHAR', 'BIGINT'], rows: [['O', 7]], row_count: 1, elapsed_ms: 12 }] },
);

export type LiveQueryEntry = Static<typeof LiveQuery>;
const LiveQuery = record({
  query_id: UUID,
  state: LiveStateSchema('cancelling: it was told to end, and its tasks have not'),
  sql: text('The statement, without secrets; a long one is cut; empty until it has been read'),
  user_id: text('Id of the principal'),
  username: text('Its name'),
  query_type: text('select, insert, ddl, ...'),
  source: Type.Union([Type.String(), Type.Null()], { description: 'Its X-Skein-Source' }),
  resource_group: text('Path of the group that it was admitted to'),
  priority: integer('Higher means more important'),
  workload_class: Type.Union([Type.String(), Type.Null()], {
    description: 'interactive, medium or batch; null before it is planned',
  }),
  queue_position: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Place in the queue of its group, from 1; null unless it waits there',
  }),
  reason: Type.Union([Type.String(), Type.Null()], { description: 'Why it waits: root.etl runs 4 of 4' }),
  queued_at: TIME,
  started_at: Type.Union([TIME, Type.Null()], { description: 'null while it waits' }),
  elapsed_ms: integer('Milliseconds since its request arrived'),
  rows_produced: integer('Rows sent so far'),
  bytes_scanned: integer('Bytes that its tasks have read from storage, as far as it is known'),
  tasks: integer('Tasks that are known by now: later stages add more'),
  tasks_running: integer('Tasks on workers now'),
  tasks_done: integer('Tasks that have finished'),
  workers: Type.Array(text('Name of a worker that runs tasks of it now')),
});

export type QueryStateEntry = Static<typeof QueryStateEntry>;
export const QueryStateEntry = record({
  ...Type.Pick(LiveQuery, [
    'query_id',
    'state',
    'resource_group',
    'queue_position',
    'reason',
    'workload_class',
    'queued_at',
    'started_at',
    'elapsed_ms',
  ]).properties,
  progress: record(
    Type.Pick(LiveQuery, ['rows_produced', 'bytes_scanned', 'tasks', 'tasks_running', 'tasks_done', 'workers'])
      .properties,
  ),
});

export const RECORD_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
const status = Type.Unsafe<(typeof RECORD_STATUSES)[number]>({
  type: 'string',
  enum: RECORD_STATUSES,
  description: 'Lifecycle status',
});
const queryType = Type.Unsafe<QueryType>({ type: 'string', enum: QUERY_TYPES, description: 'Kind of the statement' });

export type RecordEntry = Static<typeof HistoryRecord>;
/** The query history record (service specification) in camelCase. */
const HistoryRecord = record({
  queryId: text('Id of the query'),
  status,
  sql: text('The statement, without secrets; its first 100,000 characters'),
  userId: text('Id of the principal that sent it'),
  tenantId: text('Its organization'),
  queryType,
  resourceGroup: text('Path of the group that it was admitted to, slash-separated'),
  priority: integer('Higher means more important'),
  queuedAt: TIME,
  startedAt: orNull(TIME, 'Begin of its execution; null when it did not run on workers'),
  endedAt: orNull(TIME, 'null while it waits or runs'),
  durationMs: orNull(Type.Integer(), 'Milliseconds of its execution; null while it waits or runs'),
  rowsProduced: integer('Rows of its result'),
  bytesScanned: integer('Bytes read from storage'),
  fragments: integer('Fragments that ran'),
  errorMessage: orNull(Type.String(), 'Why it failed or was cancelled'),
  cuConsumed: Type.Number({ description: 'Compute units: coordinator.cu_rate for an hour of durationMs' }),
  username: Type.Optional(text('Name of the principal; with fields=all')),
  source: Type.Optional(orNull(Type.String(), 'Its X-Skein-Source; with fields=all')),
  errorCode: Type.Optional(orNull(Type.String(), 'Code of its error; with fields=all')),
});

export type ResourceGroupEntry = Static<typeof ResourceGroup>;
/** A group of the workload file (service specification, Resource group), or one made from a template of it. */
const ResourceGroup = record({
  path: text('Its names from the root on, joined by dots; what is special in a name is percent-encoded'),
  running: integer('Queries that run in it or below it'),
  queued: integer('Queries that wait in it or below it'),
  hard_concurrency_limit: integer('Most queries that run at once'),
  soft_concurrency_limit: integer('Queries from which on it comes after its siblings'),
  effective_concurrency: integer('Queries that may run at once now: fewer while it is over its soft CPU limit'),
  max_queued_queries: integer('Most queries that wait; one more is refused'),
  memory_bytes: integer('Memory that its running queries hold'),
  soft_memory_limit_bytes: orNull(Type.Integer(), 'Memory above which no query starts; null = no limit'),
  soft_cpu_limit_ms: orNull(Type.Integer(), 'CPU time from which on fewer queries run; null = no limit'),
  hard_cpu_limit_ms: orNull(
    Type.Integer(),
    'CPU time from which on one query runs; null = twice the soft limit, or none',
  ),
  scheduling_policy: Type.Unsafe<SchedulingPolicy>({
    type: 'string',
    enum: SCHEDULING_POLICIES,
    description: 'Order in which queries start',
  }),
  scheduling_weight: integer('Weight in a weighted parent'),
  cpu_time_ms: integer('CPU time of all its queries so far'),
  cpu_usage_ms: integer('CPU time that counts against the limits'),
});

const levels = (description: string, item: TSchema) =>
  Type.Unsafe<number[]>(Type.Array(item, { minItems: LEVELS, maxItems: LEVELS, description }));
export type QosStats = Static<typeof QosStats>;
/** The members that the specification gives `/api/qos/stats`. */
export const QosStats = record({
  resource_groups: Type.Array(
    record({
      path: text('Its names from the root on, joined by dots'),
      running: integer('Queries that run in it or below it'),
      queued: integer('Queries that wait in it or below it'),
      hard_concurrency_limit: integer('Most queries that run at once'),
      scheduling_policy: Type.Unsafe<SchedulingPolicy>({ type: 'string', enum: SCHEDULING_POLICIES }),
    }),
    { description: 'Those that statements of the tenant can reach, each before the groups below it' },
  ),
  mlfq: record({
    running: integer('Tasks that have begun and not ended, of all tenants'),
    max_concurrent: integer('Tasks that slots can run at once'),
    tracked_queries: integer('Queries that have a task or output on a worker'),
    level_queue_depths: levels('By level: tasks that can run, those that run included', Type.Integer()),
    level_scheduled_ms: levels('By level: time that tasks have had since their workers’ start, in ms', Type.Integer()),
  }),
});

const figure = (description: string) => orNull(Type.Integer(), `${description}; null before its first heartbeat`);
export type WorkerEntry = Static<typeof Worker>;
const Worker = record({
  name: orNull(Type.String(), 'Its name; null before its first heartbeat'),
  state: Type.Unsafe<WorkerView['state']>({
    type: 'string',
    enum: WORKER_STATES,
    description:
      'draining: it takes no new tasks and ends after those it has; refused: it is of another release, or unproven',
  }),
  since: Type.Unsafe<string>({ ...TIME, description: 'Since when it is in this state' }),
  version: orNull(Type.String(), 'Release of Skein'),
  duckdb_version: orNull(Type.String(), 'Release of DuckDB'),
  slots: figure('Cores that run tasks'),
  threads: integer('Threads that tasks have there now'),
  running_tasks: figure('Tasks that have begun and not ended'),
  memory_limit_bytes: figure('Memory for tasks and what they spool'),
  memory_granted_bytes: figure('Memory limits of its running tasks, in all'),
  spool_bytes: figure('Output that waits for its readers'),
});

export type ClusterEntry = Static<typeof Cluster>;
const Cluster = record({
  coordinator: record({
    id: UUID,
    version: text('Release of Skein'),
    duckdb_version: text('Release of DuckDB'),
    epoch: integer('Number of its term as the active coordinator'),
    active_since: TIME,
  }),
  queries_running: integer('Queries that run, of all tenants'),
  queries_queued: integer('Queries that wait for admission, of all tenants'),
  workers: Type.Array(Worker, { description: 'A page of them, by name' }),
  total: integer('How many workers there are'),
  workers_apart: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'Pairs of workers that do not reach each other, although both live. Only an administrator with a token of `skein token` is told.',
    }),
  ),
  workload_file_problem: Type.Optional(
    orNull(
      Type.String(),
      'Why the workload file as it is now is not in force; null when it is. Only an administrator with a token of `skein token` is told.',
    ),
  ),
});

/** Data of an event `query`: the record of a statement that has come, waits for a place, has started or ended. */
const QueryEvent = record({
  query_id: UUID,
  status,
  sql: text('The statement, without secrets; a long one is cut'),
  user_id: text('Id of the principal that sent it'),
  username: text('Its name'),
  query_type: queryType,
  source: orNull(Type.String(), 'Its X-Skein-Source'),
  resource_group: text('Path of the group that it was admitted to, slash-separated'),
  priority: integer('Higher means more important'),
  workload_class: orNull(
    Type.String(),
    'interactive, medium or batch; null before it is planned, and when it runs no query',
  ),
  queue_position: orNull(Type.Integer(), 'Its place then in the queue of its group, from 1'),
  reason: orNull(Type.String(), 'Why it waits: root.etl runs 4 of 4'),
  queued_at: TIME,
  started_at: orNull(TIME, 'Begin of its execution; null when it has not begun'),
  ended_at: orNull(TIME, 'null while it waits or runs'),
  duration_ms: orNull(Type.Integer(), 'Milliseconds of its execution; null while it waits or runs'),
  rows_produced: integer('Rows of its result'),
  bytes_scanned: integer('Bytes read from storage'),
  error_code: orNull(Type.String(), 'Why it failed or was cancelled'),
  error_message: orNull(Type.String(), 'The same for people; a long one is cut'),
});

/** Data of an event `tasks`: how far a statement is that runs. */
const TasksEvent = record({
  query_id: UUID,
  user_id: text('Id of the principal that sent it'),
  ...Type.Pick(LiveQuery, ['rows_produced', 'bytes_scanned', 'tasks', 'tasks_running', 'tasks_done', 'workers'])
    .properties,
});

export type QueryProfileEntry = Static<typeof QueryProfile>;
const QueryProfile = record({
  queryId: text('Id of the query'),
  status,
  queuedAt: TIME,
  startedAt: orNull(TIME, 'Begin of its execution'),
  endedAt: orNull(TIME, 'Its end'),
  ...PROFILE,
});

const TableEntry = record({
  catalog: text('Catalog'),
  schema: text('Namespace, levels joined by dots'),
  name: text('Table'),
});

export type TableMetadata = Static<typeof TableMetadata>;
const TableMetadata = record({
  name: text('Table'),
  schema: record({
    fields: Type.Array(record({ name: text('Column'), type: text('SQL type'), nullable: Type.Boolean() })),
  }),
  partition_spec: Type.Array(text('Column, or transform of one, such as month(ts)')),
  snapshot_count: integer('Snapshots'),
  record_count: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: 'Rows of the current snapshot; null where policies apply to the table',
  }),
});

export type QuarantineEntry = Static<typeof QuarantineEntry>;
const QuarantineEntry = record({
  id: UUID,
  user_id: text('Id of the principal whose statements are refused'),
  username: text('Its name'),
  fingerprint: text('Hash of the shape: the words of the statement without values, comments, case and spacing'),
  sql: text('The statement, without secrets; a long one is cut'),
  reason: text('What it did'),
  killed_at: TIME,
  until: TIME,
});

const ErrorAnswer = record({
  error: Type.Unsafe<ErrorCode>({ type: 'string', enum: Object.keys(ERRORS), description: 'Code' }),
  message: text('What is wrong, for people'),
  sql_state: Type.String({ pattern: '^[0-9A-Z]{5}$', description: 'SQLSTATE' }),
});

/** The bodies that have a name in the document, for `$ref`. */
export const COMPONENTS = {
  QueryRequest,
  QueryResult,
  LiveQuery,
  HistoryRecord,
  QueryProfile,
  ResourceGroup,
  Worker,
  Cluster,
  QueryEvent,
  TasksEvent,
  TableEntry,
  TableMetadata,
  QuarantineEntry,
  Error: ErrorAnswer,
} as const;

export const ref = (name: keyof typeof COMPONENTS) => Type.Ref(`${name}#`);

export type WhoamiEntry = Static<typeof Whoami>;
export const Whoami = record({
  user_id: text('Id of the principal'),
  username: text('Its name'),
  tenant: text('Its organization'),
  roles: Type.Array(text('Role that was granted to it')),
  scopes: Type.Array(text('Scope of the token')),
  privileges: Type.Array(text('Privilege that was granted to it')),
  actions: Type.Array(text('Action that it may do with this token, such as table.list')),
  auth_method: text('How it signed in: password, sso, pat, keypair, client, federated, operator'),
  expires_at: TIME,
});

export const LiveQueryList = record({
  queries: Type.Array(ref('LiveQuery')),
  total: integer('How many there are'),
});
export type ResourceGroupPage = { readonly resource_groups: readonly ResourceGroupEntry[]; readonly total: number };
export const ResourceGroupList = record({
  resource_groups: Type.Array(ref('ResourceGroup')),
  total: integer('How many there are'),
});
export const HistoryList = Type.Array(ref('HistoryRecord'));
export const TableList = record({ tables: Type.Array(ref('TableEntry')) });
export const QuarantineList = record({ quarantine: Type.Array(ref('QuarantineEntry')) });
export const StatusBody = record({ status: Type.String() });
export const NotReady = record({ status: Type.String(), reason: Type.String() });
