import { maskSecrets } from '#shared/mask-secrets.ts';
import { setting } from '../session/session.ts';
import type { RoutedStatement } from '../workload/route.ts';
import type { RunningStatement } from './running-statement.ts';

/** The facts of a statement of this type that routing rules see. */
export const routedStatement = (
  { services, request, session }: RunningStatement,
  queryType: string,
): RoutedStatement => ({
  tenant: request.caller.claims.tenant,
  principal: request.caller.claims.sub,
  username: request.caller.claims.preferred_username,
  source: request.source === null ? null : maskSecrets(request.source),
  resourcePool: setting(session, 'service.resource_pool', services.config),
  queryType,
});
