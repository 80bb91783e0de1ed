import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { Piscina } from 'piscina';
import type { Asker } from '#shared/fair/asker.ts';
import type { Logger } from '#shared/log/logger.ts';
import { Attempt } from './attempt.ts';
import type { ReadsMessage } from '../disk-cache/copied-files.ts';
import { LevelStats, type Levels } from '../turns/level-stats.ts';
import { QuantumStamp } from '../turns/quantum-stamp.ts';
import { BETWEEN, observe, type Watched } from './quantum-watch.ts';
import { SlotChannel } from '../turns/slot-channel.ts';
import type { SlotJob, FromSlot, SlotSettings, SlotStart } from '../turns/slot-messages.ts';
import { coreTimes, lowerPriority, pagesTouched, restorePriority } from '../turns/thread-priority.ts';

/** The memory that a slot's thread was the first to touch. */
type SlotPages = {
  /** The attempt that it works for now. */
  readonly attempt: Attempt | undefined;
  /** Since the last look. */
  readonly pages: number;
  /** It worked for another attempt at the last look, which may have touched them. */
  readonly isShared: boolean;
};

/**
 * The life of a slot's thread.
 * ```
 *   reserve ──> open ──a quantum is long──> slow ──it ends──> open, or retired ──no task left──> closed
 *                                             ^────a quantum is long────┘
 *   reserve ──nobody needs it for a while──> closed
 *   express ──a quantum is long──> slow
 * ```
 * A `reserve` thread waits until it is needed. A retired thread keeps its tasks and gets no new ones: its priority is low, and few
 * processes have the privilege to raise it again. An `express` thread stands beside the open ones (`express-lane.ts`).
 */
export type SlotLife = 'reserve' | 'open' | 'slow' | 'retired' | 'express';

/**
 * Minimum share of elapsed time that counts toward a quantum. Time that a thread waits for a core does not count: on an overloaded
 * machine a piece of a tenth of a second takes seconds through no fault of the statement.
 */
const SHARE_MIN = 1 / 3;

/** Time to wait for a thread to end; one inside DuckDB ends only when DuckDB returns. */
const CLOSE_WAIT_MS = 500;

/** One thread of a worker, with the tasks that it runs by turns. */
export class Slot {
  life: SlotLife;
  /** Attempts that the thread has not finished, including withdrawn ones, by job number. */
  readonly attempts = new Map<number, Attempt>();
  watched: Watched = BETWEEN;
  /** Milliseconds that the present quantum has continued after its statement was stopped. */
  stoppedMs = 0;
  #waitedMs = 0;
  readonly #stamp = new QuantumStamp();
  readonly #channel = new SlotChannel();
  readonly #levels = new LevelStats();
  /** As of the last `takePages`. */
  #pages = 0;
  #pagesFor: Attempt | undefined;
  readonly #onLeft: (attempt: Attempt) => void;
  readonly #pool: Piscina<SlotJob | undefined, void>;
  /** Resolves when the thread has loaded its program, or died. */
  readonly #loaded: Promise<void>;
  #isLoaded = false;

  constructor(
    life: SlotLife,
    options: {
      readonly settings: Omit<SlotSettings, 'stamp' | 'levels' | 'isExpress'>;
      readonly log: Logger;
      readonly onReads: (message: ReadsMessage) => void;
      /** Called when the thread has finished with an attempt. */
      readonly onLeft: (attempt: Attempt) => void;
    },
  ) {
    this.life = life;
    this.#onLeft = options.onLeft;
    const settings: SlotSettings = {
      ...options.settings,
      stamp: this.#stamp.buffer,
      levels: this.#levels.buffer,
      isExpress: life === 'express',
    };
    this.#pool = new Piscina({
      filename: fileURLToPath(new URL('../run/slot-entry.ts', import.meta.url)),
      name: 'runTask',
      workerData: settings,
      minThreads: 1,
      maxThreads: 1,
      // `SlotPool` limits the tasks of a slot. Piscina would not keep the order of those that wait.
      concurrentTasksPerWorker: Number.MAX_SAFE_INTEGER,
      // While a slot waits for a task, its event loop must still serve timers and messages.
      atomics: 'disabled',
      recordTiming: false,
    });
    this.#pool.on('message', options.onReads);
    // A thread that dies fails each of its tasks; the pool starts another thread.
    this.#pool.on('error', (error: unknown) => {
      this.#channel.lost();
      options.log.error({ err: error }, 'a slot thread died');
    });
    this.#loaded = this.#load();
  }

  async #load(): Promise<void> {
    await this.#pool.run(undefined, { name: 'load' }).catch(() => undefined);
    this.#isLoaded = true;
  }

  /** Whether the thread has loaded its program: before that its tasks wait. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Starts a task on the thread; `job` is a number unique to the attempt. */
  begin(job: number, start: SlotStart, onOutput: (output: FromSlot) => void): Attempt {
    const cpuMs = (): number => coreTimes(this.#stamp.thread).ranMs;
    const run = (one: SlotJob): Promise<void> =>
      this.#pool.run(one, one.port === null ? {} : { transferList: [one.port] });
    const attempt = new Attempt(job, start, { run, cpuMs, channel: this.#channel }, onOutput);
    this.#stamp.sent();
    this.attempts.set(job, attempt);
    void this.#forget(job, attempt);
    return attempt;
  }

  async #forget(job: number, attempt: Attempt): Promise<void> {
    await attempt.left;
    this.attempts.delete(job);
    this.#onLeft(attempt);
  }

  /** Polls the stamp, `wallMs` after the last time. */
  look(wallMs: number): Watched {
    const stamp = this.#stamp.read();
    const isInside = (stamp.sequence & 1) === 1;
    const waitedMs = isInside ? coreTimes(this.#stamp.thread).waitedMs : this.#waitedMs;
    const elapsedMs = Math.max(wallMs - (waitedMs - this.#waitedMs), wallMs * SHARE_MIN);
    this.#waitedMs = waitedMs;
    this.watched = observe(this.watched, stamp, elapsedMs);
    const isStopped = this.current?.isStopped === true;
    this.stoppedMs =
      isStopped && this.watched.kind === 'inside' && this.watched.ageMs > 0 ? this.stoppedMs + elapsedMs : 0;
    return this.watched;
  }

  /** The thread's tasks and time by level. */
  get levels(): Levels {
    return this.#levels.read();
  }

  /** Whether one of its tasks has work to do. */
  get isBusy(): boolean {
    return this.attempts.values().some(({ isRunnable }) => isRunnable);
  }

  /** On whose behalf it has tasks, one for each of them. */
  askers(): Iterable<Asker> {
    return this.attempts.values().map(({ start }) => start.spec);
  }

  /** The attempt for which the thread was inside DuckDB at the last poll. */
  get current(): Attempt | undefined {
    return this.watched.kind === 'inside' ? this.attempts.get(this.watched.job) : undefined;
  }

  /** The attempt for which the thread is inside DuckDB at this moment, and the pages that it was the first to touch since the last call. */
  takePages(): SlotPages {
    const last = { pages: this.#pages, attempt: this.#pagesFor };
    const { sequence, job } = this.#stamp.read();
    const attempt = (sequence & 1) === 0 ? undefined : this.attempts.get(job);
    this.#pages = pagesTouched(this.#stamp.thread);
    this.#pagesFor = attempt;
    return {
      attempt,
      pages: Math.max(0, this.#pages - last.pages),
      isShared: last.attempt !== undefined && last.attempt !== attempt,
    };
  }

  /** Lowers the thread's priority. Returns whether the system allows it. */
  stepAside(): boolean {
    return lowerPriority(this.#stamp.thread);
  }

  /** Restores the thread's normal priority. Returns whether the system allows it. */
  stepForward(): boolean {
    return restorePriority(this.#stamp.thread);
  }

  /**
   * Ends the thread, which has no task left, after it has closed its DuckDB instances: their memory belongs to the process and would
   * outlive the thread.
   */
  async retire(): Promise<void> {
    try {
      await this.#pool.run(undefined, { name: 'closeInstances' });
    } finally {
      await this.#pool.destroy();
    }
  }

  /**
   * Ends the thread in the same way, but waits at most `CLOSE_WAIT_MS`: it may be inside DuckDB. One that loads is waited for: native code that
   * meets the end of its thread while it binds functions ends the process.
   */
  async close(): Promise<void> {
    await this.#loaded;
    await Promise.race([this.retire(), sleep(CLOSE_WAIT_MS, undefined, { ref: false })]);
    void this.#pool.destroy();
  }
}
