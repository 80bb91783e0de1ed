import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';

/** Maximum number of addresses; beyond it the one that failed least recently is forgotten. */
const ADDRESSES_MAX = 10_000;
/** Time in which accounts count together, and for which an address is refused that has failed for too many. */
const WINDOW_MS = 600_000;

type Tried = {
  /** When each account failed last, by its name. */
  readonly failedAtMs: ReadonlyMap<string, number>;
  readonly refusedUntilMs: number;
};

/**
 * Counts for how many accounts an address fails, in this process's memory: one that tries a password for each of many stays below every limit
 * of one account. With `accountsMax` of them it is refused for ten minutes.
 */
export class FailedAccounts {
  readonly #clock: Clock;
  readonly #accountsMax: number;
  readonly #addresses = new LRUCache<string, Tried>({ max: ADDRESSES_MAX });

  constructor(clock: Clock, accountsMax: number) {
    this.#clock = clock;
    this.#accountsMax = accountsMax;
  }

  isRefused(address: string): boolean {
    return (this.#addresses.get(address)?.refusedUntilMs ?? 0) > this.#clock.monotonicMs();
  }

  failed(address: string, account: string): void {
    const nowMs = this.#clock.monotonicMs();
    const { failedAtMs, refusedUntilMs } = this.#addresses.get(address) ?? { failedAtMs: new Map(), refusedUntilMs: 0 };
    if (refusedUntilMs > nowMs) return;
    const recent = new Map([...failedAtMs].filter(([, atMs]) => atMs > nowMs - WINDOW_MS)).set(account, nowMs);
    const isFull = recent.size >= this.#accountsMax;
    this.#addresses.set(
      address,
      isFull ? { failedAtMs: new Map(), refusedUntilMs: nowMs + WINDOW_MS } : { failedAtMs: recent, refusedUntilMs: 0 },
    );
  }
}
