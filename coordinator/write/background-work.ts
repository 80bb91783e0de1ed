import { retried } from '#shared/retry.ts';
import type { Logger } from '#shared/log/logger.ts';

/** Pause before what could not be done is tried again. */
const RETRY_PAUSE_MS = 1_000;

/** Work of a journal that goes on behind the statements, until the coordinator stops. */
export class BackgroundWork {
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

  /** Does what fails while Postgres, or the catalog, is away, until it is done. @throws when the coordinator stops before */
  async untilDone<T>(work: () => Promise<T>): Promise<T> {
    const again = (error: unknown): boolean => {
      this.#log.debug({ err: error }, 'work behind the statements is tried again');
      return true;
    };
    return await retried(work, { again, pauseMs: RETRY_PAUSE_MS, signal: this.signal });
  }

  /** Stops, and waits for what goes on; what is still open is done by the next coordinator. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#pending);
  }
}
