import type { Logger } from '#shared/log/logger.ts';

/** Work of a journal that goes on behind the statements, until the coordinator stops. */
export class WorkBehind {
  readonly #stop = new AbortController();
  readonly #pending = new Set<Promise<unknown>>();
  readonly #log: Logger;
  readonly #left: string;

  /** @param left what the log says of work that fails: the next coordinator does it */
  constructor(log: Logger, left: string) {
    this.#log = log;
    this.#left = left;
  }

  /** Aborts when the coordinator stops. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  add(work: Promise<unknown>): void {
    const ended = work.then(
      () => undefined,
      (error: unknown) => {
        if (!this.signal.aborted) this.#log.warn({ err: error }, this.#left);
      },
    );
    this.#pending.add(ended);
    void ended.finally(() => this.#pending.delete(ended));
  }

  /** Stops, and waits for what goes on; what is still open is done by the next coordinator. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#pending);
  }
}
