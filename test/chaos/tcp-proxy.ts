import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A wire that can be cut, slowed and held: it listens on one address and forwards to another. */
export class TcpProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #delayMs = 0;
  #held = false;

  private constructor(server: Server, target: { readonly host: string; readonly port: number }) {
    this.#server = server;
    server.on('connection', (socket) => this.#forward(socket, connect(target)));
  }

  static async listen(
    at: { readonly host: string; readonly port: number },
    target: { readonly host: string; readonly port: number },
  ): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server, target);
    server.listen(at.port, at.host);
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ends every connection; new ones are taken. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Delays every chunk by `ms`. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** While held, nothing arrives and no connection ends, like a lost network. */
  hold(held: boolean): void {
    this.#held = held;
    for (const socket of this.#sockets) {
      if (held) socket.pause();
      else socket.resume();
    }
  }

  #forward(client: Socket, server: Socket): void {
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.on('data', (chunk: Buffer) => void this.#pass(chunk, from, to));
      if (this.#held) from.pause();
    }
  }

  async #pass(chunk: Buffer, from: Socket, to: Socket): Promise<void> {
    if (this.#delayMs > 0) {
      // Keeps the order: later chunks wait in the paused socket.
      from.pause();
      await sleep(this.#delayMs);
    }
    const taken = to.write(chunk);
    if (!taken && !to.destroyed) {
      from.pause();
      await Promise.race([once(to, 'drain'), once(to, 'close')]).catch(() => undefined);
    }
    if (!this.#held) from.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.drop();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
