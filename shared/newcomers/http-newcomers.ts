import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { peerOf, type Newcomers } from './newcomers.ts';

/**
 * Holds the connections of an HTTP server to the limits of newcomers; whoever checks a request calls `signedIn`. A request that has come whole
 * is answered, even if nobody has signed in for it.
 */
export function limitNewcomers(server: Server, newcomers: Newcomers): void {
  // Over TLS, too, this is the connection before its handshake.
  server.prependListener('connection', (socket) => newcomers.arrived(socket));
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const peer = peerOf(request.socket);
    const begin = (): void => {
      const end = newcomers.begin(peer);
      response.once('close', end);
    };
    const hasBody = request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length']) > 0;
    if (hasBody) request.once('end', begin);
    else begin();
  });
}
