import { must } from '#shared/must.ts';

/**
 * Keeps the `entriesMax` values that were used last; 0 keeps none. A value belongs to the owner who set it. When there are too many, the
 * owner who has the most loses the one that was used least recently: whoever fills the cache pushes out their own, and nobody falls below
 * an equal share of it.
 */
export class FairCache<Value> {
  readonly #entriesMax: number;
  readonly #ownerOf = new Map<string, string>();
  /** Owners, and the values of each, in order of last use, oldest first. */
  readonly #owners = new Map<string, Map<string, Value>>();

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#ownerOf.size;
  }

  /** Returns the value to any caller; the use counts for the value's owner. */
  get(key: string): Value | undefined {
    const owner = this.#ownerOf.get(key);
    if (owner === undefined) return undefined;
    const values = must(this.#owners.get(owner), 'an owner has values');
    const value = must(values.get(key), 'an owner has its values');
    this.#put(owner, key, value);
    return value;
  }

  set(owner: string, key: string, value: Value): void {
    this.#delete(key);
    this.#ownerOf.set(key, owner);
    this.#put(owner, key, value);
    if (this.#ownerOf.size > this.#entriesMax) this.#evict();
  }

  #put(owner: string, key: string, value: Value): void {
    const values = this.#owners.get(owner) ?? new Map<string, Value>();
    values.delete(key);
    values.set(key, value);
    this.#owners.delete(owner);
    this.#owners.set(owner, values);
  }

  #delete(key: string): void {
    const owner = this.#ownerOf.get(key);
    if (owner === undefined) return;
    this.#ownerOf.delete(key);
    const values = must(this.#owners.get(owner), 'an owner has values');
    values.delete(key);
    if (values.size === 0) this.#owners.delete(owner);
  }

  #evict(): void {
    let most: ReadonlyMap<string, Value> = new Map();
    for (const values of this.#owners.values()) if (values.size > most.size) most = values;
    const [oldest] = most.keys();
    if (oldest !== undefined) this.#delete(oldest);
  }
}
