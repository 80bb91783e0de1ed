import type { StatementContext } from '#shared/sql/statement-context.ts';
import { schemaName } from '../catalog-client/catalog-browser.ts';
import type { QueryScope } from '../operation/refresh-request.ts';
import type { NameDefaults } from '../binding/query-references.ts';
import { setting } from '../session/session.ts';
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
    currentRole: request.caller.standing?.defaultRole ?? 'public',
    currentCatalog: catalog,
    currentSchema: schema,
  };
}

async function currentNames({ services, request, session }: ContextParts): Promise<NameDefaults> {
  const { catalog, schema } = await services.sessions.names.current(request.caller, session);
  return { catalog, schema: schemaName(schema) };
}
