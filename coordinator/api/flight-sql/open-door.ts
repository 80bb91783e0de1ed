import { systemClock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { flightHost } from '#shared/config/flight-host.ts';
import { plaintextDoor, type DoorTls } from '#shared/grpc/door-tls.ts';
import { Newcomers, newcomerLimits } from '#shared/newcomers/newcomers.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { Authenticate } from '../../auth/authenticate.ts';
import type { SignIn } from '../../auth/sign-in.ts';
import type { QueryService } from '../../query/query-service.ts';
import type { SessionServices } from '../../session/session-services.ts';
import { Connections } from './connections.ts';
import { closeSession } from './end-transaction.ts';
import type { FlightDoor } from './flight-door.ts';
import { FlightResults } from './flight-results.ts';
import { startFlight } from './flight-server.ts';
import { FlightTransactions } from './flight-transactions.ts';
import { PreparedHandles } from './prepared-handles.ts';
import { SessionEnds } from './session-ends.ts';
import { Visits } from './visit.ts';

type Parts = {
  readonly queries: QueryService;
  readonly sessions: SessionServices;
  readonly authenticate: Authenticate;
  readonly signIn: SignIn;
  /** The certificate of the doors; undefined: there is none. */
  readonly tls: DoorTls | undefined;
  /** The reason why this coordinator serves nothing now; undefined when it does. */
  readonly standby: () => string | undefined;
  readonly arrivals: FlightDoor['arrivals'];
};

/**
 * Calls of a connection that are refused, with none that proved who it is, before it ends: whoever opens calls and takes them back at once sends
 * thousands of them into one turn of the server.
 */
const REFUSALS_MAX = 20;
/** Interval at which sessions are looked for whose tokens have ended. */
const SWEEP_MS = 1_000;

/** Opens the door of Flight SQL. @throws PORT_IN_USE */
export async function openFlightDoor(
  { config, log }: { readonly config: Config; readonly log: Logger },
  { queries, sessions, authenticate, signIn, tls, standby, arrivals }: Parts,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const results = new FlightResults({
    ttlMs: config['coordinator.result_ttl'],
    perPrincipalMax: config['coordinator.flight_results_per_principal_max'],
  });
  const connections = new Connections(config['coordinator.flight_connections_per_principal_max']);
  const signedInMax = config['coordinator.flight_connections_max'];
  const newcomers = new Newcomers({ ...newcomerLimits(config), signedInMax, refusalsMax: REFUSALS_MAX });
  const nowMs = (): number => systemClock.monotonicMs();
  const held = { queries, ...handles(config, nowMs) };
  const ends = new SessionEnds({
    nowMs: () => systemClock.nowMs(),
    sessionsMax: config['coordinator.sessions_max'],
    intervalMs: SWEEP_MS,
    end: (session) => closeSession(held, session).catch((err: unknown) => log.error({ err }, 'a session did not end')),
  });
  const host = flightHost(config);
  if (host !== config.host) {
    log.warn({ host }, 'Flight SQL has no certificate (coordinator.tls_cert): it listens on this address alone');
  }
  const server = await startFlight({
    host,
    port: config['coordinator.flight_port'],
    credentials: tls === undefined ? plaintextDoor() : tls.grpcCredentials(),
    messageBytesMax: config['coordinator.flight_message_bytes_max'],
    connections,
    newcomers,
    idleMs: config['coordinator.flight_idle_timeout'],
    door: {
      ...held,
      visits: new Visits({
        authenticate,
        signIn,
        sessions,
        connections,
        newcomers,
        ends,
        nowMs,
        trustedProxies: config['coordinator.trusted_proxies'],
      }),
      sessions,
      results,
      standby,
      arrivals,
      config,
      log,
    },
  });
  const close = async (): Promise<void> => {
    ends[Symbol.dispose]();
    results[Symbol.dispose]();
    await server.close();
  };
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `grpc+${tls === undefined ? 'tcp' : 'tls'}://${name}:${server.port}`, close };
}

/** The transactions and prepared statements of sessions. */
const handles = (config: Config, nowMs: () => number) => ({
  transactions: new FlightTransactions({
    perSessionMax: config['coordinator.sessions_per_principal_max'],
    sessionsMax: config['coordinator.sessions_max'],
  }),
  prepared: new PreparedHandles({
    perSessionMax: config['coordinator.prepared_statements_max'],
    bytesPerPrincipalMax:
      config['coordinator.prepared_bytes_per_principal_max'] + config['coordinator.flight_bound_bytes_max'],
    idleMs: config['coordinator.session_idle'],
    nowMs,
  }),
});
