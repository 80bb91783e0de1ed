import type { Asker } from './asker.ts';

/** The fraction of the total that is reserved for those who hold little. */
const KEPT_SHARE = 1 / 8;

type TenantHolding = { amount: number; readonly principals: Map<string, number> };

/**
 * Accounts who holds how much of a resource that is returned late or never: memory, slots, processes. Whatever one tenant holds, something
 * stays free for the others: of the last eighth (the reserve) nothing goes to a tenant that holds half of the reserve already; and of its
 * second half nothing goes to a principal that holds a quarter of the reserve while its tenant does not hold half.
 */
export class Holdings {
  readonly #total: number;
  readonly #kept: number;
  readonly #tenants = new Map<string, TenantHolding>();
  #held = 0;

  /** @param unit the reserve is a multiple of it: less would be useless to everybody */
  constructor(total: number, unit = 1) {
    this.#total = total;
    this.#kept = Math.floor((total * KEPT_SHARE) / unit) * unit;
  }

  get held(): number {
    return this.#held;
  }

  ofTenant({ tenant }: Asker): number {
    return this.#tenants.get(tenant)?.amount ?? 0;
  }

  ofPrincipal({ tenant, principal }: Asker): number {
    return this.#tenants.get(tenant)?.principals.get(principal) ?? 0;
  }

  /** Returns how much of the free amount this asker may take. */
  freeFor(asker: Asker): number {
    const free = this.#total - this.#held;
    if (this.ofTenant(asker) >= this.#kept / 2) return free - this.#kept;
    return this.ofPrincipal(asker) >= this.#kept / 4 ? free - this.#kept / 2 : free;
  }

  take(asker: Asker, amount: number): void {
    this.#change(asker, amount);
  }

  giveBack(asker: Asker, amount: number): void {
    this.#change(asker, -amount);
  }

  #change({ tenant, principal }: Asker, by: number): void {
    this.#held += by;
    const holding = this.#tenants.get(tenant) ?? { amount: 0, principals: new Map<string, number>() };
    holding.amount += by;
    const own = (holding.principals.get(principal) ?? 0) + by;
    if (own === 0) holding.principals.delete(principal);
    else holding.principals.set(principal, own);
    if (holding.principals.size === 0) this.#tenants.delete(tenant);
    else this.#tenants.set(tenant, holding);
  }
}

/**
 * Returns the order in which waiters get freed resources: first the tenant that holds least, within a tenant the principal that holds
 * least, then the first to arrive. The result has only the first waiter of each principal; the others follow it.
 */
export function inTurn<T extends Asker>(waiting: Iterable<T>, holdings: Holdings): readonly T[] {
  const firsts = new Map<string, T>();
  for (const one of waiting) {
    const key = JSON.stringify([one.tenant, one.principal]);
    if (!firsts.has(key)) firsts.set(key, one);
  }
  return [...firsts.values()].sort(
    (a, b) => holdings.ofTenant(a) - holdings.ofTenant(b) || holdings.ofPrincipal(a) - holdings.ofPrincipal(b),
  );
}

/** Returns the waiters of the tenants that hold least, and within each tenant only those of the principals that hold least. */
export function withLeast<T extends Asker>(waiting: readonly T[], holdings: Holdings): readonly T[] {
  const ofTenants = least(waiting, (one) => holdings.ofTenant(one));
  const byTenant = Map.groupBy(ofTenants, ({ tenant }) => tenant);
  return byTenant
    .values()
    .flatMap((ones) => least(ones, (one) => holdings.ofPrincipal(one)))
    .toArray();
}

function least<T>(items: readonly T[], amountOf: (item: T) => number): readonly T[] {
  const amounts = items.map(amountOf);
  const smallest = amounts.reduce((a, b) => Math.min(a, b), Infinity);
  return items.filter((_item, i) => amounts[i] === smallest);
}

/**
 * Returns the waiter to evict from a full queue when `newcomer` arrives: the last one of the tenant with most waiters, or else of the
 * principal with most waiters in the newcomer's own tenant. Undefined when the newcomer itself is to be refused.
 */
export function oneTooMany<T extends Asker>(waiting: Iterable<T>, newcomer: Asker): T | undefined {
  const byTenant = Map.groupBy(waiting, ({ tenant }) => tenant);
  const others = fullest(byTenant, byTenant.get(newcomer.tenant)?.length ?? 0);
  if (others !== undefined)
    return fullest(
      Map.groupBy(others, ({ principal }) => principal),
      -1,
    )?.at(-1);
  const byPrincipal = Map.groupBy(byTenant.get(newcomer.tenant) ?? [], ({ principal }) => principal);
  return fullest(byPrincipal, byPrincipal.get(newcomer.principal)?.length ?? 0)?.at(-1);
}

/** Returns the largest group if it has more than `length` + 1 members. */
function fullest<T>(groups: ReadonlyMap<string, readonly T[]>, length: number): readonly T[] | undefined {
  const [largest] = [...groups.values()].toSorted((a, b) => b.length - a.length);
  return largest !== undefined && largest.length > length + 1 ? largest : undefined;
}
