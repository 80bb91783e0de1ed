import type { Logger } from '#shared/log/logger.ts';
import type { HistoryRow } from './history-record.ts';

/** Where rows go: inserted, or updated when the record is there. */
export type StoreRows = (rows: readonly HistoryRow[]) => Promise<void>;

type Options = {
  readonly store: StoreRows;
  /** Statements that wait to be written; over it the oldest are lost, and the log says how many. */
  readonly bufferMax: number;
  readonly log: Logger;
};

const FLUSH_INTERVAL_MS = 100;
const BATCH_ROWS_MAX = 200;
const RETRY_MS = 1_000;
/** Time that `close` gives the last rows. */
const CLOSE_TIMEOUT_MS = 3_000;

/**
 * Writes history behind the statements: a batch every 100 ms. A statement's rows replace each other while they wait, so a short one
 * is written once. While Postgres is away they are kept and tried again.
 */
export class HistoryWriter {
  readonly #options: Options;
  readonly #waiting = new Map<string, HistoryRow>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> | undefined;
  #lost = 0;
  #failing = false;

  constructor(options: Options) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  record(row: HistoryRow): void {
    this.#waiting.set(row.record_id, row);
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= this.#options.bufferMax) break;
      this.#waiting.delete(oldest);
      this.#lost += 1;
    }
    if (this.#waiting.size >= BATCH_ROWS_MAX && !this.#failing) void this.#flush();
    else this.#schedule(this.#failing ? RETRY_MS : FLUSH_INTERVAL_MS);
  }

  /** Writes what waits; gives up after 3 s. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    const deadline = Date.now() + CLOSE_TIMEOUT_MS;
    while (this.#waiting.size > 0 && Date.now() < deadline) {
      const timeout = new Promise((resolve) => {
        setTimeout(resolve, deadline - Date.now()).unref();
      });
      await Promise.race([this.#flush(), timeout]);
      if (this.#failing) break;
    }
    clearTimeout(this.#timer);
    if (this.#waiting.size > 0) this.#options.log.error({ rows: this.#waiting.size }, 'history rows were not written');
  }

  #schedule(delayMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#flush();
    }, delayMs);
  }

  #flush(): Promise<void> {
    this.#flushing ??= this.#writeBatch().finally(() => {
      this.#flushing = undefined;
      if (this.#waiting.size > 0) this.#schedule(this.#failing ? RETRY_MS : FLUSH_INTERVAL_MS);
    });
    return this.#flushing;
  }

  async #writeBatch(): Promise<void> {
    const rows = [...this.#waiting.values()].slice(0, BATCH_ROWS_MAX);
    try {
      await this.#options.store(rows);
      for (const row of rows) if (this.#waiting.get(row.record_id) === row) this.#waiting.delete(row.record_id);
      if (this.#lost > 0) this.#options.log.error({ rows: this.#lost }, 'history rows were lost: the buffer was full');
      this.#lost = 0;
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#options.log.warn({ err: error }, 'history cannot be written; it is tried again');
      this.#failing = true;
    }
  }
}
