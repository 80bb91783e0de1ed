import type { FastifyRequest } from 'fastify';
import type { Action } from '#shared/authorization/action.ts';
import { SkeinError } from '#shared/error.ts';
import type { Caller } from '../../auth/authenticate.ts';
import type { QueryService } from '../../query/query-service.ts';
import type { QuarantineEntry } from './api-types.ts';
import type { DocumentedApp } from './documented-app.ts';
import { LIFT_QUARANTINE, LIST_QUARANTINE } from './operations.ts';

type Parts = {
  readonly queries: Pick<QueryService, 'quarantined' | 'lift'>;
  readonly allows: (action: Action) => (request: FastifyRequest) => Promise<void>;
  readonly callerOf: (request: FastifyRequest) => Caller;
};

/** Body limit of requests whose body is not read. */
const UNREAD_BODY_BYTES_MAX = 1_024;

/** Routes by which an operator lists and lifts quarantines, with a token of `skein token` for an administrator of the tenant. */
export function quarantineRoutes(app: DocumentedApp, { queries, allows, callerOf }: Parts): void {
  const onList = allows('quarantine.list');
  app.get('/api/quarantine', { schema: LIST_QUARANTINE, onRequest: onList }, (request) => ({
    quarantine: queries.quarantined(callerOf(request)).map((kill): QuarantineEntry => ({
      id: kill.id,
      user_id: kill.principal,
      username: kill.username,
      fingerprint: kill.fingerprint,
      sql: kill.sql,
      reason: kill.reason,
      killed_at: new Date(kill.killedAtMs).toISOString(),
      until: new Date(kill.untilMs).toISOString(),
    })),
  }));
  const onLift = {
    schema: LIFT_QUARANTINE,
    attachValidation: true,
    onRequest: allows('quarantine.lift'),
    bodyLimit: UNREAD_BODY_BYTES_MAX,
  };
  app.delete('/api/quarantine/:id', onLift, async (request, reply) => {
    const { id } = request.params;
    if (!(await queries.lift(callerOf(request), id))) {
      throw new SkeinError('NOT_FOUND', `no statement is quarantined as ${id.slice(0, 64)}`);
    }
    return reply.code(204).send();
  });
}
