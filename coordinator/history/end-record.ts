import type { Kysely } from 'kysely';
import type { SkeinError } from '#shared/error.ts';
import type { HistoryDatabase } from './history-database.ts';

/** Ends the history record of a statement whose coordinator died; without a failure it was completed. */
export async function endRecord(
  db: Kysely<HistoryDatabase>,
  recordId: string,
  failure: SkeinError | null,
): Promise<void> {
  await db
    .updateTable('query_history')
    .set({
      status: failure === null ? 'completed' : 'failed',
      ended_at: new Date(),
      error_code: failure?.code ?? null,
      error_message: failure?.message ?? null,
    })
    .where('record_id', '=', recordId)
    .where('status', 'in', ['queued', 'running'])
    .execute();
}
