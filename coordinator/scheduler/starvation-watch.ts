import type { WorkerPool } from '../cluster/worker-pool.ts';

type Options = {
  readonly pool: WorkerPool;
  /** `coordinator.worker_wait` */
  readonly waitMs: number;
  /** Called when the wait is over. */
  readonly onStarved: (error: Error) => void;
};

/** Ends a query whose tasks wait, when for `waitMs` none of them has run and no worker is expected back. */
export class StarvationWatch {
  readonly #options: Options;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Called after every change. `isStarving`: tasks wait, and none runs. */
  look(isStarving: boolean): void {
    if (!isStarving) {
      this.stop();
      return;
    }
    const { pool, waitMs, onStarved } = this.#options;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      if (pool.isExpecting) this.look(true);
      else onStarved(pool.noWorkers());
    }, waitMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
