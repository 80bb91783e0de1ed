import type { FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { SkeinError } from '#shared/error.ts';
import { ORDERS_MAX, QueryRequest } from './api-types.ts';
import type { ResultOrder } from '../../operation/result-order.ts';
import type { Parameters } from '../../statement/parameters.ts';
import { BLANK, PARAMETERS_RULE, type ReadQueryBody } from './read-query-body.ts';

/** The body of POST /api/query. */
export type QueryBody = {
  readonly sql: string;
  readonly parameters: Parameters | null;
  readonly timeoutMs: number | undefined;
  readonly keep: boolean;
  readonly rowLimit: number | undefined;
  readonly orderBy: readonly ResultOrder[] | undefined;
};

/** The rules of members in words. */
const MEMBER_RULES = {
  sql: () => BLANK,
  parameters: () => PARAMETERS_RULE,
  timeout_ms: (timeoutMsMax) => `timeout_ms must be an integer from 1 to ${timeoutMsMax}`,
  row_limit: () => 'row_limit must be an integer from 1 to 2147483646',
  order_by: () => `order_by must be a list of at most ${ORDERS_MAX} objects {"column": "a", "descending": true}`,
  keep: () => 'keep must be true or false',
} as const satisfies Readonly<Record<keyof QueryRequest, (timeoutMsMax: number) => string>>;

/** @throws INVALID_REQUEST unless the parsed body is what the document says */
export function checkQueryBody(
  request: FastifyRequest,
  { members: body, parameters }: ReadQueryBody,
  timeoutMsMax: number,
): QueryBody {
  if (!isQueryRequest(request, body)) {
    const [error] = request.getValidationFunction(QueryRequest)?.errors ?? [];
    throw new SkeinError('INVALID_REQUEST', messageOf(error, timeoutMsMax));
  }
  const { sql, timeout_ms: timeoutMs } = body;
  if ((timeoutMs ?? 1) > timeoutMsMax) throw new SkeinError('INVALID_REQUEST', MEMBER_RULES.timeout_ms(timeoutMsMax));
  const { keep = false, row_limit: rowLimit, order_by: orders } = body;
  const orderBy = orders?.map(({ column, descending = false }) => ({ column, descending }));
  return { sql, parameters, timeoutMs: timeoutMs ?? undefined, keep, rowLimit, orderBy };
}

const isQueryRequest = (request: FastifyRequest, body: unknown): body is QueryRequest =>
  request.validateInput(body, QueryRequest);

function messageOf(error: FastifySchemaValidationError | undefined, timeoutMsMax: number): string {
  const { instancePath = '', params = {} } = error ?? {};
  const { additionalProperty: unknown, missingProperty } = params;
  if (typeof unknown === 'string' && instancePath === '')
    return `unknown member ${JSON.stringify(unknown.slice(0, 100))} in the body`;
  const [, own = ''] = instancePath.split('/');
  const member = own === '' && typeof missingProperty === 'string' ? missingProperty : own;
  return isMember(member) ? MEMBER_RULES[member](timeoutMsMax) : 'the body is not what the OpenAPI document says';
}

const isMember = (name: string): name is keyof QueryRequest => Object.hasOwn(MEMBER_RULES, name);
