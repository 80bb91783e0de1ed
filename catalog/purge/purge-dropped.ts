import { setImmediate } from 'node:timers/promises';
import type { CatalogContext } from '../context.ts';
import {
  claimDue,
  forgetDroppedTable,
  giveBack,
  holdDue,
  park,
  putOffPurge,
  type DueTable,
} from '../store/postgres/dropped-table-store.ts';
import { forgetFolders } from '../store/postgres/folder-claims.ts';
import { deleteExpiredKeys } from '../store/postgres/idempotency-store.ts';
import { transact } from '../store/postgres/transact.ts';
import { purgeTable } from './purge-table.ts';
import type { Pause } from './reached-files.ts';
import type { Chore } from './sweeper.ts';

/** Times per hold period that a process extends its hold on a dropped table. */
const SIGNS_OF_LIFE = 3;
/** Failures after which a purge is parked: it is not retried until an operator asks for it. */
const FAILURES_MAX = 3;
/** Factor by which the wait before a retry grows with each failure. */
const RETRY_FACTOR = 10;
const ERROR_LENGTH_MAX = 500;

type Parts = Pick<CatalogContext, 'store' | 'storages' | 'readers' | 'log' | 'clock' | 'config' | 'metrics'>;

/** Deletes expired idempotency keys, and forgets folders of tables that are gone whose keys have ended. */
export const forgetKeys = ({ store, clock }: Pick<Parts, 'store' | 'clock'>): Chore => ({
  failure: 'expired idempotency keys could not be deleted',
  step: async () => {
    await transact(store.db, async (tx) => {
      await deleteExpiredKeys(tx, new Date(clock.nowMs()));
      await forgetFolders(tx);
    });
    return false;
  },
});

/**
 * Purges due dropped tables, one in each step. One process holds a table while it purges it; another takes over the table of one that died.
 * A purge that fails `FAILURES_MAX` times, or during which that many processes died, is parked.
 */
export const purgeDropped = (parts: Parts): Chore => ({
  failure: 'dropped tables could not be looked for',
  step: async (signal) => {
    const { db } = parts.store;
    const table = await transact(db, (tx) => claimDue(tx, later(parts), later(parts, holdMs(parts))));
    if (table === undefined) return false;
    if (table.failures > FAILURES_MAX) {
      await parkTable(parts, table, table.lastError ?? 'the catalog ended while it ran, each time');
      return true;
    }
    try {
      if (table.purge) await purgeTable(parts, table, pauseOf(parts, table, signal));
      await transact(db, (tx) => forgetDroppedTable(tx, table.id));
    } catch (error) {
      await failed(parts, table, { error, signal });
    }
    return true;
  },
});

/** Called between portions of a purge: extends the hold, and stops when the process ends. */
function pauseOf(parts: Parts, table: DueTable, signal: AbortSignal): Pause {
  const { store, clock } = parts;
  let heldAt = clock.monotonicMs();
  return async () => {
    await setImmediate();
    signal.throwIfAborted();
    if (clock.monotonicMs() - heldAt < holdMs(parts) / SIGNS_OF_LIFE) return;
    heldAt = clock.monotonicMs();
    await transact(store.db, (tx) => holdDue(tx, table.id, later(parts, holdMs(parts))));
  };
}

type Failure = { readonly error: unknown; readonly signal: AbortSignal };

async function failed(parts: Parts, table: DueTable, { error, signal }: Failure): Promise<void> {
  const { store, log, metrics, config } = parts;
  if (signal.aborted) return transact(store.db, (tx) => giveBack(tx, table.id, later(parts)));
  const message = (error instanceof Error ? error.message : String(error)).slice(0, ERROR_LENGTH_MAX);
  metrics.purgeFailures.inc();
  if (table.failures >= FAILURES_MAX) return parkTable(parts, table, message, error);
  log.warn({ err: error, table: table.id, failures: table.failures }, 'a purge failed');
  const waitMs = config['catalog.job_retry_wait'] * RETRY_FACTOR ** (table.failures - 1);
  return transact(store.db, (tx) => putOffPurge(tx, table.id, later(parts, waitMs), message));
}

function parkTable(parts: Parts, table: DueTable, message: string, error?: unknown): Promise<void> {
  const { store, log } = parts;
  log.error({ err: error, table: table.id, reason: message }, 'a purge failed too often and is parked');
  return transact(store.db, (tx) => park(tx, table.id, later(parts), message));
}

const holdMs = ({ config }: Parts): number => config['catalog.background_hold'];

const later = ({ clock }: Parts, ms = 0): Date => new Date(clock.nowMs() + ms);
