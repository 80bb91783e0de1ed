import { createServer, type AddressInfo, type Socket } from 'node:net';
import { flightHost } from '#shared/config/flight-host.ts';
import { ByteBudget } from '#shared/byte-budget.ts';
import { systemClock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import { Newcomers, newcomerLimits, peerOf } from '#shared/newcomers/newcomers.ts';
import { POSTGRES_RELEASE } from '#shared/sql/statement-context.ts';
import { Backends } from './entry/backends.ts';
import { Connection } from './connection.ts';
import { IdleWatch, LEAVING } from './entry/idle-watch.ts';
import type { PostgresDoor } from './entry/postgres-door.ts';
import * as messages from './message/server-messages.ts';
import { enter, type Entered } from './entry/sign-in.ts';
import { welcome, type Startup } from './entry/startup.ts';
import { TlsEntry } from './entry/tls-entry.ts';
import { errorFields, SessionOver, WireError } from './message/wire-error.ts';
import type { WireReader } from './message/wire-reader.ts';
import { WireWriter } from './message/wire-writer.ts';

/** Time after which an idle connection is asked whether its client is still there. */
const KEEPALIVE_MS = 60_000;

/** Time for which a client may read the last answers when its session is over: its connection has a place until then. */
const LINGER_MS = 10_000;

/** Opens the door of the Postgres wire. @throws PORT_IN_USE */
export async function openPostgresDoor(
  given: Omit<PostgresDoor, 'backends' | 'bodies' | 'idle'>,
): Promise<{ readonly url: string; readonly inTransaction: () => number; close(): Promise<void> }> {
  const { config, log } = given;
  const backends = new Backends(config['coordinator.postgres_connections_per_principal_max']);
  const idle = new IdleWatch({
    idleMs: config['coordinator.postgres_idle_timeout'],
    stallMs: config['coordinator.postgres_stall_timeout'],
    isLeaving: given.isLeaving,
  });
  const bodies = new ByteBudget(config['coordinator.bodies_bytes_max']);
  const door = { ...given, backends, bodies, idle };
  const tls = given.tls === undefined ? undefined : new TlsEntry(given.tls);
  const host = flightHost(config);
  const port = config['coordinator.postgres_port'];
  const signedInMax = config['coordinator.postgres_connections_max'];
  const newcomers = new Newcomers({ ...newcomerLimits(config), signedInMax });
  const open = new Set<Socket>();
  const server = createServer({ noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEPALIVE_MS }, (socket) => {
    newcomers.arrived(socket);
    if (socket.destroyed) return;
    open.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => open.delete(socket));
    serve(door, { raw: socket, tls, newcomers }).catch((error: unknown) =>
      log.debug({ err: error }, 'a Postgres connection ended'),
    );
  });
  await new Promise<void>((listening, reject) => {
    server.once('error', (cause) =>
      reject(new SkeinError('PORT_IN_USE', `cannot listen on ${host}:${port}`, { cause })),
    );
    server.listen({ host, port }, () => listening());
  });
  const close = async (): Promise<void> => {
    idle[Symbol.dispose]();
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of open) socket.destroy();
    await closed;
  };
  const name = host.includes(':') ? `[${host}]` : host;
  const url = `postgres://${name}:${(server.address() as AddressInfo).port}`;
  return { url, inTransaction: () => idle.inTransaction, close };
}

type Arrived = { readonly raw: Socket; readonly tls: TlsEntry | undefined; readonly newcomers: Newcomers };

async function serve(door: PostgresDoor, { raw, tls, newcomers }: Arrived): Promise<void> {
  const peer = peerOf(raw);
  const address = raw.remoteAddress ?? '';
  let outer = raw;
  let writer = new WireWriter(raw);
  let last: Promise<void> | undefined;
  try {
    const client = await welcome(raw, tls, (secured) => {
      outer = secured;
      writer = new WireWriter(secured);
    });
    if (client === undefined) return;
    if (client.kind === 'cancel') {
      door.backends.cancel(client.pid, client.secret);
      return;
    }
    const { socket, reader, startup } = client;
    const standby = door.standby() ?? (door.isLeaving() ? LEAVING : undefined);
    if (standby !== undefined) throw new WireError('57P03', standby);
    if (startup.negotiates) writer.push(messages.negotiateVersion(startup.unknownOptions));
    const entered = await enter(door, { reader, writer, startup, address, newcomers, peer });
    if (entered === undefined) return;
    try {
      await serveSession(door, entered, { socket, reader, writer, startup });
    } finally {
      await door.queries.endSession(entered.session);
    }
  } catch (error) {
    if (error instanceof SkeinError && error.entry.kind === 'internal')
      door.log.error({ err: error }, 'a Postgres connection failed');
    if (raw.destroyed) return;
    writer.push(messages.errorResponse('FATAL', errorFields(error)));
    last = writer.flush();
  } finally {
    leave(outer);
  }
  await last;
}

/** Ends a connection when its client has read what was sent to it, or soon after. The outer socket ends: the one below would take away what TLS has not written. */
function leave(socket: Socket): void {
  const late = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(late));
  socket.destroySoon();
}

type Client = {
  readonly socket: Socket;
  readonly reader: WireReader;
  readonly writer: WireWriter;
  readonly startup: Startup;
};

/** Serves a client who has signed in. @throws WireError, SkeinError for what ends the connection */
async function serveSession(
  door: PostgresDoor,
  entered: Entered,
  { socket, reader, writer, startup }: Client,
): Promise<void> {
  const { session, caller, check } = entered;
  const { tenant, principal } = session;
  const { connections } = door.sessions;
  const pid = connections.freePid();
  using connection = new Connection(door, entered, { reader, writer }, pid);
  using backend = door.backends.open(JSON.stringify([tenant, principal]), startup.hasLongKey, {
    pid,
    cancel: () => connection.cancel('the client cancelled it'),
  });
  using _seen = connections.add({
    pid,
    tenant,
    principal,
    username: caller.claims.preferred_username,
    address: socket.remoteAddress ?? '',
    port: socket.remotePort ?? 0,
    sinceMs: systemClock.nowMs(),
    program: () => connection.program,
    state: () => connection.state,
    cancel: (reason) => connection.cancel(reason),
    end: () => {
      connection.cancel(ENDED);
      reader.interrupt(new SessionOver(ENDED));
    },
  });
  using _watched = door.idle.add({ reader, check, isInTransaction: () => connection.isInTransaction });
  socket.once('close', () => connection.cancel('the client has disconnected'));
  const statuses = {
    ...STATUSES,
    session_authorization: startup.parameters.get('user') ?? '',
  };
  writer.push(...Object.entries(statuses).map(([key, value]) => messages.parameterStatus(key, value)));
  connection.reportSettings();
  writer.push(messages.backendKey(backend.pid, backend.secret));
  await connection.serve();
}

const ENDED = 'terminating connection due to administrator command';

/** The settings that Postgres reports to every client. */
const STATUSES = {
  server_version: POSTGRES_RELEASE,
  server_encoding: 'UTF8',
  client_encoding: 'UTF8',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  integer_datetimes: 'on',
  standard_conforming_strings: 'on',
  is_superuser: 'off',
  in_hot_standby: 'off',
} as const;
