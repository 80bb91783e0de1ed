import type { RunningTask } from './running-task.ts';

type Taker = Pick<RunningTask, 'worker' | 'threads' | 'waits'>;

/** Counts the cores that the tasks of a query take of each worker: those that wait for what they read, apart from the others. */
export class TakenCores {
  readonly #working = new Map<string, number>();
  readonly #waiting = new Map<string, number>();

  /** Cores of a worker that waiting tasks will take, or that the others take. */
  of(worker: string, waits: boolean): number {
    return (waits ? this.#waiting : this.#working).get(worker) ?? 0;
  }

  /** Counts a task that has begun. */
  add(task: Taker): void {
    this.#change(task, task.threads);
  }

  /** Counts a task no more; it waits, or not, as when it was counted. */
  remove(task: Taker): void {
    this.#change(task, -task.threads);
  }

  /** The inputs of a waiting task have come: from now on it takes its cores. */
  waitsNoMore(task: RunningTask): void {
    if (!task.waits) return;
    this.remove(task);
    task.waits = false;
    this.add(task);
  }

  #change({ worker, waits }: Taker, by: number): void {
    const cores = waits ? this.#waiting : this.#working;
    cores.set(worker.info.id, (cores.get(worker.info.id) ?? 0) + by);
    if (!waits) worker.link.load += by;
  }
}
