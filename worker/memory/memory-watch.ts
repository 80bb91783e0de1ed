import { readFileSync } from 'node:fs';
import type { KillRank } from '#proto/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import { chooseVictim } from './choose-victim.ts';

/** A task on a slot. */
export interface MemoryUser {
  readonly queryId: string;
  readonly killRank: KillRank | null;
  cancel(error: SkeinError): void;
}

/** A task that a thread works for now. */
export type MemoryWork = {
  readonly user: MemoryUser;
  /** Pages of memory that the thread was the first to touch since the last look; 0 where the system does not tell. */
  readonly pages: number;
  /** It has helper threads, whose pages are not counted. */
  readonly isWide: boolean;
};

/** The measurements that the watch reads, and the actions that it can take. */
export interface MemoryParts {
  /** Memory of the process that is in use, in bytes. */
  readonly residentBytes: () => number;
  /** Tasks that have not ended; one that waits for a slot is blamed only for growth that it caused on an earlier one. */
  readonly users: () => Iterable<MemoryUser>;
  /** The tasks that a thread works for at this moment; called at each look. */
  readonly working: () => readonly MemoryWork[];
  /** Tells all slots whether to close idle instances. */
  readonly setPressure: (on: boolean) => void;
  /** Returns freed memory to the system. */
  readonly returnFreed: () => void;
}

/** From this share of the limit on, idle instances are closed. */
const PRESSURE_SHARE = 0.75;
/** From this share of the limit on, a query is cancelled, early enough to free its memory before the limit is reached. */
const CANCEL_SHARE = 0.9;
/** Time that a cancelled query has to give its memory back before the next one is cancelled. */
const RELIEF_MS = 1_000;
const INTERVAL_MS = 50;
/** Pages of Linux, the one system where `/proc` tells a process's size. */
const PAGE_BYTES = 4096;

/**
 * Keeps the process within its memory limit, including memory that DuckDB does not count: strings and lists of one vector, sorts that are
 * being spilled, Arrow output. Near the limit it cancels a query (`choose-victim.ts`); otherwise the kernel would kill a process.
 */
export class MemoryWatch implements Disposable {
  readonly #limitBytes: number;
  readonly #parts: MemoryParts;
  readonly #log: Logger;
  /** Growth of the process, in bytes, while it worked for each task. */
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

  /** Returns freed pages first, which an ended query may have left, so that no query is cancelled because of them. */
  #relieve(nowMs: number): void {
    this.#parts.returnFreed();
    this.#lastBytes = this.#parts.residentBytes();
    if (this.#lastBytes <= this.#limitBytes * CANCEL_SHARE) return;
    this.#reliefEndsMs = nowMs + RELIEF_MS;
    this.#cancelOne(this.#lastBytes);
  }

  /**
   * Divides the growth of the process between the tasks at work. Each task gets the pages that its own thread touched; the remaining pages
   * are divided between the tasks with helper threads or, without any, between all.
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

  /** Cancels a query with all its tasks. One that was cancelled before may still be in a quantum, with all its memory. */
  #cancelOne(bytes: number): void {
    const victim = chooseVictim(this.#queries());
    if (victim === undefined) return;
    const { queryId, users, grownBytes, killRank } = victim;
    this.#log.warn({ query: queryId, bytes, grownBytes }, 'a query is cancelled for its memory');
    const limit = `${this.#limitBytes} bytes (worker.memory_limit and worker.process_headroom)`;
    const grown = `${Math.round(grownBytes)} bytes for this query`;
    const why = killRank === null ? `more than for any other` : `which is the youngest of the lowest class`;
    const message = `the query was cancelled: a worker's process has ${bytes} bytes, close to its limit of ${limit}; it grew by ${grown}, ${why}`;
    for (const user of users) {
      this.#cancelled.add(user);
      user.cancel(new SkeinError('MEMORY_KILLED', message));
    }
  }

  #queries(): readonly QueryUse[] {
    const byId = new Map<string, QueryUse>();
    for (const user of this.#parts.users()) {
      const { queryId, killRank } = user;
      const query = byId.get(queryId) ?? { queryId, killRank, users: [], grownBytes: 0, isEnding: false };
      query.users.push(user);
      query.grownBytes += this.#grownBytes.get(user) ?? 0;
      query.isEnding ||= this.#cancelled.has(user);
      byId.set(queryId, query);
    }
    return [...byId.values()];
  }
}

type QueryUse = {
  readonly queryId: string;
  readonly killRank: KillRank | null;
  readonly users: MemoryUser[];
  grownBytes: number;
  isEnding: boolean;
};

/** Resident memory of this process. */
export const residentBytes = (): number =>
  process.platform === 'linux'
    ? Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[1] ?? 0) * PAGE_BYTES
    : process.memoryUsage.rss();
