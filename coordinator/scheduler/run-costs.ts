import type { TaskId } from '#shared/id.ts';
import type { RunningTask } from './running-task.ts';
import type { TaskOwner } from './task-spec.ts';

/** The costs of a run's tasks so far, as far as they are known, whether they run, ended well, or were given up. */
export class RunCosts {
  readonly #onWork: TaskOwner['onWork'];
  readonly #scannedBy = new Map<TaskId, number>();
  #scheduledMs = 0;
  #bytesScanned = 0;

  constructor({ onWork }: Pick<TaskOwner, 'onWork'>) {
    this.#onWork = onWork;
  }

  /** Total scheduled time, in ms. */
  get scheduledMs(): number {
    return this.#scheduledMs;
  }

  /** Bytes read from storage. */
  get bytesScanned(): number {
    return this.#bytesScanned;
  }

  /** Counts a task's rows, and its time since it was last told; one that begins again in its worker has less, and its time before counts. */
  worked(task: RunningTask, { rows, scheduledMs }: { readonly rows: number; readonly scheduledMs: number }): void {
    const moreMs = Math.max(0, scheduledMs - task.timedMs);
    task.timedMs = Math.max(task.timedMs, scheduledMs);
    this.#scheduledMs += moreMs;
    if (rows > 0 || moreMs > 0) this.#onWork({ rows, scheduledMs: moreMs });
  }

  /** An attempt of a task has read so many bytes by now; it never has read less. */
  scanned(attempt: TaskId, bytes: number): void {
    const before = this.#scannedBy.get(attempt) ?? 0;
    if (bytes <= before) return;
    this.#scannedBy.set(attempt, bytes);
    this.#bytesScanned += bytes - before;
  }
}
