import type { Asker } from './asker.ts';

/** Maximum charge of one long turn, so that one hang does not shut a tenant out for long. */
const CHARGE_MAX_MS = 30_000;
/** Maximum number of accounts; those charged longest ago are dropped first. */
const ACCOUNTS_MAX = 10_000;

/**
 * Shares time fairly between the tenants that have work, and within a tenant between its principals, whatever the number and length of
 * their turns. Start-time fair queueing (Goyal, Vin, Cheng 1996) on two levels: the turn goes to the account that has had the least time.
 * An account that had no work resumes at the current virtual time, so it cannot claim unused time; an account ahead of the others keeps its
 * debt, even if it leaves and returns. Callers report measured milliseconds.
 */
export class Turns {
  readonly #tenants = new Accounts();
  readonly #principals = new Map<string, Accounts>();

  /** Returns the asker whose turn it is; all of them have work. Of equals the first wins. */
  pick<T extends Asker>(askers: Iterable<T>): T | undefined {
    const byTenant = Map.groupBy(askers, ({ tenant }) => tenant);
    const tenant = this.#tenants.pick(byTenant.keys());
    if (tenant === undefined) return undefined;
    const byPrincipal = Map.groupBy(byTenant.get(tenant) ?? [], ({ principal }) => principal);
    const principal = this.#accountsOf(tenant).pick(byPrincipal.keys());
    return principal === undefined ? undefined : byPrincipal.get(principal)?.[0];
  }

  charge({ tenant, principal }: Asker, turnMs: number): void {
    const ms = Math.min(turnMs, CHARGE_MAX_MS);
    this.#tenants.charge(tenant, ms);
    this.#accountsOf(tenant).charge(principal, ms);
  }

  #accountsOf(tenant: string): Accounts {
    const known = this.#principals.get(tenant) ?? new Accounts();
    this.#principals.delete(tenant);
    this.#principals.set(tenant, known);
    const [oldest] = this.#principals.keys();
    if (this.#principals.size > ACCOUNTS_MAX && oldest !== undefined) this.#principals.delete(oldest);
    return known;
  }
}

/** Accounts of used time on one level: tenants, or principals of a tenant. */
class Accounts {
  /** Virtual time at which the next turn of each would begin; the one charged last comes last. */
  readonly #dueMs = new Map<string, number>();
  /** Virtual time at which the last given turn began: the current virtual time. */
  #nowMs = 0;
  /** The accounts that had work at the last pick. */
  #waiting: ReadonlySet<string> = new Set();

  pick(names: Iterable<string>): string | undefined {
    const waiting = new Set(names);
    let picked: { readonly name: string; readonly dueMs: number } | undefined;
    for (const name of waiting) {
      const accountMs = this.#dueMs.get(name) ?? 0;
      const dueMs = this.#waiting.has(name) ? accountMs : Math.max(accountMs, this.#nowMs);
      this.#dueMs.set(name, dueMs);
      if (picked === undefined || dueMs < picked.dueMs) picked = { name, dueMs };
    }
    this.#waiting = waiting;
    if (picked !== undefined) this.#nowMs = Math.max(this.#nowMs, picked.dueMs);
    this.#forget();
    return picked?.name;
  }

  charge(name: string, ms: number): void {
    const dueMs = (this.#dueMs.get(name) ?? this.#nowMs) + ms;
    this.#dueMs.delete(name);
    this.#dueMs.set(name, dueMs);
  }

  /** Drops accounts without work and without debt: they carry no information. */
  #forget(): void {
    for (const [name, dueMs] of this.#dueMs) {
      const isIdle = !this.#waiting.has(name);
      if (isIdle && (dueMs <= this.#nowMs || this.#dueMs.size > ACCOUNTS_MAX)) this.#dueMs.delete(name);
    }
  }
}
