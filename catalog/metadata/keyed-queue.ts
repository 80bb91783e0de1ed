import { SkeinError } from '#shared/error.ts';

/** Serialises work per key; work of different keys runs concurrently. */
export class KeyedQueue {
  readonly #waitingMax: number;
  readonly #tails = new Map<string, { count: number; tail: Promise<unknown> }>();

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /** @throws QUEUE_FULL when `waitingMax` others of the key are waiting; else what `work` throws. */
  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#tails.get(key) ?? { count: 0, tail: Promise.resolve() };
    if (line.count >= this.#waitingMax) {
      return Promise.reject(new SkeinError('QUEUE_FULL', 'too many commits to one table are waiting'));
    }
    const result = line.tail.then(work);
    line.count += 1;
    line.tail = result
      .catch(() => undefined)
      .finally(() => {
        line.count -= 1;
        if (line.count === 0) this.#tails.delete(key);
      });
    this.#tails.set(key, line);
    return result;
  }
}
