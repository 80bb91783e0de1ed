import type { TaskId } from '#shared/id.ts';

/** A reader may come before its task: so long it waits. */
const WAIT_MS = 10_000;
/** Ids that are remembered: a start that comes late, after its cancel, must not run. */
const REMEMBERED_MAX = 10_000;

/** Readers that came before their task. */
export class ExpectedTasks {
  readonly #readers = new Map<TaskId, Set<() => void>>();

  /** Resolves when the task has come, or it is too late for it. */
  wait(taskId: TaskId): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#readers.get(taskId) ?? new Set();
      const done = (): void => {
        clearTimeout(timer);
        waiting.delete(done);
        if (waiting.size === 0) this.#readers.delete(taskId);
        resolve();
      };
      const timer = setTimeout(done, WAIT_MS);
      waiting.add(done);
      this.#readers.set(taskId, waiting);
    });
  }

  arrived(taskId: TaskId): void {
    for (const done of this.#readers.get(taskId) ?? []) done();
  }

  /** Nothing will come any more. */
  close(): void {
    for (const readers of this.#readers.values()) for (const done of readers) done();
  }
}

/** The ids that were added last. */
export class RecentIds<Id extends string> {
  readonly #ids = new Set<Id>();

  has(id: Id): boolean {
    return this.#ids.has(id);
  }

  add(id: Id): void {
    this.#ids.delete(id);
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > REMEMBERED_MAX && oldest !== undefined) this.#ids.delete(oldest);
  }
}
