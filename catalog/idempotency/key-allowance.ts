import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import type { PrincipalId } from '#shared/id.ts';

/** A count allows a tenth of the free keys before the next count: other processes may serve the principal too. */
const SHARE = 10;
/** A count allows at least a thousandth of all keys, so that near the limit not every request makes Postgres count. */
const LEAST_SHARE = 1_000;
/** Maximum age of a count. */
const COUNT_AGE_MAX_MS = 60_000;
/** A principal without free keys is refused for this long before its keys are counted again. */
const REFUSAL_AGE_MAX_MS = 1_000;
/** Maximum number of tracked principals. Beyond it the least recently used one is dropped, and counted anew. */
const PRINCIPALS_MAX = 10_000;

/** The keys that a count allows, until they are used up or the count is too old; `left` is 0 when none was free. */
type Allowance = { readonly left: number; readonly untilMs: number };

/**
 * Limits the idempotency keys that each principal has in use: every key is a row in Postgres with the answer to its request. Rows are
 * counted only now and then, so a principal may exceed the limit by the few keys that concurrent requests and other processes use between
 * two counts.
 */
export class KeyAllowance {
  readonly #clock: Clock;
  readonly #keysMax: number;
  readonly #count: (principal: PrincipalId) => Promise<number>;
  readonly #allowances = new LRUCache<PrincipalId, Allowance>({ max: PRINCIPALS_MAX });

  constructor(clock: Clock, keysMax: number, count: (principal: PrincipalId) => Promise<number>) {
    this.#clock = clock;
    this.#keysMax = keysMax;
    this.#count = count;
  }

  /** Counts one more key of the principal; false when it has no free one. */
  async take(principal: PrincipalId): Promise<boolean> {
    const known = this.#allowances.get(principal);
    const isFresh = known !== undefined && known.untilMs > this.#clock.monotonicMs();
    const { left, untilMs } = isFresh ? known : await this.#counted(principal);
    // After the last allowed key the entry is dropped: the next request counts again.
    if (left === 1) this.#allowances.delete(principal);
    else this.#allowances.set(principal, { left: Math.max(0, left - 1), untilMs });
    return left > 0;
  }

  async #counted(principal: PrincipalId): Promise<Allowance> {
    const free = this.#keysMax - (await this.#count(principal));
    const nowMs = this.#clock.monotonicMs();
    const share = Math.max(Math.ceil(this.#keysMax / LEAST_SHARE), Math.floor(free / SHARE));
    if (free <= 0) return { left: 0, untilMs: nowMs + REFUSAL_AGE_MAX_MS };
    return { left: Math.min(free, share), untilMs: nowMs + COUNT_AGE_MAX_MS };
  }
}
