import { setTimeout as sleep } from 'node:timers/promises';
import { claimExpiring, setExpiry, type ExpiringTable } from '../store/postgres/expiry-store.ts';
import { transact } from '../store/postgres/transact.ts';
import { expireTable, type ExpiryParts } from './expire-table.ts';

const INTERVAL_MIN_MS = 50;
/** Time after which a table that failed is looked at again. */
const AGAIN_MS = 3_600_000;

/**
 * Expires snapshots and references by itself where tables ask for it, one table after the other. Which table is next, and that one process
 * does it, is in Postgres (`expires_at`); the table of a process that died is taken again after `catalog.background_hold`.
 */
export class ExpiryWorker {
  readonly #parts: ExpiryParts;
  readonly #closed = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(parts: ExpiryParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Stops; a table that is under way is looked at again later. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#loop;
  }

  async #run(): Promise<void> {
    const { config, log } = this.#parts;
    const { signal } = this.#closed;
    const pauseMs = Math.max(INTERVAL_MIN_MS, config['catalog.background_interval']);
    while (!signal.aborted) {
      try {
        while (await this.#takeOne());
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, 'tables whose snapshots expire could not be looked for');
      }
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  /** True when there was a table, so there may be more. */
  async #takeOne(): Promise<boolean> {
    const { signal } = this.#closed;
    if (signal.aborted) return false;
    const { store, clock, config } = this.#parts;
    const nowMs = clock.nowMs();
    const until = new Date(nowMs + config['catalog.background_hold']);
    const table = await transact(store.db, (tx) => claimExpiring(tx, new Date(nowMs), until));
    if (table === undefined) return false;
    await this.#expire(table);
    return true;
  }

  async #expire(table: ExpiringTable): Promise<void> {
    const { log, store, clock } = this.#parts;
    const { signal } = this.#closed;
    try {
      const snapshots = await expireTable(this.#parts, table, signal);
      if (snapshots > 0) log.info({ table: table.id, snapshots }, 'snapshots have expired');
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ err: error, table: table.id }, 'the snapshots of a table could not expire');
      await setExpiry(store.db, table, new Date(clock.nowMs() + AGAIN_MS)).catch(() => undefined);
    }
  }
}
