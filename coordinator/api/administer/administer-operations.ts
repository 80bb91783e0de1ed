import { Type, type Static } from 'typebox';
import { PRIVILEGES, type Privilege } from '#shared/principal/privilege.ts';
import { AUDIT_COLUMNS, AuditEntry } from './audit-entry.ts';
import { orNull, record, text } from '../../profile/schema-parts.ts';
import { QUERY_TYPES, type QueryType } from '../../statement/query-type.ts';
import { errors, json } from '../http/operation-parts.ts';
import type { ParsedBody } from '../http/operations.ts';

/** Rows of a page. */
const ROWS_MAX = 1_000;
export const ROWS_DEFAULT = 100;
const TEXT_LENGTH_MAX = 1_000;

/** The lists of principals and of what belongs to them, by the statement that shows each. */
const PRINCIPAL_KINDS = ['users', 'service-accounts', 'roles', 'tokens', 'webhooks', 'webhook-deliveries'] as const;
export type PrincipalKind = (typeof PRINCIPAL_KINDS)[number];

const optional = (description: string) => Type.Optional(Type.String({ maxLength: TEXT_LENGTH_MAX, description }));
const limit = Type.Optional(
  Type.Integer({ minimum: 1, maximum: ROWS_MAX, default: ROWS_DEFAULT, description: 'How many at most' }),
);
const after = optional('`next` of the page before');

export const LIST_PRINCIPALS = {
  operationId: 'listPrincipals',
  summary: 'Users, service accounts, roles, tokens, webhooks or their deliveries',
  description: 'The lists of SHOW, under the same rights. Nothing of it is in the history.',
  params: Type.Object({
    kind: Type.Unsafe<PrincipalKind>({ type: 'string', enum: [...PRINCIPAL_KINDS], description: 'The list' }),
  }),
  querystring: Type.Object({
    search: optional('A part of a name; of users also of the email or the display name; in any case'),
    status: optional('Status of users'),
    role: optional('Users or service accounts that have this role'),
    privilege: Type.Optional(
      Type.Unsafe<Privilege>({
        type: 'string',
        enum: [...PRIVILEGES],
        description: 'Users or service accounts that have this privilege',
      }),
    ),
    of: optional('Owner of tokens, a user or a service account: without it the caller; webhook of deliveries'),
    after,
    limit,
  }),
  response: {
    200: json(
      record({
        columns: Type.Array(Type.String(), { description: 'As the statement names them' }),
        rows: Type.Array(Type.Array(Type.Union([Type.String(), Type.Null()])), { description: 'Values as text' }),
        next: orNull(Type.String(), 'Asks for the next page; null: this is the last one'),
      }),
      'A page',
    ),
    ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'PRINCIPAL_NOT_FOUND', 'ROLE_NOT_FOUND']),
  },
};

/** Content type of JSON lines. */
export const JSON_LINES = 'application/x-ndjson';

const AUDIT_ANSWERS: Readonly<Record<string, unknown>> = {
  200: {
    description: 'A page, or all rows as JSON lines',
    content: {
      'application/json': {
        schema: record({
          entries: Type.Array(AuditEntry),
          next: orNull(Type.String(), 'Asks for the next page; null: this is the last one'),
        }),
      },
      [JSON_LINES]: { schema: Type.String({ description: 'One row per line' }) },
    },
  },
  ...errors(['INVALID_REQUEST', 'FORBIDDEN']),
};

export const READ_AUDIT = {
  operationId: 'readAudit',
  summary: 'The audit log, the newest first; for a tenant_admin',
  description: `With \`format=jsonl\` all rows that are found, one per line (${AUDIT_COLUMNS.join(', ')}).`,
  querystring: Type.Object({
    event: optional('Pattern of events: create_user, %role'),
    actor: optional('Name or id of who did it'),
    target: optional('Name at that time, or id, of to whom or what'),
    from: Type.Optional(Type.String({ format: 'date-time', description: 'The first moment' })),
    to: Type.Optional(Type.String({ format: 'date-time', description: 'The moment before which' })),
    format: Type.Optional(Type.Unsafe<'json' | 'jsonl'>({ type: 'string', enum: ['json', 'jsonl'] })),
    after,
    limit,
  }),
  response: AUDIT_ANSWERS,
};

export type RouteRequest = Static<typeof RouteRequest>;
export const RouteRequest = record({
  user: text('Name of the user'),
  source: Type.Optional(orNull(Type.String({ maxLength: TEXT_LENGTH_MAX }), 'X-Skein-Source; null: none')),
  query_type: Type.Optional(Type.Unsafe<QueryType>({ type: 'string', enum: [...QUERY_TYPES], description: 'select' })),
  resource_pool: Type.Optional(text('Setting service.resource_pool')),
});
export const ROUTE_BODY: ParsedBody = { parsedBody: RouteRequest };

export const ROUTE_WORKLOAD = {
  operationId: 'routeWorkload',
  summary: 'The resource group that a statement would meet, and the rule that sends it there; for a tenant_admin',
  response: {
    200: json(
      record({
        group: text('Path of the group, slash-separated'),
        rule: orNull(Type.Integer(), 'Number of the rule, from 1; null: none matches'),
        priority: orNull(Type.Integer(), 'Priority that the rule gives; null: that of the class'),
      }),
      'The group',
    ),
    ...errors(['INVALID_REQUEST', 'FORBIDDEN', 'PAYLOAD_TOO_LARGE']),
  },
};
