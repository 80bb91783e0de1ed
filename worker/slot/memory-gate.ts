import { SkeinError } from '#shared/error.ts';

/** A task that gets less than this would spill from its first rows on: it waits instead. */
const GRANT_BYTES_MIN = 128 * 2 ** 20;

type Waiter = { readonly askedBytes: number; readonly grant: (bytes: number) => void };

/**
 * Hands out the worker's memory to tasks, so that the limits of all running tasks never add up to more than there is. A task gets what
 * it asks for while that is at most half of what is free; else about half of it, down to a floor: a big task leaves room for small ones,
 * and DuckDB spills at whatever limit it is given. Below the floor tasks wait, first come, first served.
 *
 * What is not what was asked for is the floor times a power of two: with a new limit an instance gives the pages that it has freed
 * back to the system, so tasks that come one after the other should get the same.
 */
export class MemoryGate {
  readonly #totalBytes: number;
  readonly #waitingMax: number;
  readonly #waiting: Waiter[] = [];
  #grantedBytes = 0;

  constructor(totalBytes: number, waitingMax: number) {
    this.#totalBytes = totalBytes;
    this.#waitingMax = waitingMax;
  }

  get grantedBytes(): number {
    return this.#grantedBytes;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Bytes that the task may use until `release`.
   * @throws QUEUE_FULL when too many wait; the reason of `signal` when it ends the wait.
   */
  acquire(askedBytes: number, signal: AbortSignal): Promise<number> {
    signal.throwIfAborted();
    const bytes = this.#waiting.length === 0 ? this.#offer(askedBytes) : undefined;
    if (bytes !== undefined) return Promise.resolve(bytes);
    if (this.#waiting.length >= this.#waitingMax) {
      throw new SkeinError('QUEUE_FULL', 'too many tasks wait for memory on a worker');
    }
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason as Error);
        // It may have been the one that the others waited behind.
        this.#grantWaiting();
      };
      const waiter: Waiter = {
        askedBytes,
        grant: (granted) => {
          signal.removeEventListener('abort', abort);
          resolve(granted);
        },
      };
      this.#waiting.push(waiter);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  release(bytes: number): void {
    this.#grantedBytes -= bytes;
    this.#grantWaiting();
  }

  #grantWaiting(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const granted = this.#offer(next.askedBytes);
      if (granted === undefined) return;
      this.#waiting.shift();
      next.grant(granted);
    }
  }

  /** Takes the grant for a task, or nothing when there is too little. */
  #offer(askedBytes: number): number | undefined {
    const freeBytes = this.#totalBytes - this.#grantedBytes;
    const floorBytes = Math.min(askedBytes, GRANT_BYTES_MIN, this.#totalBytes);
    if (freeBytes < floorBytes) return undefined;
    const bytes = askedBytes <= freeBytes / 2 ? askedBytes : Math.max(floorBytes, steadyBytes(freeBytes / 2));
    this.#grantedBytes += bytes;
    return bytes;
  }
}

/** The largest power of two times the floor that is at most `bytes`; 0 below the floor. */
const steadyBytes = (bytes: number): number =>
  bytes < GRANT_BYTES_MIN ? 0 : GRANT_BYTES_MIN * 2 ** Math.floor(Math.log2(bytes / GRANT_BYTES_MIN));
