import type { Lease, LeaseRequest } from '#shared/task/lease.ts';

/** The stream of a lease. */
export type LeaseWire = {
  send(request: LeaseRequest): void;
  /** Gives the lease back. */
  end(): void;
};
/** Opens it. The first call of `broken` ends it: later calls, and leases, are not heard. */
type OpenWire = (on: { readonly lease: (lease: Lease) => void; readonly broken: () => void }) => LeaseWire;

/** When a question was asked, and under which changes. */
export type AskedAt = { readonly period: number; readonly ms: number };

/** The part of every time that is relied on: the rest is for clocks that run at different rates, and timers that are early. */
const RELIED_PART = 0.95;
/** Pause between two requests for time, and between two streams. */
const RENEW_PAUSE_MS = 200;

/**
 * The coordinator's side of the lease on what the catalog told it (`catalog/lease/cache-leases.ts`): says whether an answer can be relied on
 * without asking again. It has no timer: a lease that nobody asks for ends.
 */
export class AnswerLease {
  readonly #open: OpenWire;
  #wire: LeaseWire | null = null;
  /** Another begins with each change and after each break: what was asked for in an earlier one is not relied on. */
  #period = 0;
  /** End of the lease, and time of the last request and of its number; times of `performance.now`. */
  #endMs = -Infinity;
  #sentMs = -Infinity;
  #renewal = 0;
  #changes = 0;
  #validMs = 0;
  #answerMs = 0;

  constructor(open: OpenWire) {
    this.#open = open;
  }

  /** To be taken before a question is asked; null while no lease is held. */
  askedAt(): AskedAt | null {
    const ms = performance.now();
    return ms < this.#endMs ? { period: this.#period, ms } : null;
  }

  /** Whether the answer to a question still holds. Has the lease begin, or go on, when it is used. */
  holds(asked: AskedAt | null): boolean {
    const nowMs = performance.now();
    if (this.#endMs - nowMs < this.#validMs / 2) this.#renew(nowMs);
    if (asked === null || nowMs >= this.#endMs) return false;
    return asked.period === this.#period && nowMs - asked.ms < this.#answerMs * RELIED_PART;
  }

  close(): void {
    this.#wire?.end();
    this.#broken();
  }

  #renew(nowMs: number): void {
    if (nowMs - this.#sentMs < RENEW_PAUSE_MS) return;
    this.#sentMs = nowMs;
    this.#renewal += 1;
    if (this.#wire === null) {
      const wire = this.#open({
        lease: (lease) => {
          if (this.#wire === wire) this.#told(wire, lease);
        },
        broken: () => {
          if (this.#wire === wire) this.#broken();
        },
      });
      this.#wire = wire;
    }
    this.#wire.send({ renewal: this.#renewal, changes: this.#changes });
  }

  #told(wire: LeaseWire, { renewal, changes, validMs, answerMs }: Lease): void {
    if (changes > this.#changes) {
      this.#changes = changes;
      this.#period += 1;
      wire.send({ renewal: 0, changes });
    }
    // An older message that arrives late would bring back the time from before a change.
    if (changes >= this.#changes) this.#answerMs = answerMs;
    if (renewal !== this.#renewal) return;
    this.#endMs = this.#sentMs + validMs * RELIED_PART;
    this.#validMs = validMs;
  }

  /** Changes are counted anew: the next stream may reach another catalog process, which has a count of its own. */
  #broken(): void {
    this.#wire = null;
    this.#changes = 0;
    this.#period += 1;
    this.#endMs = -Infinity;
  }
}
