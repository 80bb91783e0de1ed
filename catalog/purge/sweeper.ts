import { setTimeout as sleep } from 'node:timers/promises';
import type { CatalogContext } from '../context.ts';

const INTERVAL_MIN_MS = 50;

/** Work of the background that comes again and again. */
export type Chore = {
  /** The log's words when a step throws; the chore goes on after the next pause. */
  readonly failure: string;
  /** Does one step. @returns whether there may be more to do now */
  readonly step: (signal: AbortSignal) => Promise<boolean>;
};

/**
 * The background work of one catalog process: every chore by itself, step by step until nothing is left to do, and then again after a
 * pause. Any number of processes share the work, whose queue is in Postgres; a chore says how they keep out of each other's way.
 */
export class Sweeper {
  readonly #parts: Pick<CatalogContext, 'config' | 'log'>;
  readonly #chores: readonly Chore[];
  readonly #closed = new AbortController();
  #woken = new AbortController();
  #loops: readonly Promise<void>[] | undefined;

  constructor(parts: Pick<CatalogContext, 'config' | 'log'>, chores: readonly Chore[]) {
    this.#parts = parts;
    this.#chores = chores;
  }

  start(): void {
    this.#loops ??= this.#chores.map((chore) => this.#run(chore));
  }

  /** Says that something may be due now. */
  wake(): void {
    this.#woken.abort();
    this.#woken = new AbortController();
  }

  /** Stops. A step that runs is interrupted, and its work continues at the next start. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.wake();
    await Promise.all(this.#loops ?? []);
  }

  async #run({ step, failure }: Chore): Promise<void> {
    const { config, log } = this.#parts;
    const pauseMs = Math.max(INTERVAL_MIN_MS, config['catalog.background_interval']);
    const { signal } = this.#closed;
    while (!signal.aborted) {
      // Work that becomes due during the last step ends the pause after it.
      const woken = this.#woken.signal;
      try {
        while (!signal.aborted && (await step(signal)));
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, failure);
      }
      await sleep(pauseMs, undefined, { signal: woken, ref: false }).catch(() => undefined);
    }
  }
}
