import { TASK_MEMORY_BYTES_MIN } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { Asker } from '#shared/fair/asker.ts';
import { Holdings, inTurn, oneTooMany } from '#shared/fair/holdings.ts';

type Waiter = Asker & {
  readonly askedBytes: number;
  readonly grant: (memory: Grant) => void;
  readonly refuse: () => void;
};

/** Memory of one task; `release` gives it back, once. */
export type Grant = { readonly bytes: number; release(): void };

/**
 * Grants the worker's memory to tasks, so that the limits of all running tasks never exceed it. A task gets what it asks for when that is
 * at most half of the free memory; otherwise about half of the free memory, down to a floor: a big task leaves room for small ones, and
 * DuckDB spills at whatever limit it is given. Below the floor tasks wait. Freed memory goes to the tenant that holds least, then to its
 * principal that holds least, and a part is reserved for those who hold little (`Holdings`).
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
    this.#holdings = new Holdings(totalBytes, TASK_MEMORY_BYTES_MIN);
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
   * Waits for memory, which the task may use until it releases the grant.
   * @throws QUEUE_FULL when too many wait, at once or when others need the place in the queue; the reason of `signal` when it aborts.
   */
  acquire(asker: Asker, askedBytes: number, signal: AbortSignal): Promise<Grant> {
    signal.throwIfAborted();
    // Waiters for whom memory is short must not be overtaken; those held back only by their tenant's share may be.
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
        // Other waiters may have been queued behind this one.
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

  /** Whether enough memory is free, but the tenant's or principal's share keeps it from this waiter. */
  #isKeptFrom(waiter: Waiter): boolean {
    const floorBytes = this.#floorOf(waiter.askedBytes);
    return this.#holdings.freeFor(waiter) < floorBytes && this.#totalBytes - this.#holdings.held >= floorBytes;
  }

  /** Makes a grant for a task; undefined when too little is free. */
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
    return Math.min(askedBytes, TASK_MEMORY_BYTES_MIN, this.#totalBytes);
  }
}

const queueFull = (): SkeinError => new SkeinError('QUEUE_FULL', 'too many tasks wait for memory on a worker');

/** The largest power of two times the floor that is at most `bytes`; 0 below the floor. */
const steadyBytes = (bytes: number): number =>
  bytes < TASK_MEMORY_BYTES_MIN ? 0 : TASK_MEMORY_BYTES_MIN * 2 ** Math.floor(Math.log2(bytes / TASK_MEMORY_BYTES_MIN));
