import type { Asker } from './asker.ts';

/** The share of what there is that is kept for those who have little of it. */
const KEPT_SHARE = 1 / 8;

type TenantHolding = { amount: number; readonly principals: Map<string, number> };

/**
 * Who holds how much of something that is given back late or never: memory, places, processes. Whatever one tenant holds, there is
 * something left for the others: the last eighth of it goes to nobody who holds half of that eighth already, and to no principal that
 * holds a quarter of it while its tenant does not.
 */
export class Holdings {
  readonly #total: number;
  readonly #kept: number;
  readonly #tenants = new Map<string, TenantHolding>();
  #held = 0;

  /** What is kept is a multiple of `unit`: less would be of no use to anybody. */
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

  /** The part of what is free that this one may have. */
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
 * The order in which those who wait get what becomes free: the tenant that holds least goes first, within a tenant the principal that holds
 * least, then whoever came first. Only the first of each principal is there: the others come after it.
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

/** Of those who wait, the ones of the tenants that hold least, and of each of these only the principals that hold least. */
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
 * Who leaves a queue that is full when `newcomer` comes: the last one of the tenant that waits most often, or else of the principal that
 * does so in the newcomer's own tenant. Undefined when the newcomer itself is one too many.
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

/** The largest of the groups that is larger than one of `length` with one more. */
function fullest<T>(groups: ReadonlyMap<string, readonly T[]>, length: number): readonly T[] | undefined {
  const [largest] = [...groups.values()].toSorted((a, b) => b.length - a.length);
  return largest !== undefined && largest.length > length + 1 ? largest : undefined;
}
