import { setTimeout as sleep } from 'node:timers/promises';
import { koffi } from '#shared/native/koffi.ts';
import type { HungTask } from '#proto/generated/skein/worker/v1/HungTask.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { HungQuantum } from './slot/slot-pool-options.ts';
import { restorePriorities } from './slot/thread-priority.ts';

/** Time in which the last beat leaves the process. */
const TELL_MS = 150;

/**
 * Ends this process deliberately: a quantum goes on although it was interrupted, and only the end of the process stops it. Coordinators
 * are told first, so that they blame the one query and retry all other tasks elsewhere without counting the attempt.
 */
export class OrderedEnd {
  readonly #log: Logger;
  readonly #began = new AbortController();
  readonly #told = Promise.withResolvers<void>();
  #hung: HungTask | null = null;

  constructor(log: Logger) {
    this.#log = log;
  }

  /**
   * Aborts when the ordered end begins. A task that arrives after that is still accepted, and runs again elsewhere: if it were refused, it
   * would fail in a cluster with only this worker.
   */
  get began(): AbortSignal {
    return this.#began.signal;
  }

  /** Resolves when the coordinators have had `TELL_MS` to receive the last beat. */
  get told(): Promise<void> {
    return this.#told.promise;
  }

  /** The task whose quantum does not end; null before the ordered end has begun. */
  get hung(): HungTask | null {
    return this.#hung;
  }

  begin({ spec, ageMs }: HungQuantum): void {
    if (this.#hung !== null) return;
    this.#hung = { query_id: spec.queryId, task_id: spec.taskId, quantum_ms: String(Math.round(ageMs)) };
    this.#log.error({ query: spec.queryId, task: spec.taskId, ageMs }, 'a quantum does not end: the process does');
    this.#began.abort();
    void sleep(TELL_MS).then(() => this.#told.resolve());
  }
}

/** Ends the process at once. `process.exit` would wait for every thread, including one that never returns from DuckDB. */
export function exitAtOnce(code: number): never {
  restorePriorities();
  const libc = koffi.load(process.platform === 'win32' ? 'ucrtbase.dll' : null);
  return (libc.func('void _exit(int code)') as unknown as (code: number) => never)(code);
}
