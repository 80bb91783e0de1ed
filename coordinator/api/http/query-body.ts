import type { FastifyRequest, FastifySchemaValidationError } from 'fastify';
import { SkeinError } from '#shared/error.ts';
import { QueryRequest } from './api-types.ts';
import type { Parameters } from '../../statement/parameters.ts';
import { BLANK, PARAMETERS_RULE, type ReadQueryBody } from './read-query-body.ts';

/** The body of POST /api/query. */
export type QueryBody = {
  readonly sql: string;
  readonly parameters: Parameters | null;
  readonly timeoutMs: number | undefined;
};

/** The rules of members in words. */
const MEMBER_RULES = {
  sql: () => BLANK,
  parameters: () => PARAMETERS_RULE,
  timeout_ms: (timeoutMsMax) => `timeout_ms must be an integer from 1 to ${timeoutMsMax}`,
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
  return { sql, parameters, timeoutMs: timeoutMs ?? undefined };
}

const isQueryRequest = (request: FastifyRequest, body: unknown): body is QueryRequest =>
  request.validateInput(body, QueryRequest);

function messageOf(error: FastifySchemaValidationError | undefined, timeoutMsMax: number): string {
  const { instancePath = '', params = {} } = error ?? {};
  const { additionalProperty: unknown, missingProperty } = params;
  if (typeof unknown === 'string') return `unknown member ${JSON.stringify(unknown.slice(0, 100))} in the body`;
  const member = typeof missingProperty === 'string' ? missingProperty : instancePath.slice(1);
  return isMember(member) ? MEMBER_RULES[member](timeoutMsMax) : 'the body is not what the OpenAPI document says';
}

const isMember = (name: string): name is keyof QueryRequest => Object.hasOwn(MEMBER_RULES, name);
