import { createServer, type AddressInfo, type Socket } from 'node:net';
import { flightHost } from '#shared/config/flight-host.ts';
import { SkeinError } from '#shared/error.ts';
import { Newcomers, newcomerLimits, peerOf } from '#shared/newcomers/newcomers.ts';
import { Backends } from './backends.ts';
import { Connection } from './connection.ts';
import type { PostgresDoor } from './postgres-door.ts';
import * as messages from './server-messages.ts';
import { enter } from './sign-in.ts';
import { welcome } from './startup.ts';
import { errorFields, WireError } from './wire-error.ts';
import { WireWriter } from './wire-writer.ts';

/** Time after which an idle connection is asked whether its client is still there. */
const KEEPALIVE_MS = 60_000;
/** Version that drivers see, by which they choose what to ask. */
const SERVER_VERSION = '18.0';

/** Opens the door of the Postgres wire. @throws PORT_IN_USE */
export async function openPostgresDoor(
  given: Omit<PostgresDoor, 'backends'>,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { config, log } = given;
  const backends = new Backends(config['coordinator.postgres_connections_per_principal_max']);
  const door = { ...given, backends };
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
    serve(door, socket, newcomers)
      .catch((error: unknown) => log.debug({ err: error }, 'a Postgres connection ended'))
      .finally(() => socket.destroySoon());
  });
  await new Promise<void>((listening, reject) => {
    server.once('error', (cause) =>
      reject(new SkeinError('PORT_IN_USE', `cannot listen on ${host}:${port}`, { cause })),
    );
    server.listen({ host, port }, () => listening());
  });
  const close = async (): Promise<void> => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of open) socket.destroy();
    await closed;
  };
  const name = host.includes(':') ? `[${host}]` : host;
  return { url: `postgres://${name}:${(server.address() as AddressInfo).port}`, close };
}

async function serve(door: PostgresDoor, raw: Socket, newcomers: Newcomers): Promise<void> {
  const peer = peerOf(raw);
  const address = raw.remoteAddress ?? '';
  let writer = new WireWriter(raw);
  try {
    const client = await welcome(raw, door.tls);
    if (client === undefined) return;
    if (client.kind === 'cancel') {
      door.backends.cancel(client.pid, client.secret);
      return;
    }
    const { socket, reader, startup } = client;
    writer = new WireWriter(socket);
    const standby = door.standby();
    if (standby !== undefined) throw new WireError('57P03', standby);
    if (startup.negotiates) writer.push(messages.negotiateVersion(startup.unknownOptions));
    const entered = await enter(door, { reader, writer, startup, address, newcomers, peer });
    if (entered === undefined) return;
    const { session } = entered;
    const connection = new Connection(door, entered, { reader, writer });
    const principal = JSON.stringify([session.tenant, session.principal]);
    using backend = door.backends.open(principal, startup.hasLongKey, () =>
      connection.cancel('the client cancelled it'),
    );
    const gone = (): void => connection.cancel('the client has disconnected');
    socket.once('close', gone);
    try {
      const statuses = {
        ...STATUSES,
        application_name: entered.source ?? '',
        session_authorization: startup.parameters.get('user') ?? '',
      };
      writer.push(...Object.entries(statuses).map(([key, value]) => messages.parameterStatus(key, value)));
      writer.push(messages.backendKey(backend.pid, backend.secret));
      await connection.serve();
    } finally {
      await door.queries.endSession(session);
    }
    socket.end();
  } catch (error) {
    if (error instanceof SkeinError && error.entry.kind === 'internal')
      door.log.error({ err: error }, 'a Postgres connection failed');
    if (raw.destroyed) return;
    writer.push(messages.errorResponse('FATAL', errorFields(error)));
    await writer.flush();
  }
}

/** The settings that Postgres reports to every client. */
const STATUSES = {
  server_version: SERVER_VERSION,
  server_encoding: 'UTF8',
  client_encoding: 'UTF8',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  integer_datetimes: 'on',
  standard_conforming_strings: 'on',
  is_superuser: 'off',
  in_hot_standby: 'off',
  default_transaction_read_only: 'off',
} as const;
