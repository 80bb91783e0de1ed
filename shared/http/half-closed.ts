import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** Times between the looks whether a client that has closed its half is still there; the last one repeats. */
const LOOKS_MS = [5, 50, 1_000] as const;

/**
 * Has a server answer clients that close the writing half of their connection behind a request. One that has closed all of it looks the same
 * until something is sent to it: so while the answer has not begun, it is sent `102 Processing`, which clients of HTTP/1.1 skip, and its
 * system refuses that. The connection then breaks as that of any client that leaves. An older protocol has no such message, and an answer that
 * has begun no room for it: there the end of the client's half counts as its leaving.
 */
export function answerHalfClosed(server: Server): void {
  // Without it Node ends a connection whose other half was closed. The type does not declare it.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.prependListener('request', watch);
}

function watch(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  let timer: NodeJS.Timeout | undefined;
  const look = (times: number): void => {
    if (response.headersSent) return;
    response.writeProcessing();
    timer = setTimeout(() => look(times + 1), LOOKS_MS[times] ?? LOOKS_MS[2]);
  };
  const onEnd = (): void => {
    if (response.writableEnded) return;
    if (response.headersSent || request.httpVersion !== '1.1') socket.destroy();
    else look(0);
  };
  socket.once('end', onEnd);
  response.once('close', () => {
    clearTimeout(timer);
    socket.off('end', onEnd);
  });
}
