/** A copy that may be removed, with the tenant that it was made for. */
export type Resident = {
  readonly tenant: string;
  readonly bytes: number;
  readonly usedMs: number;
  /** Somebody reads it now. */
  readonly isHeld: boolean;
};

/** A new copy, and the time between the last two reads of its file. */
export type Newcomer = { readonly tenant: string; readonly bytes: number; readonly intervalMs: number };

/**
 * Chooses the copies that make room for a new one; undefined when it is not to be kept. The tenant with most bytes, the newcomer's counted
 * in, gives up what it used longest ago. Among a tenant's own copies the newcomer takes the place only of one unused for longer than the time
 * between two reads of itself: otherwise a tenant that reads more than there is room for, again and again, would keep nothing that it needs next.
 */
export function chooseVictims<T extends Resident>(
  residents: readonly T[],
  newcomer: Newcomer,
  { bytesMax, countMax, nowMs }: { readonly bytesMax: number; readonly countMax: number; readonly nowMs: number },
): readonly T[] | undefined {
  const held = new Map<string, number>([[newcomer.tenant, newcomer.bytes]]);
  let bytes = newcomer.bytes;
  let count = 1 + residents.length;
  for (const one of residents) {
    bytes += one.bytes;
    held.set(one.tenant, (held.get(one.tenant) ?? 0) + one.bytes);
  }
  const oldestFirst = residents.filter(({ isHeld }) => !isHeld).toSorted((a, b) => a.usedMs - b.usedMs);
  const victims: T[] = [];
  while (bytes > bytesMax || count > countMax) {
    const tenant = largest(held, newcomer.tenant);
    const index = oldestFirst.findIndex((one) => one.tenant === tenant);
    const [victim] = index === -1 ? [] : oldestFirst.splice(index, 1);
    if (victim === undefined) return undefined;
    if (tenant === newcomer.tenant && nowMs - victim.usedMs <= newcomer.intervalMs) return undefined;
    victims.push(victim);
    bytes -= victim.bytes;
    count--;
    held.set(tenant, (held.get(tenant) ?? 0) - victim.bytes);
  }
  return victims;
}

/** The tenant that holds most; `first` when others hold as much. */
function largest(held: ReadonlyMap<string, number>, first: string): string {
  let found = first;
  for (const [tenant, bytes] of held) if (bytes > (held.get(found) ?? 0)) found = tenant;
  return found;
}
