import type { Socket } from 'node:net';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { addressKey } from './address-key.ts';

type Limits = {
  /** Time from the connection to the first call of a client who has signed in. */
  readonly timeoutMs: number;
  /** Connections that have not signed in. */
  readonly placesMax: number;
  /** Those of one address. */
  readonly perAddressMax: number;
  /** Connections that have signed in. */
  readonly signedInMax?: number;
  /** Requests of one that has not signed in, which were answered by a refusal. */
  readonly refusalsMax?: number;
};

type Newcomer = {
  readonly socket: Socket;
  readonly address: string;
  refusals: number;
  /** Requests of it that the server is working on. */
  working: number;
  timer: NodeJS.Timeout;
};

/** Address and port of a connection's other end, as gRPC names it too. */
export const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress}:${remotePort}`;

/** The limits of every port of a process. */
export const newcomerLimits = (config: Config): Limits => ({
  timeoutMs: config['cluster.sign_in_timeout'],
  placesMax: config['cluster.sign_in_connections_max'],
  perAddressMax: config['cluster.sign_in_connections_per_address_max'],
});

/**
 * The connections of a port that have not signed in yet. They have places of their own, so that they take none of those who have; a new one
 * always has a place, and the oldest of them yields it: who signs in needs it for a moment, who says nothing cannot keep it.
 */
export class Newcomers {
  readonly #limits: Limits;
  readonly #byPeer = new Map<string, Newcomer>();
  /** Those of each address, the oldest first. */
  readonly #byAddress = new Map<string, Set<Newcomer>>();
  #signedIn = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Takes a connection that was just accepted, before its first byte. */
  arrived(socket: Socket): void {
    if (socket.remoteAddress === undefined) {
      socket.destroy();
      return;
    }
    const peer = peerOf(socket);
    const address = addressKey(socket.remoteAddress);
    this.#makeRoom(address);
    const newcomer: Newcomer = {
      socket,
      address,
      refusals: 0,
      working: 0,
      timer: this.#timer(() => this.#isLate(newcomer)),
    };
    this.#byPeer.set(peer, newcomer);
    const others = this.#byAddress.get(address);
    if (others === undefined) this.#byAddress.set(address, new Set([newcomer]));
    else others.add(newcomer);
    socket.once('close', () => {
      if (this.#byPeer.get(peer) === newcomer) this.#forget(peer, newcomer);
    });
  }

  /** The client of a connection has proven who it is. @throws QUEUE_FULL when too many connections have signed in */
  signedIn(peer: string): void {
    const newcomer = this.#byPeer.get(peer);
    // It has signed in before, or has closed.
    if (newcomer === undefined) return;
    const { signedInMax = Number.POSITIVE_INFINITY } = this.#limits;
    if (this.#signedIn >= signedInMax) {
      throw new SkeinError('QUEUE_FULL', `${this.#signedIn} connections are open, as many as may be`);
    }
    this.#forget(peer, newcomer);
    this.#signedIn += 1;
    newcomer.socket.once('close', () => (this.#signedIn -= 1));
  }

  /**
   * The server works on a request of a connection, and others yield before it, until the returned function is called. One too many that ended
   * without a sign-in ends the connection.
   */
  begin(peer: string): () => void {
    const newcomer = this.#byPeer.get(peer);
    if (newcomer === undefined) return () => undefined;
    newcomer.working += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      newcomer.working -= 1;
      if (this.#byPeer.get(peer) !== newcomer) return;
      newcomer.refusals += 1;
      if (newcomer.refusals > (this.#limits.refusalsMax ?? Number.POSITIVE_INFINITY)) this.#end(newcomer);
    };
  }

  get waiting(): number {
    return this.#byPeer.size;
  }

  #makeRoom(address: string): void {
    const { placesMax, perAddressMax } = this.#limits;
    const own = this.#byAddress.get(address);
    if (own !== undefined && own.size >= perAddressMax) this.#yield(own);
    if (this.#byPeer.size < placesMax) return;
    // The address that has the most of them, so that it does not push out those of others.
    let most: Set<Newcomer> | undefined;
    for (const of of this.#byAddress.values()) if (most === undefined || of.size > most.size) most = of;
    if (most !== undefined) this.#yield(most);
  }

  /**
   * The oldest goes; one that the server is working for stays. If it works for all of them the youngest goes: were it the oldest, who is nearly
   * answered, a crowd behind one address that comes faster than it is answered would see none of its own in.
   */
  #yield(newcomers: ReadonlySet<Newcomer>): void {
    let yields: Newcomer | undefined;
    for (const newcomer of newcomers) {
      yields = newcomer;
      if (newcomer.working === 0) break;
    }
    if (yields !== undefined) this.#end(yields);
  }

  /** Its request, if it has sent one, is answered first: once. */
  #isLate(newcomer: Newcomer): void {
    if (newcomer.working === 0) this.#end(newcomer);
    else newcomer.timer = this.#timer(() => this.#end(newcomer));
  }

  #end(newcomer: Newcomer): void {
    this.#forget(peerOf(newcomer.socket), newcomer);
    newcomer.socket.destroy();
  }

  #forget(peer: string, newcomer: Newcomer): void {
    clearTimeout(newcomer.timer);
    this.#byPeer.delete(peer);
    const others = this.#byAddress.get(newcomer.address);
    others?.delete(newcomer);
    if (others?.size === 0) this.#byAddress.delete(newcomer.address);
  }

  #timer(work: () => void): NodeJS.Timeout {
    return setTimeout(work, this.#limits.timeoutMs).unref();
  }
}
