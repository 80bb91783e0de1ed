import { SkeinError } from '#shared/error.ts';

/** The connections of a door, and those over which each principal makes its calls. */
export class Connections {
  readonly #perPrincipalMax: number;
  /** The principals of each open connection, by its address and port. */
  readonly #principals = new Map<string, Set<string>>();
  readonly #counts = new Map<string, number>();

  constructor(perPrincipalMax: number) {
    this.#perPrincipalMax = perPrincipalMax;
  }

  get size(): number {
    return this.#principals.size;
  }

  opened(peer: string): void {
    this.#principals.set(peer, new Set());
  }

  closed(peer: string): void {
    for (const principal of this.#principals.get(peer) ?? []) {
      const count = (this.#counts.get(principal) ?? 1) - 1;
      if (count === 0) this.#counts.delete(principal);
      else this.#counts.set(principal, count);
    }
    this.#principals.delete(peer);
  }

  /** A principal makes a call over a connection, which counts as one of its own from now on. @throws QUEUE_FULL when it has too many */
  use(peer: string, principal: string): void {
    const principals = this.#principals.get(peer);
    // The connection has closed meanwhile, and with it the call.
    if (principals === undefined || principals.has(principal)) return;
    const count = this.#counts.get(principal) ?? 0;
    if (count >= this.#perPrincipalMax) {
      throw new SkeinError(
        'QUEUE_FULL',
        `you have ${count} connections to Flight SQL, as many as a user may (coordinator.flight_connections_per_principal_max)`,
      );
    }
    principals.add(principal);
    this.#counts.set(principal, count + 1);
  }
}
