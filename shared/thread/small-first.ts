import { LRUCache } from 'lru-cache';
import { SkeinError } from '#shared/error.ts';

/** Maximum number of keys whose work is known to be large; those used least recently are dropped. */
const LARGE_MAX = 10_000;

/**
 * Does small work on the calling thread, which is faster than handing it over. Work that exceeds its limits is stopped and done apart, from
 * then on always for the same key.
 */
export class SmallFirst {
  readonly #large = new LRUCache<string, true>({ max: LARGE_MAX });

  /** @param here throws TABLE_DATA_TOO_COMPLEX at its limits, and then must have had no effect */
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
