import { LRUCache } from 'lru-cache';
import type { QueryId } from '#shared/id.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { COPY_SHARE } from '../disk-cache/cache-size.ts';
import type { ObjectCopy, WantedBytes } from './object-copy.ts';

/** Queries that read most of an object's rows in `COUNT_MS`, after which it is hot. */
const HOT_QUERIES = 4;
/** Time after which the count of an object begins again. */
const COUNT_MS = 3_600_000;
const COUNTED_MAX = 4_096;
/** Part of a hot object that is here before the rest is fetched: it costs at most so many times what queries have fetched. */
const HERE_PART = 1 / 3;
/** Objects that wait for the rest of others. */
const WAITING_MAX = 64;
/** Time in which the rest has to come. */
const COMPLETE_MS = 60_000;

/** An object of which a task has fetched the bytes that it wanted. */
export type HotPart = {
  readonly copy: Pick<ObjectCopy, 'facts' | 'bytes' | 'isWhole' | 'journal' | 'fetch'>;
  readonly credential: StorageCredential;
  readonly location: string;
  readonly wanted: WantedBytes;
};

/**
 * Fetches the rest of objects that queries read again and again, beside them and one at a time: a file that is here whole can have a copy
 * without compression. An object is tried at the fourth query of an hour that finds the same copy of it, at the eighth, and so on, so that one
 * for which the cache has no room is not fetched for each.
 */
export class HotObjects {
  readonly #bytesMax: number;
  readonly #counts = new LRUCache<string, { readonly queryId: QueryId; readonly queries: number }>({
    max: COUNTED_MAX,
    ttl: COUNT_MS,
    noUpdateTTL: true,
  });
  #waiting = 0;
  #turn: Promise<void> = Promise.resolve();

  /** @param cacheBytesMax bytes of the cache, a share of which a copy may have */
  constructor(cacheBytesMax: number) {
    this.#bytesMax = cacheBytesMax / COPY_SHARE;
  }

  /** Counts a query for a kept copy, once; true when the rest of the object should come now. */
  isDue(copy: string, queryId: QueryId): boolean {
    const last = this.#counts.get(copy);
    if (last?.queryId === queryId) return false;
    const queries = (last?.queries ?? 0) + 1;
    this.#counts.set(copy, { queryId, queries });
    return queries >= HOT_QUERIES && (queries & (queries - 1)) === 0;
  }

  /** Fetches the rest when it is its turn. Never rejects: no query needs these bytes. */
  complete(part: HotPart): Promise<void> {
    if (this.#waiting >= WAITING_MAX) return this.#turn;
    this.#waiting += 1;
    this.#turn = this.#turn.then(() => this.#fetch(part)).finally(() => (this.#waiting -= 1));
    return this.#turn;
  }

  async #fetch({ copy, credential, location, wanted }: HotPart): Promise<void> {
    const { sizeBytes } = copy.facts;
    const isWanted = !copy.isWhole && copy.journal !== undefined && copy.bytes >= sizeBytes * HERE_PART;
    if (!isWanted || sizeBytes > this.#bytesMax) return;
    try {
      const ranges = [{ start: 0, end: sizeBytes }];
      const signal = AbortSignal.timeout(COMPLETE_MS);
      // The signal, keys and repeats of the task are its own.
      const storage = openStorage(location, credential, { signal });
      await copy.fetch(signal, { storage, location, wanted: { ...wanted, ranges } });
    } catch {
      // The object stays as it is.
    }
  }
}
