import type { Clock } from '#shared/clock.ts';
import type { PrincipalId } from '#shared/id.ts';
import { must } from '#shared/must.ts';

/** After a count, a tenth of the free keys may be used before the next one: other processes may serve the principal, too. */
const SHARE = 10;
/** At least a thousandth of all keys may be used after a count, so that near the limit not every request makes Postgres count. */
const LEAST_SHARE = 1_000;
/** Age at which a count is made anew. */
const COUNT_AGE_MAX_MS = 60_000;
/** A principal without free keys is refused for so long before they are counted again. */
const REFUSAL_AGE_MAX_MS = 1_000;
/** Principals that are remembered; of more, those that came least recently are counted anew. */
const PRINCIPALS_MAX = 10_000;

/** Keys that a count allows, until they are used up or the count is too old; 0 when none was free. */
type Allowance = { readonly left: number; readonly untilMs: number };

/**
 * Limits the idempotency keys that each principal has in use: every key is a row in Postgres with the answer to its request. Rows are counted
 * now and then, not at every request, so a principal may get a few more than the limit: those that requests at once and other processes use
 * between two counts.
 */
export class KeyAllowance {
  readonly #clock: Clock;
  readonly #keysMax: number;
  readonly #count: (principal: PrincipalId) => Promise<number>;
  readonly #allowances = new Map<PrincipalId, Allowance>();

  constructor(clock: Clock, keysMax: number, count: (principal: PrincipalId) => Promise<number>) {
    this.#clock = clock;
    this.#keysMax = keysMax;
    this.#count = count;
  }

  /** Whether the principal may put one more key to use; it is counted then. */
  async take(principal: PrincipalId): Promise<boolean> {
    const known = this.#allowances.get(principal);
    const isFresh = known !== undefined && known.untilMs > this.#clock.monotonicMs();
    const { left, untilMs } = isFresh ? known : await this.#counted(principal);
    this.#allowances.delete(principal);
    // The last one of a count: the next request counts again.
    if (left !== 1) this.#remember(principal, { left: Math.max(0, left - 1), untilMs });
    return left > 0;
  }

  async #counted(principal: PrincipalId): Promise<Allowance> {
    const free = this.#keysMax - (await this.#count(principal));
    const nowMs = this.#clock.monotonicMs();
    const share = Math.max(Math.ceil(this.#keysMax / LEAST_SHARE), Math.floor(free / SHARE));
    if (free <= 0) return { left: 0, untilMs: nowMs + REFUSAL_AGE_MAX_MS };
    return { left: Math.min(free, share), untilMs: nowMs + COUNT_AGE_MAX_MS };
  }

  #remember(principal: PrincipalId, allowance: Allowance): void {
    if (this.#allowances.size >= PRINCIPALS_MAX) {
      this.#allowances.delete(must(this.#allowances.keys().next().value, 'not empty'));
    }
    this.#allowances.set(principal, allowance);
  }
}
