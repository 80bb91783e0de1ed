import type { Kysely } from 'kysely';
import type { HistoryDatabase } from './history-database.ts';
import type { StoreRows } from './history-writer.ts';

/** Into `coordinator.query_history`, in one SQL statement. */
export const storeRows =
  (db: Kysely<HistoryDatabase>): StoreRows =>
  async (rows) => {
    if (rows.length === 0) return;
    await db
      .insertInto('query_history')
      .values([...rows])
      .onConflict((conflict) =>
        conflict.column('record_id').doUpdateSet((eb) => ({
          status: eb.ref('excluded.status'),
          query_type: eb.ref('excluded.query_type'),
          resource_group: eb.ref('excluded.resource_group'),
          priority: eb.ref('excluded.priority'),
          sql: eb.ref('excluded.sql'),
          started_at: eb.ref('excluded.started_at'),
          ended_at: eb.ref('excluded.ended_at'),
          duration_ms: eb.ref('excluded.duration_ms'),
          rows_produced: eb.ref('excluded.rows_produced'),
          bytes_scanned: eb.ref('excluded.bytes_scanned'),
          fragments: eb.ref('excluded.fragments'),
          error_code: eb.ref('excluded.error_code'),
          error_message: eb.ref('excluded.error_message'),
          cu_consumed: eb.ref('excluded.cu_consumed'),
        })),
      )
      .execute();
  };
