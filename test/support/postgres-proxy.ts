import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Fate of a COMMIT: `answer` lets it reach Postgres and loses the answer, `commit` loses the COMMIT itself. */
export type Loss = 'answer' | 'commit';

/** A proxy before Postgres that breaks connections where a test wants it. */
export type PostgresProxy = {
  readonly url: string;
  /** Breaks the connection of the next COMMIT of a transaction that has sent this text, such as a key: others commit, too. */
  lose(what: Loss, text: string): void;
  close(): Promise<void>;
};

/** A simple-query message: `Q`, its length, `commit`, NUL. */
const COMMIT = Buffer.concat([Buffer.from('Q'), Buffer.from([0, 0, 0, 11]), Buffer.from('commit\0')]);
/** The same of a BEGIN, which may have a mode. */
const BEGIN = Buffer.from('begin');

export async function startPostgresProxy(url: string): Promise<PostgresProxy> {
  const target = new URL(url);
  const port = Number(target.port);
  const sockets = new Set<Socket>();
  let next: { readonly what: Loss; readonly text: string } | undefined;
  const server = createServer((client) => {
    const upstream = connect(port, target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    let deaf = false;
    let isMeant = false;
    upstream.on('data', (data) => {
      if (deaf) client.destroy();
      else client.write(data);
    });
    client.on('data', (data) => {
      if (data.includes(BEGIN)) isMeant = false;
      if (next !== undefined && data.includes(next.text)) isMeant = true;
      if (next === undefined || !isMeant || !data.includes(COMMIT)) return void upstream.write(data);
      const { what } = next;
      next = undefined;
      if (what === 'commit') return void client.destroy();
      deaf = true;
      return void upstream.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  target.port = String((server.address() as AddressInfo).port);
  return {
    url: target.href,
    lose(what, text) {
      next = { what, text };
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
