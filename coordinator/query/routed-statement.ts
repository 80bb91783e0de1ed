import { setting, type SessionState } from '../session/session.ts';
import type { RoutedStatement } from '../workload/route.ts';
import type { StatementRequest } from './query-service.ts';
import type { RunnerServices } from './runner-services.ts';

type Routing = {
  readonly services: Pick<RunnerServices, 'config'>;
  readonly request: Pick<StatementRequest, 'caller' | 'source'>;
  readonly state: SessionState;
};

/** The facts of a statement of this type that routing rules see. */
export const routedStatement = ({ services, request, state }: Routing, queryType: string): RoutedStatement => ({
  tenant: request.caller.claims.tenant,
  principal: request.caller.claims.sub,
  username: request.caller.claims.preferred_username,
  source: request.source,
  resourcePool: setting(state, 'service.resource_pool', services.config),
  queryType,
});
