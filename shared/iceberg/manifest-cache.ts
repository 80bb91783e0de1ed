/**
 * Parsed manifests and manifest lists by location. They are immutable, so an entry never goes stale. Who asks has checked that the
 * location lies under the roots of its table.
 */
export interface ManifestCache {
  /** The value under `location`, made at most once at a time; `bytes` is what it holds of memory, roughly. */
  load<T>(location: string, make: () => Promise<{ readonly value: T; readonly bytes: number }>): Promise<T>;
}

type Entry = { readonly value: unknown; readonly bytes: number };

/** Keeps the most recently used values, `bytesMax` together. A value larger than a quarter of it is not kept. */
export class LruManifestCache implements ManifestCache {
  readonly #bytesMax: number;
  readonly #entries = new Map<string, Entry>();
  readonly #loading = new Map<string, Promise<Entry>>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  async load<T>(location: string, make: () => Promise<{ readonly value: T; readonly bytes: number }>): Promise<T> {
    const found = this.#entries.get(location);
    if (found !== undefined) {
      this.#entries.delete(location);
      this.#entries.set(location, found);
      return found.value as T;
    }
    const loading = this.#loading.get(location) ?? this.#start(location, make);
    return (await loading).value as T;
  }

  async #start(location: string, make: () => Promise<Entry>): Promise<Entry> {
    const loading = make();
    this.#loading.set(location, loading);
    try {
      const entry = await loading;
      this.#keep(location, entry);
      return entry;
    } finally {
      this.#loading.delete(location);
    }
  }

  #keep(location: string, entry: Entry): void {
    if (entry.bytes > this.#bytesMax / 4) return;
    this.#entries.set(location, entry);
    this.#bytes += entry.bytes;
    for (const [oldest, { bytes }] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) return;
      this.#entries.delete(oldest);
      this.#bytes -= bytes;
    }
  }
}
