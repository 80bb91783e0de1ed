import type { Chore } from '../purge/sweeper.ts';
import { claimExpiring, setExpiry, type ExpiringTable } from '../store/postgres/expiry-store.ts';
import { transact } from '../store/postgres/transact.ts';
import { expireTable, type ExpiryParts } from './expire-table.ts';

/** Time after which a table that failed is looked at again. */
const AGAIN_MS = 3_600_000;

/**
 * Expires snapshots and references by itself where tables ask for it, one table in each step. Which table is next, and that one process
 * does it, is in Postgres (`expires_at`); the table of a process that died is taken again after `catalog.background_hold`.
 */
export function expireTables(parts: ExpiryParts): Chore {
  const { store, clock, config } = parts;
  return {
    failure: 'tables whose snapshots expire could not be looked for',
    step: async (signal) => {
      const nowMs = clock.nowMs();
      const until = new Date(nowMs + config['catalog.background_hold']);
      const table = await transact(store.db, (tx) => claimExpiring(tx, new Date(nowMs), until));
      if (table === undefined) return false;
      await expire(parts, table, signal);
      return true;
    },
  };
}

async function expire(parts: ExpiryParts, table: ExpiringTable, signal: AbortSignal): Promise<void> {
  const { log, store, clock } = parts;
  try {
    const snapshots = await expireTable(parts, table, signal);
    if (snapshots > 0) log.info({ table: table.id, snapshots }, 'snapshots have expired');
  } catch (error) {
    if (signal.aborted) return;
    log.warn({ err: error, table: table.id }, 'the snapshots of a table could not expire');
    await setExpiry(store.db, table, new Date(clock.nowMs() + AGAIN_MS)).catch(() => undefined);
  }
}
