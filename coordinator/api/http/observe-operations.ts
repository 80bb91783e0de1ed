import { Type } from 'typebox';
import { RECORDS_DEFAULT, RECORDS_MAX } from '../../history/history-request.ts';
import { ref, ResourceGroupList } from './api-types.ts';
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
    ...errors(['INVALID_REQUEST', 'NOT_ACTIVE']),
  },
};

export const GET_GROUP = {
  operationId: 'getResourceGroup',
  summary: 'One resource group as it is now',
  description: 'One that statements of the tenant can reach.',
  params: Type.Object({ path: Type.String({ description: 'Its names from the root on, joined by dots: root.etl' }) }),
  response: {
    200: json(ref('ResourceGroup'), 'The group'),
    ...errors(['INVALID_REQUEST', 'NOT_ACTIVE'], { missing: ['NOT_FOUND'] }),
  },
};

export const GET_CLUSTER = {
  operationId: 'getCluster',
  summary: 'The active coordinator and its workers as they are now',
  description:
    'The same for every principal: figures count all tenants, and no query, user or address is named. `limit` and `offset` are about the workers.',
  querystring: Type.Object(page),
  response: {
    200: json(ref('Cluster'), 'The cluster'),
    ...errors(['INVALID_REQUEST', 'NOT_ACTIVE']),
  },
};
