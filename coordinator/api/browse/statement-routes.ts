import type { FastifyRequest } from 'fastify';
import { SkeinError } from '#shared/error.ts';
import type { Caller } from '../../auth/authenticate.ts';
import type { StatementDescription } from '../../operation/description.ts';
import { printSqlType } from '../../plan/sql-type.ts';
import type { QueryService } from '../../query/query-service.ts';
import type { DocumentedApp } from '../http/documented-app.ts';
import { answerStatementError } from '../http/error-reply.ts';
import { sessionKey } from '../http/post-query.ts';
import { PARAMETERS_MAX } from '../../statement/parameters.ts';
import { DESCRIBE, DESCRIBE_BODY, GET_SESSION, type DescribeBody } from './browse-operations.ts';
import type { BrowseApi } from './browse-routes.ts';

type Parts = {
  readonly queries: Pick<QueryService, 'describe' | 'session'>;
  readonly currentNames: BrowseApi['currentNames'];
  /** @throws UNAUTHENTICATED */
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** Longest body of a statement to describe: it is parsed here. */
const BODY_BYTES_MAX = 512 * 1024;

/** Routes that say what a statement would answer, and in which session it would run. */
export function statementRoutes(app: DocumentedApp, { queries, currentNames, onRequest, callerOf }: Parts): void {
  app.route({
    method: 'POST',
    url: '/api/describe',
    schema: DESCRIBE,
    config: DESCRIBE_BODY,
    bodyLimit: BODY_BYTES_MAX,
    onRequest,
    handler: async (request, reply) => {
      const caller = callerOf(request);
      const { sql, types = [] } = readBody(request);
      const gone = new AbortController();
      const onClose = (): void => gone.abort(new SkeinError('QUERY_CANCELLED', 'the client has disconnected'));
      reply.raw.once('close', onClose);
      try {
        const asked = { caller, session: sessionKey(request, caller), sql, types, clientGone: gone.signal };
        return shown(await queries.describe(asked));
      } catch (error) {
        return answerStatementError(reply, error, sql);
      } finally {
        reply.raw.off('close', onClose);
      }
    },
  });
  app.get('/api/session', { schema: GET_SESSION, onRequest }, async (request) => {
    const caller = callerOf(request);
    const key = sessionKey(request, caller);
    const { role, settings, transaction } = queries.session(key);
    const { catalog, schema } = await currentNames(caller, key);
    return {
      catalog,
      schema: schema.join('.'),
      role,
      settings: settings.map(({ name, value, isSet }) => ({ name, value, is_set: isSet })),
      transaction: transaction && { state: transaction.state, read_only: !transaction.mayWrite },
    };
  });
}

const shown = ({ tag, parameters, ...form }: StatementDescription) => ({
  kind: form.kind,
  tag,
  columns: form.kind === 'rows' ? (form.columns?.map(({ name, typeName: type }) => ({ name, type })) ?? null) : null,
  parameters: parameters.map(({ name, type }) => ({ name, type: printSqlType(type) })),
});

/** @throws INVALID_REQUEST */
function readBody({ body }: FastifyRequest): DescribeBody {
  const wrong = new SkeinError('INVALID_REQUEST', 'the body has sql, a text, and may have types, a list of texts');
  let parsed: unknown;
  try {
    parsed = Buffer.isBuffer(body) ? JSON.parse(body.toString()) : undefined;
  } catch {
    throw wrong;
  }
  if (typeof parsed !== 'object' || parsed === null) throw wrong;
  const { sql, types = [], ...rest } = parsed as Readonly<Record<string, unknown>>;
  const isTyped =
    Array.isArray(types) && types.length <= PARAMETERS_MAX && types.every((one) => typeof one === 'string');
  if (typeof sql !== 'string' || !/\S/.test(sql) || !isTyped || Object.keys(rest).length > 0) throw wrong;
  return { sql, types };
}
