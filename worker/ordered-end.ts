import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '#shared/clock.ts';
import { koffi } from '#shared/native/koffi.ts';
import type { HungTask } from '#proto/generated/skein/worker/v1/HungTask.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { HungQuantum } from './slot/hung-quantum.ts';
import { restorePriorities } from './turns/thread-priority.ts';

/** Time in which the last beat leaves the process. */
const TELL_MS = 150;
/** Silence of all coordinators after which nobody is asked any more. */
const UNATTENDED_MS = 10_000;

/**
 * Ends this process deliberately: a quantum goes on although it was interrupted, and only the end of the process stops it.
 * ```
 *   serving ──a quantum hangs──> asking ──a coordinator permits it, or none is there──> ending
 *      ^────the quantum ends───────┘
 * ```
 * A coordinator permits it while another worker serves, so that workers which hang together do not end together. Coordinators are told
 * before the process ends, so that they retry all other tasks elsewhere without counting the attempt.
 */
export class OrderedEnd {
  readonly #log: Logger;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #told = Promise.withResolvers<void>();
  readonly #listeners = new Set<() => void>();
  /** Time at which a coordinator was last heard of. */
  #heardMs = -Infinity;
  #asksFor: HungTask | null = null;
  #hung: HungTask | null = null;

  constructor(log: Logger, clock: Pick<Clock, 'monotonicMs'>) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Calls `listener` when the worker begins to ask, and when its ordered end begins. The returned function ends this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves when the coordinators have had `TELL_MS` to receive the last beat. */
  get told(): Promise<void> {
    return this.#told.promise;
  }

  /** The task whose quantum does not end, while the worker asks for its end; null otherwise. */
  get asksFor(): HungTask | null {
    return this.#asksFor;
  }

  /**
   * The task for which the process ends now; null before that. A task that arrives after that is still accepted, and runs again elsewhere: if
   * it were refused, it would fail in a cluster with only this worker.
   */
  get hung(): HungTask | null {
    return this.#hung;
  }

  /** Takes again and again which quantum does not end; null once none is left that hangs. */
  want(hung: HungQuantum | null): void {
    if (this.#hung !== null) return;
    if (hung === null) {
      this.#asksFor = null;
      return;
    }
    const isNew = this.#asksFor?.task_id !== hung.spec.taskId;
    const { queryId: query, taskId: task } = hung.spec;
    this.#asksFor = { query_id: query, task_id: task, quantum_ms: String(Math.round(hung.ageMs)) };
    if (this.#clock.monotonicMs() - this.#heardMs > UNATTENDED_MS) {
      this.#begin(this.#asksFor);
    } else if (isNew) {
      this.#log.warn({ query, task, ageMs: hung.ageMs }, 'a quantum does not end: the process is to end when it may');
      this.#changed();
    }
  }

  /** A coordinator has sent a beat, which permits the end or not. */
  heard(mayEnd: boolean): void {
    this.#heardMs = this.#clock.monotonicMs();
    if (mayEnd && this.#asksFor !== null) this.#begin(this.#asksFor);
  }

  #begin(hung: HungTask): void {
    if (this.#hung !== null) return;
    this.#hung = hung;
    this.#asksFor = null;
    this.#log.error({ ...hung }, 'a quantum does not end: the process does');
    this.#changed();
    void sleep(TELL_MS).then(() => this.#told.resolve());
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Ends the process at once. `process.exit` would wait for every thread, including one that never returns from DuckDB. */
export function exitAtOnce(code: number): never {
  restorePriorities();
  const libc = koffi.load(process.platform === 'win32' ? 'ucrtbase.dll' : null);
  return (libc.func('void _exit(int code)') as unknown as (code: number) => never)(code);
}
