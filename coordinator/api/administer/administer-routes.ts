import { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { Value } from 'typebox/value';
import { SkeinError } from '#shared/error.ts';
import { PAGE_ROWS_MAX, type PrincipalAnswer, type PrincipalRequest } from '#shared/principal/principal-request.ts';
import { requireAction, type Caller } from '../../auth/authenticate.ts';
import type { CatalogClient } from '../../catalog-client/catalog-client.ts';
import { route } from '../../workload/route.ts';
import type { Workload } from '../../workload/workload.ts';
import { groupAt, rootOf } from '../../workload/walk-groups.ts';
import type { DocumentedApp } from '../http/documented-app.ts';
import {
  JSON_LINES,
  LIST_PRINCIPALS,
  READ_AUDIT,
  ROUTE_BODY,
  ROUTE_WORKLOAD,
  RouteRequest,
  ROWS_DEFAULT,
} from './administer-operations.ts';
import { auditEntries } from './audit-entry.ts';
import { listPrincipals } from './list-principals.ts';

export type AdministerApi = {
  readonly principals: Pick<CatalogClient, 'runPrincipalStatement'>;
  /** The workload that is in force. */
  readonly workload: () => Workload;
};

type Parts = {
  readonly administer: AdministerApi;
  readonly onRequest: (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** A question about a route is a few names. */
const ROUTE_BODY_BYTES_MAX = 16 * 1024;

/** Routes of the pages about people, machines, the audit log and the workload. The catalog decides who may see what. */
export function administerRoutes(app: DocumentedApp, { administer, onRequest, callerOf }: Parts): void {
  const ask = (request: FastifyRequest, statement: PrincipalRequest): Promise<PrincipalAnswer> =>
    administer.principals.runPrincipalStatement(callerOf(request).claims, statement);
  app.get('/api/principals/:kind', { schema: LIST_PRINCIPALS, onRequest }, (request) =>
    listPrincipals(request.params.kind, { limit: ROWS_DEFAULT, ...request.query }, (statement) =>
      ask(request, statement),
    ),
  );
  app.get('/api/audit', { schema: READ_AUDIT, onRequest }, async (request, reply) => {
    const { event = null, actor = null, target = null, from = null, to = null, format } = request.query;
    const { after = null, limit = ROWS_DEFAULT } = request.query;
    const asked = { kind: 'search_audit_log', event, actor, target, from, to } as const;
    if (format !== 'jsonl') {
      const answer = await ask(request, { ...asked, after, limit });
      return { entries: auditEntries(answer), next: answer.next };
    }
    const lines = auditLines((place) => ask(request, { ...asked, after: place, limit: PAGE_ROWS_MAX }));
    // The first page is awaited before any byte is sent, so that errors of the request keep their status.
    const first = await lines.next();
    const text = Readable.from(
      (async function* () {
        yield first.value ?? '';
        yield* lines;
      })(),
    );
    return reply.type(JSON_LINES).send(text);
  });
  app.route({
    method: 'POST',
    url: '/api/workload/route',
    schema: ROUTE_WORKLOAD,
    config: ROUTE_BODY,
    bodyLimit: ROUTE_BODY_BYTES_MAX,
    onRequest: async (request) => {
      await onRequest(request);
      // Rules name other people of the tenant.
      requireAction(callerOf(request), 'query.list');
    },
    handler: async (request) => routed(readBody(request), callerOf(request), administer.workload()),
  });
}

/** Rows of the log as JSON lines, page by page. */
async function* auditLines(ask: (after: string | null) => Promise<PrincipalAnswer>): AsyncGenerator<string, undefined> {
  let after: string | null = null;
  do {
    const answer: PrincipalAnswer = await ask(after);
    const lines = auditEntries(answer).map((entry) => `${JSON.stringify(entry)}\n`);
    // An empty part would end the stream.
    if (lines.length > 0) yield lines.join('');
    after = answer.next;
  } while (after !== null);
  return undefined;
}

function routed(
  { user, source = null, query_type: queryType = 'select', resource_pool: pool }: RouteRequest,
  caller: Caller,
  workload: Workload,
): { readonly group: string; readonly rule: number | null; readonly priority: number | null } {
  const found = route(workload.rules, {
    tenant: caller.claims.tenant,
    principal: user,
    username: user,
    source,
    resourcePool: pool ?? '',
    queryType,
  });
  return { group: groupAt(rootOf(workload), found.path).path, rule: found.rule, priority: found.priority };
}

/** @throws INVALID_REQUEST */
function readBody({ body }: FastifyRequest): RouteRequest {
  try {
    // A few names, no numbers.
    const parsed: unknown = Buffer.isBuffer(body) ? JSON.parse(body.toString()) : undefined;
    if (Value.Check(RouteRequest, parsed)) return parsed;
  } catch {
    // It is no JSON.
  }
  throw new SkeinError('INVALID_REQUEST', 'the body has user, and perhaps source, query_type and resource_pool');
}
