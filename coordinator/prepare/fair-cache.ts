import { must } from '#shared/must.ts';

export type CacheBounds = { readonly entriesMax: number; readonly bytesMax: number };

/** Bytes of an entry without its key and value. */
const ENTRY_BYTES = 200;
/** A value that takes more than this part of the cache is not kept. */
const LARGEST_SHARE = 1 / 4;

type Entry<Value> = { readonly value: Value; readonly bytes: number };
/** Entries in order of last use, oldest first. */
type Holding<Value> = { readonly entries: Map<string, Entry<Value>>; bytes: number };

/**
 * Keeps the values that were used last, within bounds of number and memory; 0 keeps none. A value belongs to the owner who set it. When
 * there are too many, the owner who has the most loses the one that was used least recently: whoever fills the cache pushes out their own,
 * and nobody falls below an equal share of it.
 */
export class FairCache<Value> {
  readonly #bounds: CacheBounds;
  readonly #bytesOf: (value: Value) => number;
  readonly #ownerOf = new Map<string, string>();
  readonly #owners = new Map<string, Holding<Value>>();
  #bytes = 0;

  /** @param bytesOf approximate memory of a value; called once for each value that is set */
  constructor(bounds: CacheBounds, bytesOf: (value: Value) => number) {
    this.#bounds = bounds;
    this.#bytesOf = bytesOf;
  }

  get size(): number {
    return this.#ownerOf.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the value to any caller; the use counts for the value's owner. */
  get(key: string): Value | undefined {
    const owner = this.#ownerOf.get(key);
    if (owner === undefined) return undefined;
    const entry = must(this.#owners.get(owner)?.entries.get(key), 'an owner has its values');
    this.#delete(key);
    this.#put(owner, key, entry);
    return entry.value;
  }

  set(owner: string, key: string, value: Value): void {
    this.#delete(key);
    const { entriesMax, bytesMax } = this.#bounds;
    const bytes = this.#bytesOf(value) + 2 * key.length + ENTRY_BYTES;
    if (bytes > bytesMax * LARGEST_SHARE) return;
    this.#put(owner, key, { value, bytes });
    while (this.#ownerOf.size > entriesMax || this.#bytes > bytesMax) this.#evict();
  }

  #put(owner: string, key: string, entry: Entry<Value>): void {
    const holding = this.#owners.get(owner) ?? { entries: new Map<string, Entry<Value>>(), bytes: 0 };
    holding.entries.set(key, entry);
    holding.bytes += entry.bytes;
    this.#bytes += entry.bytes;
    this.#ownerOf.set(key, owner);
    // The owner who used a value last comes last: of two with equally much the other loses one.
    this.#owners.delete(owner);
    this.#owners.set(owner, holding);
  }

  #delete(key: string): void {
    const owner = this.#ownerOf.get(key);
    if (owner === undefined) return;
    this.#ownerOf.delete(key);
    const holding = must(this.#owners.get(owner), 'an owner has values');
    const { bytes } = must(holding.entries.get(key), 'an owner has its values');
    holding.entries.delete(key);
    holding.bytes -= bytes;
    this.#bytes -= bytes;
    if (holding.entries.size === 0) this.#owners.delete(owner);
  }

  /** Removes the oldest value of the owner with the largest part of what is short. */
  #evict(): void {
    const isMemory = this.#bytes > this.#bounds.bytesMax;
    const held = ({ entries, bytes }: Holding<Value>): number => (isMemory ? bytes : entries.size);
    const [first, ...others] = this.#owners.values();
    const most = others.reduce((a, b) => (held(b) > held(a) ? b : a), must(first, 'a full cache has an owner'));
    const [oldest] = most.entries.keys();
    this.#delete(must(oldest, 'an owner has values'));
  }
}
