import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route reads its body as it comes, and limits its time by itself. */
    streamsBody?: boolean;
  }
}

/** The error of Node's own limit, which every body of a server would have. */
const SLOW = Object.assign(new Error('the request did not come in time'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });

/** A hook that cuts off a client whose body does not come in time. */
export const cutSlowBodies =
  (timeoutMs: number, answer: (error: NodeJS.ErrnoException, socket: Socket) => void) =>
  ({ raw, routeOptions }: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const { 'content-length': length, 'transfer-encoding': encoding } = raw.headers;
    const hasBody = encoding !== undefined || (length !== undefined && length !== '0');
    if (hasBody && routeOptions.config.streamsBody !== true) {
      const timer = setTimeout(() => {
        if (raw.complete) return;
        if (reply.raw.headersSent) raw.socket.destroy();
        else answer(SLOW, raw.socket);
      }, timeoutMs);
      raw.once('close', () => clearTimeout(timer));
    }
    done();
  };
