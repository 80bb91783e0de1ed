import { Type, type Static } from 'typebox';
import { RECORDS_DEFAULT, RECORDS_MAX } from '../../history/history-request.ts';
import { TOPICS } from '../../observe/event-stream.ts';
import { QosStats, ref, ResourceGroupList } from './api-types.ts';
import { integer, record } from '../../profile/schema-parts.ts';
import { errors, json } from './operation-parts.ts';

/** The operations that show the cluster beside its queries, as fastify schemas like those of `operations.ts`. */

/** Items of one answer, as of a page of the history. */
export const PAGE_DEFAULT = RECORDS_DEFAULT;
/** More than one coordinator has groups or workers. */
const OFFSET_MAX = 1_000_000;

const page = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: RECORDS_MAX, default: PAGE_DEFAULT, description: 'How many at most' }),
  ),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: OFFSET_MAX, default: 0, description: 'How many of the first to leave out' }),
  ),
};

export const LIST_GROUPS = {
  operationId: 'listResourceGroups',
  summary: 'The resource groups as they are now, each before the groups below it',
  description:
    'Those that statements of the tenant can reach. The figures of a shared group count all tenants; groups made from templates for other ' +
    'tenants are left out.',
  querystring: Type.Object(page),
  response: {
    200: json(ResourceGroupList, 'The groups'),
    ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'NOT_ACTIVE']),
  },
};

export const GET_GROUP = {
  operationId: 'getResourceGroup',
  summary: 'One resource group as it is now',
  description: 'One that statements of the tenant can reach.',
  params: Type.Object({ path: Type.String({ description: 'Its names from the root on, joined by dots: root.etl' }) }),
  response: {
    200: json(ref('ResourceGroup'), 'The group'),
    ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'NOT_ACTIVE'], { missing: ['NOT_FOUND'] }),
  },
};

export const QOS_STATS = {
  operationId: 'getQosStats',
  summary: 'The resource groups, and the feedback queues of all live workers together',
  description: 'Figures are those of the workers’ last heartbeats.',
  response: { 200: json(QosStats, 'The statistics'), ...errors(['FORBIDDEN', 'NOT_ACTIVE']) },
};

export const GET_CLUSTER = {
  operationId: 'getCluster',
  summary: 'The active coordinator and its workers as they are now',
  description:
    'The same for every principal, but for `workload_file_problem`: figures count all tenants, and no query, user or address is named. ' +
    '`limit` and `offset` are about the workers.',
  querystring: Type.Object(page),
  response: {
    200: json(ref('Cluster'), 'The cluster'),
    ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'NOT_ACTIVE']),
  },
};

const numbers = (description: string) => Type.Array(Type.Number(), { description });

export type ClusterSeriesEntry = Static<typeof ClusterSeriesBody>;
const ClusterSeriesBody = record({
  step_s: integer('Seconds between two points'),
  seconds: numbers('When, in seconds since 1970; the oldest first'),
  queries_running: numbers('Queries that run'),
  queries_queued: numbers('Queries that wait for admission'),
  running_by_class: record({
    interactive: numbers('Queries of the class that run'),
    medium: numbers('The same of class medium'),
    batch: numbers('The same of class batch'),
  }),
  slots: numbers('Slots of all workers'),
  running_tasks: numbers('Tasks that have begun and not ended'),
  memory_limit_bytes: numbers('Memory of all workers for tasks and what they spool'),
  memory_granted_bytes: numbers('Memory limits of running tasks'),
  spool_bytes: numbers('Output that waits for its readers'),
});

export const GET_SERIES = {
  operationId: 'getClusterSeries',
  summary: 'The figures of the cluster over the last hour of this coordinator’s term',
  description:
    'A point every five seconds, each member a list with an entry for each point. Figures count all tenants, and nothing is named.',
  querystring: Type.Object({
    after: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Only points behind this time, in seconds since 1970' }),
    ),
  }),
  response: { 200: json(ClusterSeriesBody, 'The points'), ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'NOT_ACTIVE']) },
};

/** Longest id of an event that is taken. */
const EVENT_ID_LENGTH_MAX = 100;
const TOPIC = `(?:${TOPICS.join('|')})`;

export const STREAM_EVENTS = {
  operationId: 'streamEvents',
  summary: 'Server-sent events of statements, their tasks, resource groups and the cluster',
  description:
    'Each event has JSON as its data: `query` (QueryEvent) for every statement that comes, waits, starts or ends, with an id; `tasks` (TasksEvent), ' +
    '`group` (ResourceGroup), `worker` (Worker) and `cluster` (Cluster without workers) when they differ from a second ago; a group or worker ' +
    'that is gone has `path` or `name`, and `gone`. A stream begins with all that is there. One that goes on after `Last-Event-ID` has every ' +
    '`query` since; when those are not kept any more, or at the first time, `reset` comes first and then the statements that wait and run. ' +
    '`end` says why the stream ends: the token has expired or was revoked, or the coordinator is no longer active. A reader that is ' +
    'far behind is cut off. A principal sees its own statements; an administrator (role `tenant_admin`) those of the tenant.',
  headers: Type.Object({
    'last-event-id': Type.Optional(
      Type.String({ maxLength: EVENT_ID_LENGTH_MAX, description: 'Id of the last event that the client has' }),
    ),
  }),
  querystring: Type.Object({
    topics: Type.Optional(
      Type.String({
        pattern: `^${TOPIC}(?:,${TOPIC}){0,${TOPICS.length - 1}}$`,
        description: `What to tell of, joined by commas: ${TOPICS.join(', ')}; all without it`,
      }),
    ),
  }),
  response: {
    200: { description: 'The events', content: { 'text/event-stream': { schema: Type.String() } } },
    ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'QUEUE_FULL', 'NOT_ACTIVE']),
  },
};
