import type { TaskId } from '#shared/id.ts';

/** Time that a reader waits for a task that has not arrived yet. */
const WAIT_MS = 10_000;
/** Number of ids remembered, so that a task whose start arrives after its cancel does not run. */
const REMEMBERED_MAX = 10_000;

/** Holds readers that arrived before their task. */
export class ExpectedTasks {
  readonly #readers = new Map<TaskId, Set<() => void>>();

  /** Resolves when the task arrives or the wait times out. */
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

  /** Wakes all readers: no task will arrive any more. */
  close(): void {
    for (const readers of this.#readers.values()) for (const done of readers) done();
  }
}

/** A bounded set of the most recently added ids. */
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
