import type { Logger } from '#shared/log/logger.ts';
import type { HistoryRow } from './history-record.ts';

/** Stores history rows: inserts each, or updates it when the record exists. */
export type StoreRows = (rows: readonly HistoryRow[]) => Promise<void>;

type Options = {
  readonly store: StoreRows;
  /** Statements that wait to be written; over it the oldest are lost, and the log says how many. */
  readonly bufferMax: number;
  readonly log: Logger;
};

const FLUSH_INTERVAL_MS = 100;
const BATCH_ROWS_MAX = 200;
/** Characters of the statements of one batch, beyond its first, and of all that wait: they are encoded in one go, and kept in memory. */
const BATCH_TEXT_MAX = 2 ** 20;
const WAITING_TEXT_MAX = 64 * 2 ** 20;
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
  /** Characters of the statements that wait. */
  #waitingText = 0;
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
    this.#waitingText += row.sql.length - (this.#waiting.get(row.record_id)?.sql.length ?? 0);
    this.#waiting.set(row.record_id, row);
    for (const oldest of this.#waiting.values()) {
      if (this.#waiting.size <= this.#options.bufferMax && this.#waitingText <= WAITING_TEXT_MAX) break;
      this.#forget(oldest);
      this.#lost += 1;
    }
    if (this.#waiting.size >= BATCH_ROWS_MAX && !this.#failing) void this.#flush();
    else this.#schedule(this.#failing ? RETRY_MS : FLUSH_INTERVAL_MS);
  }

  /** Writes the rows that wait; gives up after 3 s. */
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
      const isBehind = this.#waitingText > BATCH_TEXT_MAX;
      if (this.#waiting.size > 0) this.#schedule(this.#failing ? RETRY_MS : isBehind ? 0 : FLUSH_INTERVAL_MS);
    });
    return this.#flushing;
  }

  #forget(row: HistoryRow): void {
    this.#waiting.delete(row.record_id);
    this.#waitingText -= row.sql.length;
  }

  #nextBatch(): readonly HistoryRow[] {
    const rows: HistoryRow[] = [];
    let text = 0;
    for (const row of this.#waiting.values()) {
      text += row.sql.length;
      if (rows.length > 0 && (rows.length >= BATCH_ROWS_MAX || text > BATCH_TEXT_MAX)) break;
      rows.push(row);
    }
    return rows;
  }

  async #writeBatch(): Promise<void> {
    const rows = this.#nextBatch();
    try {
      await this.#options.store(rows);
      for (const row of rows) if (this.#waiting.get(row.record_id) === row) this.#forget(row);
      if (this.#lost > 0) this.#options.log.error({ rows: this.#lost }, 'history rows were lost: the buffer was full');
      this.#lost = 0;
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#options.log.warn({ err: error }, 'history cannot be written; it is tried again');
      this.#failing = true;
    }
  }
}
