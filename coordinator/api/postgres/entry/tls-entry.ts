import type { Socket } from 'node:net';
import { createServer, type SecureContextOptions, type Server, type TLSSocket } from 'node:tls';
import type { DoorMaterial, DoorTls } from '#shared/grpc/door-tls.ts';

/** The protocol's name in a handshake of TLS. */
export const ALPN_NAME = 'postgresql';

/** Both ends of a connection: no two that are open have the same. */
const endsOf = ({ localAddress, localPort, remoteAddress, remotePort }: Socket): string =>
  [localAddress, localPort, remoteAddress, remotePort].join(' ');

const contextOf = ({ cert, key, clientCa }: DoorMaterial): SecureContextOptions => ({
  cert,
  key,
  ...(clientCa === undefined ? {} : { ca: clientCa }),
});

/**
 * Takes connections into TLS in the middle of their talk. A server of Node does the handshake, which never listens: a bare `TLSSocket` asks
 * for the certificate of a client, but takes any.
 */
export class TlsEntry {
  readonly #server: Server;
  readonly #entering = new Map<string, (secured: TLSSocket | undefined) => void>();

  constructor(tls: DoorTls) {
    const needsClient = tls.material.clientCa !== undefined;
    this.#server = createServer({
      ...contextOf(tls.material),
      ALPNProtocols: [ALPN_NAME],
      requestCert: needsClient,
      rejectUnauthorized: needsClient,
    });
    tls.onChange((material) => this.#server.setSecureContext(contextOf(material)));
    this.#server.on('secureConnection', (secured) => {
      secured.on('error', () => secured.destroy());
      this.#entering.get(endsOf(secured))?.(secured);
    });
    this.#server.on('tlsClientError', (_error, secured) => secured.destroy());
  }

  /** @returns the connection after the handshake; undefined when the client has left, or could not show the certificate that it needs */
  enter(socket: Socket): Promise<TLSSocket | undefined> {
    const ends = endsOf(socket);
    return new Promise((resolve) => {
      const entered = (secured: TLSSocket | undefined): void => {
        if (this.#entering.get(ends) === entered) this.#entering.delete(ends);
        resolve(secured);
      };
      this.#entering.set(ends, entered);
      socket.once('close', () => entered(undefined));
      this.#server.emit('connection', socket);
    });
  }
}
