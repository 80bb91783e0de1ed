import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';

/** Maximum number of keys; beyond it the one that failed least recently is forgotten. */
const KEYS_MAX = 100_000;
/** Time in which failures count together, and for which a key is refused when they are too many. */
const WINDOW_MS = 60_000;

type Attempts = {
  /** When each failure was, the oldest first; those older than the window are dropped with the next one. */
  readonly failedAtMs: readonly number[];
  readonly refusedUntilMs: number;
};

/** Counts the failures of each key, in this process's memory; a key with too many in a minute is refused for the next minute. */
export class FailedAttempts {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #keys: LRUCache<string, Attempts>;

  constructor(clock: Clock, perMinute: number, keysMax = KEYS_MAX) {
    this.#clock = clock;
    this.#perMinute = perMinute;
    this.#keys = new LRUCache({ max: keysMax });
  }

  isRefused(key: string): boolean {
    return (this.#keys.get(key)?.refusedUntilMs ?? 0) > this.#clock.monotonicMs();
  }

  failed(key: string): void {
    const nowMs = this.#clock.monotonicMs();
    const { failedAtMs, refusedUntilMs } = this.#keys.get(key) ?? { failedAtMs: [], refusedUntilMs: 0 };
    // A failure that was under way when the key was refused already.
    if (refusedUntilMs > nowMs) return;
    const failures = [...failedAtMs.filter((atMs) => atMs > nowMs - WINDOW_MS), nowMs];
    const isFull = failures.length >= this.#perMinute;
    this.#keys.set(
      key,
      isFull ? { failedAtMs: [], refusedUntilMs: nowMs + WINDOW_MS } : { failedAtMs: failures, refusedUntilMs: 0 },
    );
  }
}
