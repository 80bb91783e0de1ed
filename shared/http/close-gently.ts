import type { Server } from 'node:http';

/** Time for requests that have begun to be answered, before their connections are cut. */
const ANSWER_MS = 500;

/**
 * Closes a Fastify server that closes its idle connections (`forceCloseConnections: 'idle'`): requests that have begun are answered, for
 * `ANSWER_MS` at most. Their clients would otherwise not know whether their statement or commit has happened.
 */
export async function closeGently(app: {
  readonly server: Pick<Server, 'closeAllConnections'>;
  close(): Promise<void>;
}): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), ANSWER_MS);
  try {
    await app.close();
  } finally {
    clearTimeout(cut);
  }
}
