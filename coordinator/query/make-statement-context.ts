import type { SessionFacts, StatementContext } from '#shared/sql/statement-context.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import type { QueryScope } from '../operation/refresh-request.ts';
import type { NameDefaults } from '../binding/query-references.ts';
import { allSettings, setting } from '../session/session.ts';
import type { RunningStatement } from './running-statement.ts';

type ContextParts = RunningStatement & { readonly scope?: QueryScope };

/** The context that functions of a statement's queries see: its time, user, catalog and schema. */
export async function makeStatementContext(parts: ContextParts): Promise<StatementContext> {
  const { services, request, session } = parts;
  const { claims } = request.caller;
  const { catalog, schema } = parts.scope?.names ?? (await currentNames(parts));
  return {
    nowMicros: `${services.clock.nowMs()}000`,
    timeZone: setting(session, 'timezone', services.config),
    currentUser: claims.preferred_username,
    ...rolesOf(parts),
    currentTenant: claims.tenant,
    currentCatalog: catalog,
    currentSchema: schema,
    ...(ASKS_SESSION.test(request.sql) ? { session: factsOf(parts) } : {}),
  };
}

/** The functions that tell of the session stand in few statements, and EXECUTE has the text of another one. */
const ASKS_SESSION = /current_setting|pg_backend_pid|pg_(?:cancel|terminate)_backend|^\W*execute/i;

const factsOf = ({ services, request, session, signals }: ContextParts): SessionFacts => ({
  backendPid: request.backendPid ?? 0,
  settings: allSettings(session, services.config),
  signals: Object.fromEntries(signals),
});

/** The roles that functions see. One that is granted no more is not in the session, and leaves it none but the role of everybody. */
function rolesOf({ request, session }: ContextParts): Pick<StatementContext, 'currentRole' | 'roles'> {
  const { claims, standing } = request.caller;
  if (session.role === null) {
    return { currentRole: standing?.defaultRole ?? EVERYBODY, roles: [...new Set([...claims.roles, EVERYBODY])] };
  }
  const role = claims.roles.includes(session.role) ? session.role : EVERYBODY;
  return { currentRole: role, roles: [...new Set([role, EVERYBODY])] };
}

/** The role that everybody has. */
const EVERYBODY = 'public';

async function currentNames({ services, request, session }: ContextParts): Promise<NameDefaults> {
  const { catalog, schema } = await services.sessions.names.current(request.caller, session);
  return { catalog, schema: schemaName(schema) };
}
