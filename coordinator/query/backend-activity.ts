import type { MadeValue } from '#shared/made-type.ts';
import type { Signal } from '#shared/sql/statement-context.ts';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalId } from '#shared/id.ts';
import { mayDo, type Caller } from '../auth/authenticate.ts';
import type { ClientConnection } from '../session/client-connections.ts';
import type { NumberedStatement } from './query-registry.ts';
import type { RunnerServices } from './runner-services.ts';

type Services = {
  readonly registry: Pick<RunnerServices['registry'], 'numbered'>;
  readonly sessions: Pick<RunnerServices['sessions'], 'connections'>;
};

/** The principal whose connections and statements a caller may look at or end; null = those of the whole tenant, as SHOW QUERIES has it. */
const ownerFor = (caller: Caller, action: 'query.list' | 'query.cancel'): PrincipalId | null =>
  mayDo(caller, action) ? null : caller.claims.sub;

/** The rows of `pg_stat_activity`: connections of the Postgres wire, and statements that run over other protocols. */
export function activityRows(
  { registry, sessions }: Services,
  caller: Caller,
): readonly Readonly<Record<string, MadeValue>>[] {
  const { tenant } = caller.claims;
  const principal = ownerFor(caller, 'query.list');
  const statements = registry.numbered({ tenant, principal });
  const byPid = Map.groupBy(statements, ({ pid }) => pid);
  const connections = sessions.connections.of(tenant, principal);
  const known = new Set(connections.map(({ pid }) => pid));
  return [
    ...connections.map((one) => ({ ...ofConnection(one), ...ofStatement(byPid.get(one.pid)?.[0]) })),
    ...statements.filter(({ pid }) => !known.has(pid)).map((one) => ({ ...NO_CONNECTION, ...ofStatement(one) })),
  ];
}

const timeOf = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

const NO_CONNECTION = { backend_type: 'client backend', application_name: '' };

const ofConnection = (connection: ClientConnection): Readonly<Record<string, MadeValue>> => ({
  ...NO_CONNECTION,
  pid: connection.pid,
  usename: connection.username,
  application_name: connection.program(),
  client_addr: connection.address,
  client_port: connection.port,
  backend_start: timeOf(connection.sinceMs),
  state: connection.state(),
  wait_event_type: connection.state() === 'active' ? null : 'Client',
  wait_event: connection.state() === 'active' ? null : 'ClientRead',
  query: '',
});

function ofStatement(found: NumberedStatement | undefined): Readonly<Record<string, MadeValue>> {
  if (found === undefined) return {};
  const live = found.statement.live();
  const isQueued = live.waiting !== null;
  return {
    pid: found.pid,
    usename: live.username,
    application_name: live.source ?? '',
    query_start: timeOf(live.queuedAtMs),
    state_change: timeOf(live.startedAtMs ?? live.queuedAtMs),
    state: 'active',
    wait_event_type: isQueued ? 'Extension' : null,
    wait_event: isQueued ? 'ResourceGroup' : null,
    query: live.sql,
  };
}

/**
 * Cancels the statement of a connection or ends the connection: a principal its own, an administrator any of the tenant.
 * @returns false when there is none of this number @throws FORBIDDEN for another principal's
 */
export function signalBackend(
  { registry, sessions }: Services,
  caller: Caller,
  { pid, signal }: { readonly pid: number; readonly signal: Signal },
): boolean {
  const { tenant, sub } = caller.claims;
  const connection = sessions.connections.find(tenant, pid);
  const statements = registry.numbered({ tenant, principal: null }).filter((one) => one.pid === pid);
  const owners = [connection?.principal, ...statements.map(({ statement }) => statement.key.principal)];
  const owner = owners.find((one) => one !== undefined);
  if (owner === undefined) return false;
  if (owner !== sub && ownerFor(caller, 'query.cancel') !== null) {
    const what = signal === 'cancel' ? 'cancel the query' : 'terminate the process';
    throw new SkeinError('FORBIDDEN', `permission denied to ${what} of another principal`);
  }
  if (signal === 'terminate') connection?.end();
  const by = owner === sub ? 'its user' : 'an administrator';
  for (const { statement } of statements) {
    statement.cancel(new SkeinError('QUERY_CANCELLED', `the query was cancelled by ${by}`));
  }
  return true;
}
