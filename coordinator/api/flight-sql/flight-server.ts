import { createServer, type AddressInfo, type Socket } from 'node:net';
import { Server, type ServerCredentials } from '@grpc/grpc-js';
import { SkeinError } from '#shared/error.ts';
import type { Connections } from './connections.ts';
import type { FlightDoor } from './flight-door.ts';
import { flightHandlers, flightSqlDefinition } from './flight-service.ts';
import { signInFirst } from './sign-in-first.ts';

type Options = {
  readonly host: string;
  readonly port: number;
  readonly credentials: ServerCredentials;
  /** Longest message that a client may send. */
  readonly messageBytesMax: number;
  readonly connectionsMax: number;
  /** Those that are open. */
  readonly connections: Connections;
  /** Time after which a connection without calls ends. */
  readonly idleMs: number;
  readonly door: FlightDoor;
};

/** Calls of one connection at once. */
const STREAMS_MAX = 256;
/** Time for calls to end, before their connections are cut. */
const CLOSE_MS = 500;

/** Serves Flight SQL until `close`. @throws PORT_IN_USE */
export async function startFlight(options: Options): Promise<{ readonly port: number; close(): Promise<void> }> {
  const { host, port, credentials, messageBytesMax, connectionsMax, connections, idleMs, door } = options;
  const server = new Server({
    'grpc.max_receive_message_length': messageBytesMax,
    'grpc.max_concurrent_streams': STREAMS_MAX,
    'grpc.max_connection_idle_ms': idleMs,
    'grpc.enable_channelz': 0,
    interceptors: [signInFirst(door)],
  });
  server.addService(flightSqlDefinition(), flightHandlers(door));
  const injector = server.createConnectionInjector(credentials);
  const listener = createServer({ noDelay: true }, (socket: Socket) => {
    const peer = `${socket.remoteAddress}:${socket.remotePort}`;
    connections.opened(peer);
    socket.once('close', () => connections.closed(peer));
    injector.injectConnection(socket);
  });
  listener.maxConnections = connectionsMax;
  await new Promise<void>((listening, reject) => {
    listener.once('error', (cause) =>
      reject(new SkeinError('PORT_IN_USE', `cannot listen on ${host}:${port}`, { cause })),
    );
    listener.listen({ host, port }, () => listening());
  });
  return {
    port: (listener.address() as AddressInfo).port,
    close: async () => {
      const closed = new Promise((resolve) => listener.close(resolve));
      injector.drain(CLOSE_MS);
      await closed;
      server.forceShutdown();
    },
  };
}
