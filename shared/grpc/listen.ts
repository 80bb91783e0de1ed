import { createServer, type AddressInfo, type Server as Listener, type Socket } from 'node:net';
import type { Server, ServerCredentials } from '@grpc/grpc-js';
import { SkeinError } from '#shared/error.ts';
import type { Newcomers } from '#shared/newcomers/newcomers.ts';

/** Time for the ends of calls to be sent, before their connections are cut. */
const CUT_MS = 100;

type Place = { readonly host: string; readonly port: number };

type Parts = {
  readonly credentials: ServerCredentials;
  /** Whoever checks a call tells it of the connections that have signed in. */
  readonly newcomers: Pick<Newcomers, 'arrived'>;
};

/** A port at which a gRPC server answers. */
export type GrpcPort = {
  readonly port: number;
  /** Ends the calls that still run after `graceMs`, and the connections. */
  close(graceMs?: number): Promise<void>;
};

/** Lets a gRPC server answer at a port, and holds its connections to the limits of newcomers. @throws PORT_IN_USE */
export async function listenGrpc(
  server: Server,
  { host, port }: Place,
  { credentials, newcomers }: Parts,
): Promise<GrpcPort> {
  const injector = server.createConnectionInjector(credentials);
  const open = new Set<Socket>();
  const listener = createServer({ noDelay: true }, (socket) => {
    newcomers.arrived(socket);
    if (socket.destroyed) return;
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    injector.injectConnection(socket);
  });
  await listening(listener, { host, port });
  return {
    port: (listener.address() as AddressInfo).port,
    close: async (graceMs = 0) => {
      const closed = new Promise((resolve) => listener.close(resolve));
      injector.drain(graceMs);
      // Those that are still in their handshake have no session to end.
      const cut = setTimeout(() => open.forEach((socket) => socket.destroy()), graceMs + CUT_MS);
      await closed;
      clearTimeout(cut);
      server.forceShutdown();
    },
  };
}

const listening = (listener: Listener, { host, port }: Place): Promise<void> =>
  new Promise((resolve, reject) => {
    listener.once('error', (cause) =>
      reject(new SkeinError('PORT_IN_USE', `cannot listen on ${host}:${port}`, { cause })),
    );
    listener.listen({ host, port }, () => resolve());
  });
