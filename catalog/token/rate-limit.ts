import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';

/** Maximum number of tracked keys. Beyond it the least recently used key is dropped, which restores its whole allowance. */
const KEYS_MAX = 100_000;

type Bucket = { readonly tokens: number; readonly atMs: number };

/** Limits the requests per minute of each key, in bursts or spread: one token bucket per key, in this process's memory. */
export class RateLimit {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #buckets: LRUCache<string, Bucket>;

  constructor(clock: Clock, perMinute: number, keysMax = KEYS_MAX) {
    this.#clock = clock;
    this.#perMinute = perMinute;
    this.#buckets = new LRUCache({ max: keysMax });
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Counts a request: returns 0 when it may proceed, else the whole seconds until the next one may. */
  take(key: string): number {
    const nowMs = this.#clock.monotonicMs();
    const perMs = this.#perMinute / 60_000;
    const { tokens, atMs } = this.#buckets.get(key) ?? { tokens: this.#perMinute, atMs: nowMs };
    const now = Math.min(this.#perMinute, tokens + Math.max(0, nowMs - atMs) * perMs);
    this.#buckets.set(key, { tokens: now >= 1 ? now - 1 : now, atMs: nowMs });
    return now >= 1 ? 0 : Math.ceil((1 - now) / perMs / 1000);
  }
}
