import { SkeinError } from '#shared/error.ts';
import type { Asker } from '#shared/fair/asker.ts';
import { Holdings, inTurn, oneTooMany } from '#shared/fair/holdings.ts';

/** A task that gets less than this would spill from its first rows on: it waits instead. */
const GRANT_BYTES_MIN = 128 * 2 ** 20;

type Waiter = Asker & {
  readonly askedBytes: number;
  readonly grant: (memory: Grant) => void;
  readonly refuse: () => void;
};

/** Memory of one task; `release` gives it back, once. */
export type Grant = { readonly bytes: number; release(): void };

/**
 * Hands out the worker's memory to tasks, so that the limits of all running tasks never add up to more than there is. A task gets what
 * it asks for while that is at most half of what is free; else about half of it, down to a floor: a big task leaves room for small ones,
 * and DuckDB spills at whatever limit it is given. Below the floor tasks wait. What becomes free goes to the tenant that holds least, then
 * to its principal that holds least, and a part is kept for those who hold little (`Holdings`).
 *
 * A grant smaller than the request is rounded down to the floor times a power of two, so that consecutive tasks get equal limits:
 * changing an instance's limit makes it return its freed pages.
 */
export class MemoryGate {
  readonly #holdings: Holdings;
  readonly #totalBytes: number;
  readonly #waitingMax: number;
  readonly #waiting = new Set<Waiter>();

  constructor(totalBytes: number, waitingMax: number) {
    this.#holdings = new Holdings(totalBytes, GRANT_BYTES_MIN);
    this.#totalBytes = totalBytes;
    this.#waitingMax = waitingMax;
  }

  get grantedBytes(): number {
    return this.#holdings.held;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Memory that the task may use until it is released.
   * @throws QUEUE_FULL when too many wait, at once or when others need the place in the queue; the reason of `signal` when it ends the wait.
   */
  acquire(asker: Asker, askedBytes: number, signal: AbortSignal): Promise<Grant> {
    signal.throwIfAborted();
    // Others wait either for more than there is, and then nobody goes before them, or for what is not for their tenant.
    const isBlocked = this.#waiting.values().some((waiter) => !this.#isKeptFrom(waiter));
    const granted = isBlocked ? undefined : this.#offer(asker, askedBytes);
    if (granted !== undefined) return Promise.resolve(granted);
    if (this.#waiting.size >= this.#waitingMax) {
      const leaving = oneTooMany(this.#waiting, asker);
      if (leaving === undefined) throw queueFull();
      leaving.refuse();
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(waiter);
        signal.removeEventListener('abort', abort);
      };
      const abort = (): void => {
        leave();
        reject(signal.reason as Error);
        // It may have been the one that the others waited behind.
        this.#grantWaiting();
      };
      const waiter: Waiter = {
        tenant: asker.tenant,
        principal: asker.principal,
        askedBytes,
        grant: (memory) => {
          leave();
          resolve(memory);
        },
        refuse: () => {
          leave();
          reject(queueFull());
        },
      };
      this.#waiting.add(waiter);
      signal.addEventListener('abort', abort, { once: true });
      this.#grantWaiting();
    });
  }

  #grantWaiting(): void {
    for (;;) {
      const next = inTurn(this.#waiting, this.#holdings).find((waiter) => !this.#isKeptFrom(waiter));
      const granted = next === undefined ? undefined : this.#offer(next, next.askedBytes);
      if (granted === undefined) return;
      next?.grant(granted);
    }
  }

  /** Whether there is enough, but not for this one. */
  #isKeptFrom(waiter: Waiter): boolean {
    const floorBytes = this.#floorOf(waiter.askedBytes);
    return this.#holdings.freeFor(waiter) < floorBytes && this.#totalBytes - this.#holdings.held >= floorBytes;
  }

  /** Takes the grant for a task, or nothing when there is too little. */
  #offer(asker: Asker, askedBytes: number): Grant | undefined {
    const ownBytes = this.#holdings.freeFor(asker);
    const floorBytes = this.#floorOf(askedBytes);
    if (ownBytes < floorBytes) return undefined;
    const halfBytes = (this.#totalBytes - this.#holdings.held) / 2;
    const bytes =
      askedBytes <= Math.min(halfBytes, ownBytes)
        ? askedBytes
        : Math.max(floorBytes, steadyBytes(Math.min(halfBytes, ownBytes)));
    this.#holdings.take(asker, bytes);
    let isHeld = true;
    return {
      bytes,
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#holdings.giveBack(asker, bytes);
        this.#grantWaiting();
      },
    };
  }

  #floorOf(askedBytes: number): number {
    return Math.min(askedBytes, GRANT_BYTES_MIN, this.#totalBytes);
  }
}

const queueFull = (): SkeinError => new SkeinError('QUEUE_FULL', 'too many tasks wait for memory on a worker');

/** The largest power of two times the floor that is at most `bytes`; 0 below the floor. */
const steadyBytes = (bytes: number): number =>
  bytes < GRANT_BYTES_MIN ? 0 : GRANT_BYTES_MIN * 2 ** Math.floor(Math.log2(bytes / GRANT_BYTES_MIN));
