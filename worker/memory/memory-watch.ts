import { readFileSync } from 'node:fs';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';

/** A task on a slot. */
export interface MemoryUser {
  readonly queryId: string;
  cancel(error: SkeinError): void;
}

/** A task that a thread is at work for. */
export type MemoryWork = {
  readonly user: MemoryUser;
  /** Pages of memory that this thread was the first to touch, since the last look; 0 where the system does not say. */
  readonly pages: number;
  /** It has helper threads, whose pages nobody counts. */
  readonly isWide: boolean;
};

/** The measurements that the watch reads, and the actions that it can take. */
export interface MemoryParts {
  /** Memory of the process that is in use, in bytes. */
  readonly residentBytes: () => number;
  /** Tasks on slots. */
  readonly users: () => Iterable<MemoryUser>;
  /** Those of them that a thread is at work for at this moment; asked at each look. */
  readonly working: () => readonly MemoryWork[];
  /** Says to all slots whether they are to close what is idle. */
  readonly setPressure: (on: boolean) => void;
  /** Gives freed memory back to the system. */
  readonly returnFreed: () => void;
}

/** From this share of the limit on, idle instances are closed. */
const PRESSURE_SHARE = 0.75;
/** From this share on a query is cancelled: what it holds is freed before the rest is used. */
const CANCEL_SHARE = 0.9;
/** Time that a cancelled query has to give its memory back before the next one is cancelled. */
const RELIEF_MS = 1_000;
const INTERVAL_MS = 50;
/** Pages of Linux, the one system where `/proc` tells a process's size. */
const PAGE_BYTES = 4096;

/**
 * Keeps the process within its memory, also with what DuckDB does not count: the strings and lists of one vector, sorts on their way to
 * disk, Arrow on its way out. When the process is nearly at its limit, the query during whose turns it has grown most ends, by name; the
 * system would choose a process.
 */
export class MemoryWatch implements Disposable {
  readonly #limitBytes: number;
  readonly #parts: MemoryParts;
  readonly #log: Logger;
  /** Growth of the process while it was at work for each. */
  #grownBytes = new WeakMap<MemoryUser, number>();
  readonly #cancelled = new WeakSet<MemoryUser>();
  #lastBytes: number;
  #reliefEndsMs = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(limitBytes: number, parts: MemoryParts, log: Logger) {
    this.#limitBytes = limitBytes;
    this.#parts = parts;
    this.#log = log;
    this.#lastBytes = parts.residentBytes();
  }

  start(): void {
    this.#timer = setInterval(() => this.look(performance.now()), INTERVAL_MS);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  look(nowMs: number): void {
    const bytes = this.#parts.residentBytes();
    this.#blame(bytes - this.#lastBytes, this.#parts.working());
    this.#lastBytes = bytes;
    this.#parts.setPressure(bytes > this.#limitBytes * PRESSURE_SHARE);
    if (bytes > this.#limitBytes * CANCEL_SHARE && nowMs >= this.#reliefEndsMs) this.#relieve(nowMs);
  }

  /** A query that has ended may have left freed pages behind: nobody is cancelled for those. */
  #relieve(nowMs: number): void {
    this.#parts.returnFreed();
    this.#lastBytes = this.#parts.residentBytes();
    if (this.#lastBytes <= this.#limitBytes * CANCEL_SHARE) return;
    this.#reliefEndsMs = nowMs + RELIEF_MS;
    this.#cancelLargest(this.#lastBytes);
  }

  /**
   * Threads grow the process together: each task has the pages that its own thread has touched, and those that no thread of a slot has
   * are divided between the tasks that have helper threads; without any, between all.
   */
  #blame(grownBytes: number, working: readonly MemoryWork[]): void {
    if (grownBytes <= 0) return;
    const touchedBytes = PAGE_BYTES * working.reduce((sum, { pages }) => sum + pages, 0);
    const share = touchedBytes > grownBytes ? grownBytes / touchedBytes : 1;
    const wide = working.filter(({ isWide }) => isWide);
    const others = wide.length > 0 ? wide : working;
    const restBytes = Math.max(0, grownBytes - touchedBytes) / others.length;
    for (const one of working) {
      const ownBytes = one.pages * PAGE_BYTES * share + (others.includes(one) ? restBytes : 0);
      this.#grownBytes.set(one.user, (this.#grownBytes.get(one.user) ?? 0) + ownBytes);
    }
  }

  #cancelLargest(bytes: number): void {
    let largest: { readonly user: MemoryUser; readonly grownBytes: number } | undefined;
    for (const user of this.#parts.users()) {
      const grownBytes = this.#grownBytes.get(user) ?? 0;
      if (this.#cancelled.has(user) || grownBytes <= (largest?.grownBytes ?? 0)) continue;
      largest = { user, grownBytes };
    }
    if (largest === undefined) return;
    const { user, grownBytes } = largest;
    this.#cancelled.add(user);
    this.#log.warn({ query: user.queryId, bytes, grownBytes }, 'a query is cancelled for its memory');
    const limit = `${this.#limitBytes} bytes (worker.memory_limit and worker.process_headroom)`;
    user.cancel(
      new SkeinError(
        'MEMORY_EXHAUSTED',
        `the query was cancelled: a worker's process is close to its limit of ${limit}, and grew most for this query`,
      ),
    );
  }
}

/** Resident memory of this process. */
export const residentBytes = (): number =>
  process.platform === 'linux'
    ? Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[1] ?? 0) * PAGE_BYTES
    : process.memoryUsage.rss();
