/** A copy that may be removed, with the tenant that it was made for. */
export type Resident = {
  readonly tenant: string;
  readonly bytes: number;
  /** How often it was read of late (`ReadRate`). */
  readonly reads: number;
  /** Somebody reads it now. */
  readonly isHeld: boolean;
};

/** A new copy, and how often its file was read of late. */
export type Newcomer = { readonly tenant: string; readonly bytes: number; readonly reads: number };

/**
 * A new copy takes the place of others of its tenant when it is read this many times as often: making a copy costs as much as it saves in
 * several reads, and files that are read about as often would take each other's place again and again.
 */
const READS_FACTOR = 2;

/**
 * Chooses the copies that make room for a new one; undefined when it is not to be kept. The tenant with most bytes, the newcomer's counted
 * in, gives up what is read least. Among its own tenant's copies the newcomer takes the place of some only if its bytes, times its reads, are
 * `READS_FACTOR` times theirs: a tenant that reads more than there is room for keeps a part, which stays.
 */
export function chooseVictims<T extends Resident>(
  residents: readonly T[],
  newcomer: Newcomer,
  { bytesMax, countMax }: { readonly bytesMax: number; readonly countMax: number },
): readonly T[] | undefined {
  const held = new Map<string, number>([[newcomer.tenant, newcomer.bytes]]);
  let bytes = newcomer.bytes;
  let count = 1 + residents.length;
  for (const one of residents) {
    bytes += one.bytes;
    held.set(one.tenant, (held.get(one.tenant) ?? 0) + one.bytes);
  }
  const rarestFirst = residents.filter(({ isHeld }) => !isHeld).toSorted((a, b) => a.reads - b.reads);
  const victims: T[] = [];
  /** Bytes that are read, of the newcomer and of its tenant's victims. */
  const gained = newcomer.reads * newcomer.bytes;
  let lost = 0;
  while (bytes > bytesMax || count > countMax) {
    const tenant = largest(held, newcomer.tenant);
    const index = rarestFirst.findIndex((one) => one.tenant === tenant);
    const [victim] = index === -1 ? [] : rarestFirst.splice(index, 1);
    if (victim === undefined) return undefined;
    if (tenant === newcomer.tenant) lost += victim.reads * victim.bytes;
    if (gained < READS_FACTOR * lost) return undefined;
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
