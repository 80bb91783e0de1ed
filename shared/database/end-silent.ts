import { connect, type Socket } from 'node:net';
import type { ClientBase } from 'pg';

/** Silence of a connection on which a statement waits, after which Postgres is asked whether it is there. */
const SILENCE_MS = 3_000;
/** Time for Postgres to say that it is there. */
const ANSWER_MS = 2_000;

/** Begins as the errors of `pg` when a connection has broken, by which they are known. */
const SILENT = 'Connection terminated: Postgres is silent';

/** The parts of a client that are not in its types: the socket, and whether no statement runs. */
type Inner = { readonly connection: { readonly stream: Socket }; readonly readyForQuery: boolean };

type Limits = {
  /** A statement that runs longer has lost its connection: Postgres itself would have ended it. Undefined = it may run for ever. */
  readonly statementMsMax: number | undefined;
};

/**
 * Ends a connection on which a statement waits for a Postgres that is silent, as when packets vanish: a time limit that Postgres keeps is
 * none then, and the kernel tries for a quarter of an hour. A statement that only takes long goes on, because Postgres answers a new
 * connection meanwhile. Called with a client that is connected.
 */
export function endSilent(client: ClientBase, { statementMsMax = Number.POSITIVE_INFINITY }: Limits): void {
  const inner = client as unknown as Inner;
  const { stream } = inner.connection;
  const { remoteAddress: host, remotePort: port } = stream;
  // A socket of this machine's file system loses nothing.
  if (host === undefined || port === undefined) return;
  let silentMs = 0;
  stream.on('data', () => (silentMs = 0));
  stream.setTimeout(SILENCE_MS);
  stream.on('timeout', () => {
    if (inner.readyForQuery) return;
    silentMs += SILENCE_MS;
    void look();
  });
  const look = async (): Promise<void> => {
    const isThere = await answers(host, port);
    if (inner.readyForQuery || stream.destroyed) return;
    // Its answer may have come meanwhile, and another statement wait now.
    if (silentMs === 0 || (isThere && silentMs < statementMsMax)) stream.setTimeout(SILENCE_MS);
    else stream.destroy(new Error(SILENT));
  };
}

/** SSLRequest of Postgres's protocol: the server answers with one byte, whether it has TLS or not. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port }, () => socket.write(SSL_REQUEST));
    const end = (isThere: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isThere);
    };
    const timer = setTimeout(() => end(false), ANSWER_MS);
    socket.once('data', () => end(true));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
  });
}
