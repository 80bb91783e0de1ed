import type { Clock } from '#shared/clock.ts';
import type { PrincipalId } from '#shared/id.ts';
import { must } from '#shared/must.ts';

/** Share of the keys that are left that a process lets a principal use before it counts again: others may serve the principal, too. */
const SHARE = 10;
/** Least that it lets through after a count, as a share of all: at the limit not every request has everything counted. */
const LEAST_SHARE = 1_000;
/** Age at which a count is worth nothing. */
const COUNT_AGE_MAX_MS = 60_000;
/** A principal without keys left is told so for this long without a count. */
const REFUSAL_AGE_MAX_MS = 1_000;
/** Principals that are remembered; of more, those that came least recently are counted anew. */
const PRINCIPALS_MAX = 10_000;

/** What a count allows, until it is used up or too old; `left` is 0 when there was nothing left to count. */
type Allowance = { readonly left: number; readonly untilMs: number };

/**
 * How many idempotency keys each principal may still put to use: every key is a row in Postgres with the answer to its request. Rows are
 * counted now and then, not at every request, so a principal may come to have a few more than the limit: what requests at once, other
 * processes and one share use meanwhile.
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
