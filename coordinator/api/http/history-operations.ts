import { Type, type Static } from 'typebox';
import {
  FACETS,
  HISTORY_SORTS,
  RECORDS_DEFAULT,
  RECORDS_MAX,
  SUMMARY_LINES_MAX,
  type Facet,
  type HistorySort,
} from '../../history/history-request.ts';
import { integer, orNull, record, TIME } from '../../profile/schema-parts.ts';
import { QUERY_TYPES } from '../../statement/query-type.ts';
import { HistoryList, RECORD_STATUSES, ref } from './api-types.ts';
import { byId, errors, json } from './operation-parts.ts';

/** The operations of the query history, as `operations.ts` has the others. */

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

const HISTORY_FILTERS = {
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
};

/** Longest time of a line of a summary: 31 days. */
const BUCKET_SECONDS_MAX = 2_678_400;

export type HistorySummaryEntry = Static<typeof HistorySummary>;
const HistorySummary = record({
  lines: Type.Array(
    record({
      bucket: orNull(TIME, 'Begin of its time; null without bucket_s'),
      value: orNull(Type.String(), 'Value of `by`; null when the records have none'),
      count: integer('Records'),
      durationMs: Type.Number({ description: 'Milliseconds of their execution' }),
      rowsProduced: Type.Number({ description: 'Rows of their results' }),
      bytesScanned: Type.Number({ description: 'Bytes that they read' }),
      cuConsumed: Type.Number({ description: 'Their compute units' }),
    }),
  ),
  isCut: Type.Boolean({ description: `There are more than ${SUMMARY_LINES_MAX} lines` }),
});

export const SUMMARIZE_HISTORY = {
  operationId: 'summarizeHistory',
  summary: 'The query history in numbers, by a property of its records and by time',
  description: 'Of the records that `GET /api/query-history` lists with the same filters.',
  querystring: Type.Object({
    by: Type.Optional(
      Type.Unsafe<Facet>({ type: 'string', enum: FACETS, description: 'A line for each value of this' }),
    ),
    bucket_s: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: BUCKET_SECONDS_MAX,
        description: 'A line for each time of so many seconds, counted from 1970, in which records were received',
      }),
    ),
    ...HISTORY_FILTERS,
  }),
  response: {
    200: json(HistorySummary, 'The lines: the latest time first, in it the value with the most records'),
    ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'QUEUE_FULL', 'QUERY_TIMEOUT']),
  },
};

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
      Type.Integer({ minimum: 0, maximum: OFFSET_MAX, default: 0, description: 'How many of the first to leave out' }),
    ),
    sort: Type.Optional(
      Type.Unsafe<HistorySort>({
        type: 'string',
        enum: HISTORY_SORTS,
        default: '-queued_at',
        description:
          'The order: by this member, with a minus sign from the largest or newest on; what has none comes last',
      }),
    ),
    fields: Type.Optional(
      Type.Unsafe<'record' | 'all'>({
        type: 'string',
        enum: ['record', 'all'],
        default: 'record',
        description: 'all: with `username`, `source` and `errorCode`',
      }),
    ),
    ...HISTORY_FILTERS,
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
