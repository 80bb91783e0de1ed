import type { ByteBudget } from '#shared/byte-budget.ts';
import { WireError } from './wire-error.ts';

/**
 * Memory that each connection takes without asking, so that short statements run where others of the tenant have taken its part. Two thousand
 * connections (`coordinator.postgres_connections_max`) take 32 MiB so.
 */
const FREE_BYTES = 16 * 1024;

/**
 * The memory that a connection takes for what its client has sent: messages, bound values, rows that are not yet whole. All connections share
 * what each takes beyond a little, of which a tenant has half at most.
 */
export class ConnectionMemory implements Disposable {
  readonly #budget: ByteBudget;
  readonly #owner: string;
  #bytes = 0;
  #reserved = 0;

  constructor(budget: ByteBudget, owner: string) {
    this.#budget = budget;
    this.#owner = owner;
  }

  /** @throws WireError when there is no room; then nothing is taken */
  take(bytes: number): void {
    const reserved = Math.max(0, this.#bytes + bytes - FREE_BYTES);
    if (reserved > this.#reserved && !this.#budget.take(this.#owner, reserved - this.#reserved)) {
      const message = 'what clients have sent takes as much memory as it may (coordinator.bodies_bytes_max)';
      throw new WireError('53200', message);
    }
    this.#reserved = Math.max(reserved, this.#reserved);
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
    const reserved = Math.max(0, this.#bytes - FREE_BYTES);
    this.#budget.give(this.#owner, this.#reserved - reserved);
    this.#reserved = reserved;
  }

  [Symbol.dispose](): void {
    this.give(this.#bytes);
  }
}
