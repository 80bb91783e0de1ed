import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { CatalogContext } from '../context.ts';
import {
  claimDue,
  forgetDropped,
  giveBack,
  holdDue,
  park,
  putOff,
  type DueTable,
} from '../store/postgres/dropped-table-store.ts';
import { deleteExpiredKeys } from '../store/postgres/idempotency-store.ts';
import { purgeTable } from './purge-table.ts';
import type { Pause } from './reached-files.ts';
import { transact } from '../store/postgres/transact.ts';

/** Times per hold period that a worker extends its hold on a dropped table. */
const SIGNS_OF_LIFE = 3;
/** Failures after which a purge is parked: it is not retried until an operator asks for it. */
const FAILURES_MAX = 3;
/** Factor by which the wait before a retry grows with each failure. */
const RETRY_FACTOR = 10;
const INTERVAL_MIN_MS = 50;
const ERROR_LENGTH_MAX = 500;

type Parts = Pick<CatalogContext, 'store' | 'storages' | 'readers' | 'log' | 'clock' | 'config' | 'metrics'>;

/**
 * The background work of one catalog process: it purges due dropped tables, one after the other, and deletes expired idempotency keys. The
 * queue is in Postgres and any number of processes share it; another process takes over the work of one that died. A purge that fails
 * `FAILURES_MAX` times, or during which that many processes died, is parked.
 */
export class PurgeWorker {
  readonly #parts: Parts;
  readonly #closed = new AbortController();
  #loop: Promise<void> | undefined;
  #woken = new AbortController();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Checks for due work now. */
  wake(): void {
    this.#woken.abort();
  }

  /** Stops the worker. A running purge is interrupted, and continues at the next start. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.wake();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { config, log } = this.#parts;
    while (!this.#closed.signal.aborted) {
      this.#woken = new AbortController();
      try {
        while (await this.#takeOne());
        await transact(this.#parts.store.db, (tx) => deleteExpiredKeys(tx, this.#now()));
      } catch (error) {
        if (!this.#closed.signal.aborted) log.warn({ err: error }, 'the background work could not be looked at');
      }
      await sleep(Math.max(INTERVAL_MIN_MS, config['catalog.background_interval']), undefined, {
        signal: this.#woken.signal,
        ref: false,
      }).catch(() => undefined);
    }
  }

  /** Processes one due table. True when there was one, so there may be more. */
  async #takeOne(): Promise<boolean> {
    if (this.#closed.signal.aborted) return false;
    const { db } = this.#parts.store;
    const table = await transact(db, (tx) => claimDue(tx, this.#now(), this.#now(this.#holdMs)));
    if (table === undefined) return false;
    if (table.failures > FAILURES_MAX) {
      await this.#park(table, table.lastError ?? 'the catalog ended while it ran, each time');
      return true;
    }
    try {
      if (table.purge) await purgeTable(this.#parts, table, this.#pause(table));
      await transact(db, (tx) => forgetDropped(tx, table.id));
    } catch (error) {
      await this.#failed(table, error);
    }
    return true;
  }

  #pause(table: DueTable): Pause {
    const { store, clock } = this.#parts;
    let heldAt = clock.monotonicMs();
    return async () => {
      await setImmediate();
      this.#closed.signal.throwIfAborted();
      if (clock.monotonicMs() - heldAt < this.#holdMs / SIGNS_OF_LIFE) return;
      heldAt = clock.monotonicMs();
      await transact(store.db, (tx) => holdDue(tx, table.id, this.#now(this.#holdMs)));
    };
  }

  async #failed(table: DueTable, error: unknown): Promise<void> {
    const { store, log, metrics, config } = this.#parts;
    if (this.#closed.signal.aborted) return transact(store.db, (tx) => giveBack(tx, table.id, this.#now()));
    const message = (error instanceof Error ? error.message : String(error)).slice(0, ERROR_LENGTH_MAX);
    metrics.purgeFailures.inc();
    if (table.failures >= FAILURES_MAX) return this.#park(table, message, error);
    log.warn({ err: error, table: table.id, failures: table.failures }, 'a purge failed');
    const waitMs = config['catalog.job_retry_wait'] * RETRY_FACTOR ** (table.failures - 1);
    return transact(store.db, (tx) => putOff(tx, table.id, this.#now(waitMs), message));
  }

  #park(table: DueTable, message: string, error?: unknown): Promise<void> {
    const { store, log } = this.#parts;
    log.error({ err: error, table: table.id, reason: message }, 'a purge failed too often and is parked');
    return transact(store.db, (tx) => park(tx, table.id, this.#now(), message));
  }

  get #holdMs(): number {
    return this.#parts.config['catalog.background_hold'];
  }

  #now(plusMs = 0): Date {
    return new Date(this.#parts.clock.nowMs() + plusMs);
  }
}
