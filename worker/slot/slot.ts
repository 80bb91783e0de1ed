import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { Piscina } from 'piscina';
import type { Logger } from '#shared/log/logger.ts';
import { Attempt } from './attempt.ts';
import { QuantumStamp } from './quantum-stamp.ts';
import { BETWEEN, observe, type Watched } from './quantum-watch.ts';
import type { SlotJob, SlotOutput, SlotSettings, SlotStart } from './slot-messages.ts';
import { lowerPriority, pagesTouched, restorePriority, waitedForCoreMs } from './thread-priority.ts';

/**
 * The life of a slot's thread.
 * ```
 *   reserve ──> open ──a quantum is long──> slow ──it ends──> open, or retired ──no task left──> closed
 *                                             ^────a quantum is long────┘
 * ```
 * `reserve` waits until it is needed. A retired thread keeps the tasks that it has, and gets no new one: its priority is low, and
 * raising it again is a right that few processes have.
 */
export type SlotLife = 'reserve' | 'open' | 'slow' | 'retired';

/**
 * The part of the time that counts at least. What a thread waits for a core is no time of its quantum: on a machine that is overloaded a
 * piece of a tenth of a second takes seconds, and is no fault of the statement's.
 */
const SHARE_MIN = 1 / 3;

/** How long the end of a thread is waited for: one that is inside of DuckDB ends when that comes back. */
const CLOSE_WAIT_MS = 500;

/** One thread of a worker, with the tasks that it runs by turns. */
export class Slot {
  life: SlotLife;
  /** Those that its thread has not left, withdrawn ones included, by their number. */
  readonly attempts = new Map<number, Attempt>();
  watched: Watched = BETWEEN;
  /** For how long the present quantum has gone on although its statement was stopped. */
  stoppedMs = 0;
  #waitedMs = 0;
  readonly #stamp = new QuantumStamp();
  #pages = 0;
  readonly #pool: Piscina<SlotJob, void>;

  constructor(
    life: SlotLife,
    options: {
      readonly settings: Omit<SlotSettings, 'stamp'>;
      readonly tasksMax: number;
      readonly log: Logger;
    },
  ) {
    this.life = life;
    const settings: SlotSettings = { ...options.settings, stamp: this.#stamp.buffer };
    this.#pool = new Piscina({
      filename: fileURLToPath(new URL('slot-thread.ts', import.meta.url)),
      name: 'runTask',
      workerData: settings,
      minThreads: 1,
      maxThreads: 1,
      concurrentTasksPerWorker: options.tasksMax,
      // A slot that waits for a task must still see to its timers and messages.
      atomics: 'disabled',
      recordTiming: false,
    });
    // A thread that dies takes its tasks with it, and each of them says so; the pool starts another.
    this.#pool.on('error', (error: unknown) => options.log.error({ err: error }, 'a slot thread died'));
  }

  /** Gives the thread a task; `job` is a number that no other attempt has. */
  begin(job: number, start: SlotStart, onOutput: (output: SlotOutput) => void): Attempt {
    const run = (one: SlotJob): Promise<void> => this.#pool.run(one, { transferList: [one.port] });
    const attempt = new Attempt(job, start, run, onOutput);
    this.attempts.set(job, attempt);
    void this.#forget(job, attempt);
    return attempt;
  }

  async #forget(job: number, attempt: Attempt): Promise<void> {
    await attempt.left;
    this.attempts.delete(job);
  }

  /** Looks at the stamp, `wallMs` after the last time. */
  look(wallMs: number): Watched {
    const stamp = this.#stamp.read();
    const isInside = (stamp.sequence & 1) === 1;
    const waitedMs = isInside ? waitedForCoreMs(this.#stamp.thread) : this.#waitedMs;
    const elapsedMs = Math.max(wallMs - (waitedMs - this.#waitedMs), wallMs * SHARE_MIN);
    this.#waitedMs = waitedMs;
    this.watched = observe(this.watched, stamp, elapsedMs);
    const isStopped = this.current?.isStopped === true;
    this.stoppedMs =
      isStopped && this.watched.kind === 'inside' && this.watched.ageMs > 0 ? this.stoppedMs + elapsedMs : 0;
    return this.watched;
  }

  /** The attempt that the thread is inside of DuckDB for. */
  get current(): Attempt | undefined {
    return this.watched.kind === 'inside' ? this.attempts.get(this.watched.job) : undefined;
  }

  /** The same, at this moment and not at the last look. */
  get working(): Attempt | undefined {
    const { sequence, job } = this.#stamp.read();
    return (sequence & 1) === 0 ? undefined : this.attempts.get(job);
  }

  /** Pages that the thread was the first to touch, since the last call. */
  takePages(): number {
    const before = this.#pages;
    this.#pages = pagesTouched(this.#stamp.thread);
    return Math.max(0, this.#pages - before);
  }

  /** Lets other threads go first; whether the system allows it. */
  stepAside(): boolean {
    return lowerPriority(this.#stamp.thread);
  }

  /** The contrary; whether the system allows it. */
  stepForward(): boolean {
    return restorePriority(this.#stamp.thread);
  }

  /** Ends the thread, when it has come out of DuckDB. */
  async close(): Promise<void> {
    await Promise.race([this.#pool.destroy(), sleep(CLOSE_WAIT_MS, undefined, { ref: false })]);
  }
}
