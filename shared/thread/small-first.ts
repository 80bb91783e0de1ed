import { LRUCache } from 'lru-cache';
import { SkeinError } from '#shared/error.ts';

/** Keys whose work is known to be large; those used least recently are forgotten. */
const LARGE_MAX = 10_000;

/**
 * Small work is done on the calling thread, which takes less than handing it over. It stops at its limits; then, and from then on for the
 * same key, the work is done apart.
 */
export class SmallFirst {
  readonly #large = new LRUCache<string, true>({ max: LARGE_MAX });

  /** @param here throws TABLE_DATA_TOO_COMPLEX at its limits; nothing that it did may count then */
  async run<T>(key: string, here: () => Promise<T>, apart: () => Promise<T>): Promise<T> {
    if (this.#large.get(key) === true) return apart();
    try {
      return await here();
    } catch (error) {
      if (!(error instanceof SkeinError) || error.code !== 'TABLE_DATA_TOO_COMPLEX') throw error;
      this.#large.set(key, true);
      return await apart();
    }
  }
}
