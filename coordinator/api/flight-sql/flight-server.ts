import type { Socket } from 'node:net';
import { Server, type ServerCredentials } from '@grpc/grpc-js';
import { listenGrpc } from '#shared/grpc/listen.ts';
import { peerOf, type Newcomers } from '#shared/newcomers/newcomers.ts';
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
  readonly newcomers: Pick<Newcomers, 'arrived'>;
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
  const { host, port, credentials, messageBytesMax, newcomers, connections, idleMs, door } = options;
  const server = new Server({
    'grpc.max_receive_message_length': messageBytesMax,
    'grpc.max_concurrent_streams': STREAMS_MAX,
    'grpc.max_connection_idle_ms': idleMs,
    'grpc.enable_channelz': 0,
    interceptors: [signInFirst(door)],
  });
  server.addService(flightSqlDefinition(), flightHandlers(door));
  const arrived = (socket: Socket): void => {
    const peer = peerOf(socket);
    connections.opened(peer);
    socket.once('close', () => connections.closed(peer));
    newcomers.arrived(socket);
  };
  const listening = await listenGrpc(server, { host, port }, { credentials, newcomers: { arrived } });
  return { port: listening.port, close: () => listening.close(CLOSE_MS) };
}
