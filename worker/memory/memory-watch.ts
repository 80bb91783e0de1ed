import { readFileSync } from 'node:fs';
import type { KillRank } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import { chooseVictim } from './choose-victim.ts';

/** A task that may hold memory. */
export interface MemoryUser {
  readonly queryId: string;
  readonly killRank: KillRank | null;
  cancel(error: SkeinError): void;
}

/** The query that a thread works for. */
export type MemoryWork = {
  /** The task of now; null = none. */
  readonly user: MemoryUser | null;
  /** Pages of memory that the thread was the first to touch since the last look; 0 where the system does not tell. */
  readonly pages: number;
  /** Those of them that it touched for this task: none when it worked for another one at the last look, which may have taken them all. */
  readonly ownPages: number;
  /** It has helper threads, whose pages are not counted. */
  readonly isWide: boolean;
};

/** The measurements that the watch reads, and the actions that it can take. */
export interface MemoryParts {
  /** Memory of the process that is in use, in bytes. */
  readonly residentBytes: () => number;
  /**
   * Tasks that may hold memory. One that waits for a slot is blamed only for growth that it caused on an earlier one. A cancelled one is
   * among them until its thread has left it: without it, all that it still takes would be blamed on the others.
   */
  readonly users: () => Iterable<MemoryUser>;
  /** Every thread at this moment; called at each look. */
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
/** To cancel a query for which the process has grown by less than this share of the limit would relieve nothing. */
const WORTH_SHARE = 0.01;
/** Time that a cancelled query, and one that has ended, has to give its memory back before the next one is cancelled. */
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
  /** Queries as of the last look, if the limit was near then, and those that have ended within `RELIEF_MS`. */
  #last: readonly QueryUse[] = [];
  #ended: readonly { readonly grownBytes: number; readonly endedAtMs: number }[] = [];
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
    const isNear = bytes > this.#limitBytes * PRESSURE_SHARE;
    this.#noteEnds(nowMs, isNear ? this.#queries() : []);
    this.#parts.setPressure(isNear);
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
   * Divides the growth of the process between the tasks at work, by the pages that their threads touched for them. Where helper threads are
   * at work, whose pages are not counted, each task gets its own thread's pages, and the tasks with helper threads divide the rest.
   */
  #blame(grownBytes: number, threads: readonly MemoryWork[]): void {
    if (grownBytes <= 0) return;
    const touchedBytes = PAGE_BYTES * threads.reduce((sum, { pages }) => sum + pages, 0);
    const working = threads.filter(({ user }) => user !== null);
    const wide = working.filter(({ isWide }) => isWide);
    const isCounted = wide.length === 0 && touchedBytes > 0;
    // One touch may take more than a page: the system gives huge pages, too.
    const share = isCounted || touchedBytes > grownBytes ? grownBytes / touchedBytes : 1;
    const others = wide.length > 0 ? wide : working;
    const restBytes = isCounted ? 0 : Math.max(0, grownBytes - touchedBytes) / others.length;
    for (const one of working) {
      if (one.user === null) continue;
      const ownBytes = one.ownPages * PAGE_BYTES * share + (others.includes(one) ? restBytes : 0);
      this.#grownBytes.set(one.user, (this.#grownBytes.get(one.user) ?? 0) + ownBytes);
    }
  }

  /** Remembers for a while which queries have ended: the process may still have their memory, for which no other is to blame. */
  #noteEnds(nowMs: number, queries: readonly QueryUse[]): void {
    const ids = new Set(queries.map(({ queryId }) => queryId));
    const ended = this.#last.filter(({ queryId, grownBytes }) => grownBytes > 0 && !ids.has(queryId));
    this.#ended = [
      ...this.#ended.filter(({ endedAtMs }) => nowMs - endedAtMs < RELIEF_MS),
      ...ended.map(({ grownBytes }) => ({ grownBytes, endedAtMs: nowMs })),
    ];
    this.#last = queries;
  }

  /** Cancels a query with all its tasks. One that was cancelled before may still be in a quantum, with all its memory. */
  #cancelOne(bytes: number): void {
    const endedBytes = Math.max(0, ...this.#ended.map(({ grownBytes }) => grownBytes));
    const victim = chooseVictim(this.#last, { endedBytes, bytesMin: this.#limitBytes * WORTH_SHARE });
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
