import { SkeinError } from '#shared/error.ts';

/** Keys whose work is known to be large; the oldest are forgotten. */
const LARGE_MAX = 10_000;

/**
 * Small work is done on the calling thread, which takes less than handing it over. It stops at its limits; then, and from then on for the
 * same key, the work is done apart.
 */
export class SmallFirst {
  readonly #large = new Set<string>();

  /** @param here throws TABLE_DATA_TOO_COMPLEX at its limits; nothing that it did may count then */
  async run<T>(key: string, here: () => Promise<T>, apart: () => Promise<T>): Promise<T> {
    if (this.#large.has(key)) return apart();
    try {
      return await here();
    } catch (error) {
      if (!(error instanceof SkeinError) || error.code !== 'TABLE_DATA_TOO_COMPLEX') throw error;
      this.#remember(key);
      return await apart();
    }
  }

  #remember(key: string): void {
    this.#large.add(key);
    const [oldest] = this.#large;
    if (this.#large.size > LARGE_MAX && oldest !== undefined) this.#large.delete(oldest);
  }
}
